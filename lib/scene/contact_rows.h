#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/parallel.h"
#include "bodies/body_system.h"
#include "collision/surface_contact.h"
#include "contact/contact_problem.h"
#include "contact/friction_state.h"

/// From contacts of surfaces to the contact problem over the blocks of the bodies that take part.
///
///     M v = H r + f,   u = Hᵀ v + w,   row of direction d: Σ_i w_i d · v(vertex i)
///
/// v of a surface vertex is spread over blocks by BodySystem::vertex_row; what moves by script goes into w.
/// Blocks are renumbered: those of the *mechanical bodies* that a contact touches, body after body, ascending
/// (prescribed blocks left out). `problem.points`: for each of the four vertices the block that carries most
/// of it (−1: scripted, or of weight zero), renumbered.
namespace signorini {

/// How the previous step left its pairs: world impulses and tangents, states and bounds of friction, for starts. World
/// axes survive a turning frame, and a vertex that slid to the next face takes its impulse along, with its state and
/// bound (docs/theory.md, T20 and T24).
class WarmStart {
 public:
  struct Entry {
    PairKey key;
    std::array<Index, 2> body{-1, -1};
    Vector3 impulse = Vector3::Zero();  ///< N·s, world
    Vector3 tangent = Vector3::Zero();  ///< t1 of the frame, world
    ContactEnd end;
  };
  void clear();
  /// r: 3 per contact in the frames of `problem`; `ends`: one per contact.
  void store(std::span<const SurfaceContact> contacts, const ContactProblem& problem,
             std::span<const double> r, std::span<const ContactEnd> ends);
  /// Of the same pair; else, for vertex–face, of the same vertex against the same body (the strongest when it
  /// touched several faces); else nothing.
  const Entry* find(const SurfaceContact& contact) const;
  /// What each of `contacts` (ascending by key) starts from. Every entry goes to one contact: to its own pair, else to
  /// the first face that its vertex slid to. The others are new: null.
  std::vector<const Entry*> match(std::span<const SurfaceContact> contacts) const;
  bool knows(const PairKey& key) const;
  /// For checkpoints: ascending by key.
  const std::vector<Entry>& entries() const { return by_pair_; }
  /// Throws `InputError` when the keys do not ascend.
  void assign(std::vector<Entry> entries);

 private:
  void index_vertices();
  std::vector<Entry> by_pair_;          // ascending by key
  std::vector<std::size_t> by_vertex_;  // vertex–face entries, ascending by (vertex, body of b)
};

/// How the tangents of a contact are laid: along the first edge of b (fixed to the body), or along the
/// tangential free velocity (Otaduy 2009, section 3.2.1). Below 1e-6 m/s + 1e-3 ‖v‖ that velocity is noise
/// (docs/theory.md, C25): then the tangents of the previous step are kept, else those fixed to the body.
enum class TangentFrame { fixed, aligned };
template <>
struct EnumNames<TangentFrame> {
  static constexpr std::array<std::pair<TangentFrame, std::string_view>, 2> value{
      {{TangentFrame::fixed, "fixed"}, {TangentFrame::aligned, "aligned"}}};
};
/// t1 of a contact, unit and orthogonal to its normal. `free_velocity`: the relative velocity without contact
/// impulses, world, m/s; read for `aligned` only.
Vector3 contact_tangent(TangentFrame kind, const SurfaceContact& contact, const Vector3& free_velocity,
                        const WarmStart& previous);

/// A part of the system's blocks with numbers of its own.
struct TouchedBlocks {
  std::vector<Index> block;       ///< system block behind each block of the problem, ascending
  std::vector<Index> number;      ///< per system block: its number in the problem, −1 = not in it
  std::vector<Index> body;        ///< system body behind each body of the problem
  std::vector<Index> body_begin;  ///< bodies + 1, in blocks of the problem

  Index number_of_body(Index system_body) const;  ///< −1 = not in it
};
/// The free blocks of the bodies that the contacts touch; with `all`, of every body that has some. For M that
/// couples the blocks of a body.
TouchedBlocks touched_bodies(const BodySystem& system, std::span<const SurfaceContact> contacts, bool all);
/// Only the free blocks that the contacts act on: enough for block diagonal M (Lazarevych 2010, eq. 8).
TouchedBlocks touched_nodes(const BodySystem& system, const SystemState& state,
                            std::span<const SurfaceContact> contacts);

/// Whether any free block carries a vertex of the contact; impulses of others have nothing to act on.
bool is_movable(const BodySystem& system, const SystemState& state, const SurfaceContact& contact);
/// Velocity of feature a relative to b in world axes, m/s; `velocity` per system block, prescribed parts are
/// means over [state.time, state.time + dt].
Vector3 relative_velocity(const BodySystem& system, const SystemState& state, double dt,
                          const SurfaceContact& contact, std::span<const Vector3> velocity);

/// Fills H, frame, position, points, weights, bodies, features, node_numbers, body_dofs and gap of `problem`, and
/// w with the prescribed part of the relative velocity. `tangents`: t1 per contact. A contact between bodies none of
/// whose blocks is in `touched` has empty columns.
void contact_rows(TaskArena& arena, const BodySystem& system, const SystemState& state, double dt,
                  std::span<const SurfaceContact> contacts, std::span<const Vector3> tangents,
                  const TouchedBlocks& touched, ContactProblem& problem);

/// The values of the blocks in `touched`, as a vector over the dofs of a problem.
void gather_blocks(std::span<const Vector3> values, const TouchedBlocks& touched, Vector& result);
/// q = Hᵀ v + w of `problem`, m/s; `free_velocity` per system block: v of r = 0.
Vector free_relative_velocity(const ContactProblem& problem, const TouchedBlocks& touched,
                              std::span<const Vector3> free_velocity);
/// How the impulses r, under `law`, leave the contacts of `problem`; `free_velocity` per system block, m/s: v of r = 0.
std::vector<ContactEnd> ends_of(const ContactProblem& problem, std::span<const double> r, LawSpec law,
                                const TouchedBlocks& touched, std::span<const Vector3> free_velocity);
/// How many contacts have a normal impulse; `r`: 3 per contact.
int pressed_contacts(std::span<const double> r);
/// The rows and columns of `A` that are in `touched`, as M of a problem. What the left out columns hold must
/// be zero, as between bodies.
void restrict_matrix(TaskArena& arena, const BlockSparseMatrix& A, const TouchedBlocks& touched,
                     SparseRows& M);
/// The same for a block diagonal matrix, one symmetric block per system block; zeros beside the diagonal are
/// left out.
void restrict_blocks(std::span<const Matrix3> blocks, const TouchedBlocks& touched, SparseRows& M);

}  // namespace signorini
