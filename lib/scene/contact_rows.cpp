#include "scene/contact_rows.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace signorini {

namespace {

constexpr std::size_t kRowGrain = 256;
constexpr std::size_t kContactGrain = 64;
/// Below this speed, and this share of the whole relative velocity, a tangential velocity is noise
/// (docs/theory.md, C25).
constexpr double kNoiseSpeed = 1e-6;  // m/s
constexpr double kNoiseShare = 1e-3;

/// Entries of a contact's row over system blocks, one per block. Four vertices of four blocks each at most.
struct ContactRow {
  std::array<BlockCoefficient, 16> entry;
  int size = 0;

  void add(Index block, const Vector3& coefficient) {
    for (int i = 0; i < size; ++i) {
      BlockCoefficient& e = entry[i];
      if (e.block == block) {
        e.coefficient += coefficient;
        return;
      }
    }
    entry[size++] = {block, coefficient};
  }
  std::span<const BlockCoefficient> entries() const { return {entry.data(), static_cast<std::size_t>(size)}; }
};

ContactRow contact_row(const BodySystem& system, const SystemState& state, const SurfaceContact& contact,
                       const Vector3& direction) {
  ContactRow row;
  VertexRow part;
  for (std::size_t i = 0; i < 4; ++i) {
    if (contact.weight[i] == 0.0) continue;
    const int size = system.vertex_row(state, contact.key.vertex[i], direction, part);
    for (int e = 0; e < size; ++e) {
      const BlockCoefficient& entry = part[e];
      row.add(entry.block, contact.weight[i] * entry.coefficient);
    }
  }
  std::sort(row.entry.begin(), row.entry.begin() + row.size,
            [](const BlockCoefficient& a, const BlockCoefficient& b) { return a.block < b.block; });
  return row;
}

Vector3 prescribed_relative(const BodySystem& system, const SystemState& state, double dt,
                            const SurfaceContact& contact) {
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < 4; ++i) {
    if (contact.weight[i] == 0.0) continue;
    sum += contact.weight[i] * system.prescribed_velocity(state, contact.key.vertex[i], dt);
  }
  return sum;
}

/// The part of `along` orthogonal to n, as a unit vector; nothing when there is hardly any.
std::optional<Vector3> tangent_part(const Vector3& along, const Vector3& n) {
  const Vector3 t = along - n.dot(along) * n;
  const double length = t.norm();
  if (!(length > 1e-6 * along.norm())) return {};
  // Once more: the first subtraction leaves an error of ε ‖along‖ / ‖t‖ along n.
  const Vector3 unit = t / length;
  return (unit - n.dot(unit) * n).normalized();
}

/// Sorts bodies by their blocks, numbers the kept blocks, and fills the ranges.
TouchedBlocks number_blocks(const BodySystem& system, std::vector<Index> bodies,
                            std::span<const unsigned char> keep) {
  std::sort(bodies.begin(), bodies.end(),
            [&](Index a, Index b) { return system.body_blocks(a)[0] < system.body_blocks(b)[0]; });
  TouchedBlocks touched;
  touched.number.assign(system.blocks(), -1);
  touched.body_begin.push_back(0);
  for (const Index body : bodies) {
    const auto [begin, end] = system.body_blocks(body);
    for (Index block = begin; block < end; ++block) {
      if (!keep[block]) continue;
      touched.number[block] = count(touched.block);
      touched.block.push_back(block);
    }
    if (count(touched.block) == touched.body_begin.back()) continue;
    touched.body.push_back(body);
    touched.body_begin.push_back(count(touched.block));
  }
  return touched;
}

/// Frame, w and the three columns of H of contact k; the columns' places are known.
void fill_columns(const BodySystem& system, const SystemState& state, double dt,
                  const SurfaceContact& contact, const Vector3& tangent, const TouchedBlocks& touched,
                  Index k, ContactProblem& problem) {
  Matrix3 frame;
  frame << contact.normal.transpose(), tangent.transpose(), contact.normal.cross(tangent).transpose();
  const Vector3 scripted = frame * prescribed_relative(system, state, dt, contact);
  for (Index d = 0; d < 3; ++d) {
    const ContactRow row = contact_row(system, state, contact, frame.row(d).transpose());
    Index entry = problem.H.outerIndexPtr()[3 * k + d];
    for (const BlockCoefficient& e : row.entries()) {
      const Index block = touched.number[e.block];
      SIGNORINI_DCHECK(block >= 0);
      for (Index c = 0; c < 3; ++c, ++entry) {
        problem.H.innerIndexPtr()[entry] = 3 * block + c;
        problem.H.valuePtr()[entry] = e.coefficient[c];
      }
    }
    SIGNORINI_DCHECK(entry == problem.H.outerIndexPtr()[3 * k + d + 1]);
    problem.frame.block<1, 3>(k, 3 * d) = frame.row(d);
    problem.w[3 * k + d] = scripted[d];
  }
}

}  // namespace

