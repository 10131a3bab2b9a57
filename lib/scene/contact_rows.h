#pragma once

#include <map>
#include <span>
#include <vector>

#include "bodies/body_system.h"
#include "collision/surface_contact.h"
#include "contact/contact_problem.h"

/// From contacts of surfaces to the contact problem over the blocks of the bodies that take part.
///
///     M v = H r + f,   u = Hᵀ v + w,   row of direction d: Σ_i w_i d · v(vertex i)
///
/// v of a surface vertex is spread over blocks by BodySystem::vertex_row; what moves by script goes into w.
/// Blocks are renumbered: those of the *mechanical bodies* that a contact touches, body after body, ascending
/// (prescribed blocks left out). `problem.points`: for each of the four vertices the block that carries most
/// of it (−1: scripted), renumbered.
namespace signorini {

/// World impulses of the previous step by pair, for warm starts (T20: world axes survive a turning frame;
/// T24: a vertex that slid to the next face takes its impulse along).
class WarmStart {
 public:
  void clear();
  /// r: 3 per contact in the frames of `problem`.
  void store(std::span<const SurfaceContact> contacts, const ContactProblem& problem,
             std::span<const double> r);
  /// Of the same pair; else, for vertex–face, of the same vertex against the same body; else zero. N·s,
  /// world.
  Vector3 find(const SurfaceContact& contact) const;
  bool knows(const PairKey& key) const;
  /// For checkpoints: keys and impulses in ascending order of keys.
  struct Entry {
    PairKey key;
    std::array<Index, 2> body;
    Vector3 impulse;
  };
  std::vector<Entry> entries() const;
  void assign(std::span<const Entry> entries);

 private:
  std::map<PairKey, Entry> by_pair_;
};

/// How the tangents of a contact are laid: along the first edge of b (fixed to the body), or along the
/// tangential free velocity (Otaduy 3.2.1 with C25: below 1e-6 m/s + 1e-3 ‖v‖ the frame of the previous step,
/// else the body-fixed one).
enum class TangentFrame { fixed, aligned };
template <>
struct EnumNames<TangentFrame> {
  static constexpr std::array<std::pair<TangentFrame, std::string_view>, 2> value{
      {{TangentFrame::fixed, "fixed"}, {TangentFrame::aligned, "aligned"}}};
};

/// The blocks of the touched bodies.
struct TouchedBlocks {
  std::vector<Index> block;       ///< system block behind each block of the problem, ascending
  std::vector<Index> number;      ///< per system block: its number in the problem, −1 = not in it
  std::vector<Index> body;        ///< system body behind each body of the problem
  std::vector<Index> body_begin;  ///< bodies + 1, in blocks of the problem
};
/// Bodies that the contacts touch; with `all`, every body with free blocks.
TouchedBlocks touched_blocks(const BodySystem& system, std::span<const SurfaceContact> contacts, bool all);

/// Fills H, frame, position, points, weights, bodies, body_dofs and gap of `problem`, and w with the
/// prescribed part of the relative velocity. `tangents`: t1 per contact.
void contact_rows(const BodySystem& system, const SystemState& state, double dt,
                  std::span<const SurfaceContact> contacts, std::span<const Vector3> tangents,
                  const TouchedBlocks& touched, ContactProblem& problem);

}  // namespace signorini
