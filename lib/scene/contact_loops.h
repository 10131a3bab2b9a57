#pragma once

#include "scene/implicit_settings.h"
#include "scene/loop_contacts.h"
#include "scene/relinearisation.h"
#include "scene/step_surfaces.h"
#include "scene/sub_step.h"

/// What the two loops of implicit steps (scene/implicit_stepper.h) do between one linearised solve and the
/// next: they change the contacts where the tentative positions ask for it. Settings are resolved ones.
namespace signorini {

/// The contacts of the first solve: what touches at the start, with impulses of the step before.
void start_contacts(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                    LoopContacts& contacts);

/// Adds the crossings found that are not known yet, with their impulses of the step before where it had them:
/// those of the motion without contact, for ContactStart::free.
void add_free_crossings(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                        LoopContacts& contacts);

/// Adds what crosses (Otaduy et al. 2009, section 4); known pairs are linearised anew at their impact.
/// Returns whether anything crosses.
bool refine(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
            LoopContacts& contacts);

/// Linearises everything at the tentative positions unless the last solve fits them, drops what slid off and
/// hands its impulses over, adds what crosses (Verschoor and Jalba 2019, sections 3.3, 5.2). Returns whether
/// it did.
bool relinearise_all(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                     const FaceNeighbours& neighbours, LoopContacts& contacts);

}  // namespace signorini