void WarmStart::clear() {
  by_pair_.clear();
  by_vertex_.clear();
}

void WarmStart::store(std::span<const SurfaceContact> contacts, const ContactProblem& problem,
                      std::span<const double> r, std::span<const ContactEnd> ends) {
  SIGNORINI_CHECK(r.size() == 3 * contacts.size() && problem.contacts() == count(contacts) &&
                  ends.size() == contacts.size());
  by_pair_.clear();
  for (Index k = 0; k < count(contacts); ++k) {
    Entry entry{contacts[k].key, contacts[k].body, Vector3::Zero(),
                problem.frame.block<1, 3>(k, 3).transpose(), ends[k]};
    for (Index d = 0; d < 3; ++d)
      entry.impulse += r[3 * k + d] * problem.frame.block<1, 3>(k, 3 * d).transpose();
    by_pair_.push_back(entry);
  }
  std::sort(by_pair_.begin(), by_pair_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  index_vertices();
}

void WarmStart::index_vertices() {
  by_vertex_.clear();
  for (std::size_t i = 0; i < by_pair_.size(); ++i) {
    if (by_pair_[i].key.kind == PairKind::vertex_face) by_vertex_.push_back(i);
  }
  // Of several faces the strongest contact comes first, then the one with the smallest key.
  std::stable_sort(by_vertex_.begin(), by_vertex_.end(), [&](std::size_t a, std::size_t b) {
    const Entry& x = by_pair_[a];
    const Entry& y = by_pair_[b];
    const auto place = [](const Entry& e) { return std::pair(e.key.vertex[0], e.body[1]); };
    if (place(x) != place(y)) return place(x) < place(y);
    return x.impulse.squaredNorm() > y.impulse.squaredNorm();
  });
}

const WarmStart::Entry* WarmStart::find(const SurfaceContact& contact) const {
  const auto pair = std::lower_bound(by_pair_.begin(), by_pair_.end(), contact.key,
                                     [](const Entry& entry, const PairKey& key) { return entry.key < key; });
  if (pair != by_pair_.end() && pair->key == contact.key) return &*pair;
  if (contact.key.kind != PairKind::vertex_face) return nullptr;
  const std::pair wanted(contact.key.vertex[0], contact.body[1]);
  const auto vertex =
      std::lower_bound(by_vertex_.begin(), by_vertex_.end(), wanted, [&](std::size_t i, const auto& value) {
        return std::pair(by_pair_[i].key.vertex[0], by_pair_[i].body[1]) < value;
      });
  if (vertex == by_vertex_.end()) return nullptr;
  const Entry& entry = by_pair_[*vertex];
  return std::pair(entry.key.vertex[0], entry.body[1]) == wanted ? &entry : nullptr;
}

std::vector<const WarmStart::Entry*> WarmStart::match(std::span<const SurfaceContact> contacts) const {
  std::vector<const Entry*> result(contacts.size(), nullptr);
  std::vector<unsigned char> taken(by_pair_.size(), 0);
  const auto slot = [&](const Entry* entry) { return entry - by_pair_.data(); };
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Entry* entry = find(contacts[k]);
    if (!entry || entry->key != contacts[k].key) continue;
    result[k] = entry;
    taken[slot(entry)] = 1;
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Entry* entry = find(contacts[k]);
    if (!entry || entry->key == contacts[k].key || taken[slot(entry)]) continue;
    result[k] = entry;
    taken[slot(entry)] = 1;
  }
  return result;
}

bool WarmStart::knows(const PairKey& key) const {
  const auto pair = std::lower_bound(by_pair_.begin(), by_pair_.end(), key,
                                     [](const Entry& e, const PairKey& k) { return e.key < k; });
  return pair != by_pair_.end() && pair->key == key;
}

void WarmStart::assign(std::vector<Entry> entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (!(entries[i - 1].key < entries[i].key))
      throw_input("kept contact {} does not follow contact {} in order of pairs", i, i - 1);
  }
  by_pair_ = std::move(entries);
  index_vertices();
}

Vector3 contact_tangent(TangentFrame kind, const SurfaceContact& contact, const Vector3& free_velocity,
                        const WarmStart& previous) {
  const Vector3& n = contact.normal;
  if (kind == TangentFrame::aligned) {
    const double sliding = (free_velocity - n.dot(free_velocity) * n).norm();
    if (sliding > kNoiseSpeed + kNoiseShare * free_velocity.norm()) {
      if (const auto t = tangent_part(free_velocity, n)) return *t;
    }
    if (const WarmStart::Entry* entry = previous.find(contact)) {
      if (const auto t = tangent_part(entry->tangent, n)) return *t;
    }
  }
  if (const auto t = tangent_part(contact.tangent, n)) return *t;
  return n.unitOrthogonal();
}

Index TouchedBlocks::number_of_body(Index system_body) const {
  const auto found = std::find(body.begin(), body.end(), system_body);
  return found == body.end() ? -1 : static_cast<Index>(found - body.begin());
}

TouchedBlocks touched_bodies(const BodySystem& system, std::span<const SurfaceContact> contacts, bool all) {
  std::vector<unsigned char> wanted(system.bodies(), all ? 1 : 0);
  for (const SurfaceContact& contact : contacts) {
    for (const Index body : contact.body) wanted[body] = 1;
  }
  std::vector<Index> bodies;
  for (Index body = 0; body < system.bodies(); ++body) {
    if (wanted[body]) bodies.push_back(body);
  }
  std::vector<unsigned char> keep(system.blocks());
  for (Index block = 0; block < system.blocks(); ++block) keep[block] = !system.is_prescribed(block);
  return number_blocks(system, std::move(bodies), keep);
}

TouchedBlocks touched_nodes(const BodySystem& system, const SystemState& state,
                            std::span<const SurfaceContact> contacts) {
  std::vector<unsigned char> keep(system.blocks(), 0);
  std::vector<unsigned char> wanted(system.bodies(), 0);
  for (const SurfaceContact& contact : contacts) {
    const ContactRow row = contact_row(system, state, contact, contact.normal);
    for (const BlockCoefficient& entry : row.entries()) {
      keep[entry.block] = 1;
      wanted[system.body_of_block(entry.block)] = 1;
    }
  }
  std::vector<Index> bodies;
  for (Index body = 0; body < system.bodies(); ++body) {
    if (wanted[body]) bodies.push_back(body);
  }
  return number_blocks(system, std::move(bodies), keep);
}

bool is_movable(const BodySystem& system, const SystemState& state, const SurfaceContact& contact) {
  VertexRow row;
  for (std::size_t i = 0; i < 4; ++i) {
    if (contact.weight[i] != 0.0 &&
        system.vertex_row(state, contact.key.vertex[i], contact.normal, row) > 0) {
      return true;
    }
  }
  return false;
}

Vector3 relative_velocity(const BodySystem& system, const SystemState& state, double dt,
                          const SurfaceContact& contact, std::span<const Vector3> velocity) {
  Vector3 result = prescribed_relative(system, state, dt, contact);
  for (Index d = 0; d < 3; ++d) {
    const ContactRow row = contact_row(system, state, contact, Vector3::Unit(d));
    for (const BlockCoefficient& entry : row.entries())
      result[d] += entry.coefficient.dot(velocity[entry.block]);
  }
  return result;
}

void contact_rows(TaskArena& arena, const BodySystem& system, const SystemState& state, double dt,
                  std::span<const SurfaceContact> contacts, std::span<const Vector3> tangents,
                  const TouchedBlocks& touched, ContactProblem& problem) {
  const Index m = count(contacts);
  const Index n = 3 * count(touched.block);
  problem.w.resize(3 * m);
  problem.gap.resize(m);
  problem.frame.resize(m, 9);
  problem.position.resize(m, 3);
  problem.points.resize(m, 4);
  problem.weights.resize(m, 4);
  problem.bodies.resize(m, 2);
  problem.features.resize(m, 2);
  problem.node_numbers = touched.block;
  problem.body_dofs.clear();
  for (const Index begin : touched.body_begin) problem.body_dofs.push_back(3 * begin);
  std::vector<Index> number_of_body(system.bodies(), -1);
  for (Index b = 0; b < count(touched.body); ++b) number_of_body[touched.body[b]] = b;

  // A contact's three columns have entries at the same blocks, whatever the direction.
  problem.H.resize(n, 3 * m);
  Index* begin = problem.H.outerIndexPtr();
  arena.for_chunks(contacts.size(), kContactGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const Index size = 3 * contact_row(system, state, contacts[k], contacts[k].normal).size;
      for (std::size_t d = 1; d <= 3; ++d) begin[3 * k + d] = size;
    }
  });
  begin[0] = 0;
  for (std::size_t column = 0; column < 3 * contacts.size(); ++column) begin[column + 1] += begin[column];
  problem.H.resizeNonZeros(begin[3 * m]);

  arena.for_chunks(contacts.size(), kContactGrain, [&](std::size_t first, std::size_t last) {
    for (auto k = static_cast<Index>(first); k < static_cast<Index>(last); ++k) {
      const SurfaceContact& contact = contacts[k];
      fill_columns(system, state, dt, contact, tangents[k], touched, k, problem);
      for (Index i = 0; i < 4; ++i) {
        const double weight = contact.weight[i];
        const Index block = weight == 0.0 ? -1 : system.main_block(contact.key.vertex[i]);
        problem.points(k, i) = block < 0 ? -1 : touched.number[block];
        problem.weights(k, i) = weight;
      }
      problem.gap[k] = contact.gap;
      problem.position.row(k) = contact.position.transpose();
      for (Index side = 0; side < 2; ++side) problem.bodies(k, side) = number_of_body[contact.body[side]];
      const bool edges = contact.key.kind == PairKind::edge_edge;
      for (Index side = 0; side < 2; ++side) {
        const Index number = contact.feature[side];
        SIGNORINI_DCHECK(number >= 0);
        problem.features(k, side) = edges ? -1 - number : number;
      }
    }
  });
}

void gather_blocks(std::span<const Vector3> values, const TouchedBlocks& touched, Vector& result) {
  result.resize(3 * count(touched.block));
  for (std::size_t i = 0; i < touched.block.size(); ++i) result.segment<3>(3 * i) = values[touched.block[i]];
}

Vector free_relative_velocity(const ContactProblem& problem, const TouchedBlocks& touched,
                              std::span<const Vector3> free_velocity) {
  Vector v;
  gather_blocks(free_velocity, touched, v);
  return problem.H.transpose() * v + problem.w;
}

std::vector<ContactEnd> ends_of(const ContactProblem& problem, std::span<const double> r, LawSpec law,
                                const TouchedBlocks& touched, std::span<const Vector3> free_velocity) {
  Vector q;
  if (is_turned(law)) q = free_relative_velocity(problem, touched, free_velocity);
  return contact_ends(r, problem.mu, law, span_of(std::as_const(q)));
}

int pressed_contacts(std::span<const double> r) {
  int pressed = 0;
  for (std::size_t k = 0; k < r.size(); k += 3) pressed += r[k] > 0.0;
  return pressed;
}

void restrict_matrix(TaskArena& arena, const BlockSparseMatrix& A, const TouchedBlocks& touched,
                     SparseRows& M) {
  const Index n = 3 * count(touched.block);
  M.resize(n, n);
  Index* begin = M.outerIndexPtr();
  begin[0] = 0;
  for (std::size_t i = 0; i < touched.block.size(); ++i) {
    const std::size_t row = touched.block[i];
    Index kept = 0;
    for (Index b = A.row_begin[row]; b < A.row_begin[row + 1]; ++b) kept += touched.number[A.column[b]] >= 0;
    for (std::size_t d = 0; d < 3; ++d) begin[3 * i + d + 1] = begin[3 * i + d] + 3 * kept;
  }
  M.resizeNonZeros(begin[n]);
  arena.for_chunks(touched.block.size(), kRowGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t row = touched.block[i];
      Index offset = 0;
      for (Index b = A.row_begin[row]; b < A.row_begin[row + 1]; ++b) {
        const Index column = touched.number[A.column[b]];
        if (column < 0) continue;
        const double* block = A.block(b);
        for (Index r = 0; r < 3; ++r) {
          for (Index c = 0; c < 3; ++c) {
            const Index entry = begin[3 * i + r] + offset + c;
            M.innerIndexPtr()[entry] = 3 * column + c;
            M.valuePtr()[entry] = block[3 * c + r];
          }
        }
        offset += 3;
      }
    }
  });
}

void restrict_blocks(std::span<const Matrix3> blocks, const TouchedBlocks& touched, SparseRows& M) {
  const Index n = 3 * count(touched.block);
  M.resize(n, n);
  M.reserve(Eigen::VectorXi::Constant(n, 3));
  for (Index i = 0; i < count(touched.block); ++i) {
    const Index first = 3 * i;
    const Matrix3& block = blocks[touched.block[i]];
    for (Index r = 0; r < 3; ++r) {
      for (Index c = 0; c < 3; ++c) {
        if (r == c || block(r, c) != 0.0) M.insert(first + r, first + c) = block(r, c);
      }
    }
  }
  M.makeCompressed();
}

}  // namespace signorini
