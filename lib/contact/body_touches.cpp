#include "contact/body_touches.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace signorini {

namespace {

/// Entries of contact k, by body.
void order_by_body(const DirectionRows& H, const MassFactor& mass, Index k, std::vector<Index>& order) {
  order.resize(H.begin[k + 1] - H.begin[k]);
  std::iota(order.begin(), order.end(), H.begin[k]);
  const auto body = [&](Index entry) { return mass.body_of(H.dof[entry]); };
  const auto by_body = [&](Index a, Index b) { return body(a) < body(b); };
  if (!std::is_sorted(order.begin(), order.end(), by_body))
    std::stable_sort(order.begin(), order.end(), by_body);
}

}  // namespace

BodyTouches make_body_touches(const DirectionRows& H, const MassFactor& mass) {
  BodyTouches table;
  table.local.reserve(H.dof.size());
  table.coefficient.reserve(H.coefficient.size());
  table.body_begin.assign(mass.bodies() + 1, 0);
  table.contact_begin.reserve(H.contacts() + 1);
  table.contact_begin.push_back(0);
  std::vector<BodyTouch> found;  // by contact, beside contact_bodies
  std::vector<Index> order;
  for (Index k = 0; k < H.contacts(); ++k) {
    order_by_body(H, mass, k, order);
    Index last = -1;
    for (const Index entry : order) {
      const Index body = mass.body_of(H.dof[entry]);
      const Index position = count(table.local);
      if (body != last) {
        found.push_back({k, position, position});
        table.contact_bodies.push_back(body);
        ++table.body_begin[body + 1];
        last = body;
      }
      table.local.push_back(mass.local(H.dof[entry]));
      const double* h = H.coefficient.data() + 3 * entry;
      table.coefficient.insert(table.coefficient.end(), h, h + 3);
      found.back().end = position + 1;
    }
    table.contact_begin.push_back(count(table.contact_bodies));
  }
  std::partial_sum(table.body_begin.begin(), table.body_begin.end(), table.body_begin.begin());
  table.touches.resize(found.size());
  std::vector<Index> cursor(table.body_begin.begin(), table.body_begin.end() - 1);
  for (std::size_t t = 0; t < found.size(); ++t) {
    table.touches[cursor[table.contact_bodies[t]]++] = found[t];
  }
  return table;
}

namespace {

/// X = H_b restricted to the contacts of touches [first, first + count), 3 columns each.
void scatter_touches(const BodyTouches& H, Index first, Index count, std::size_t dofs, Matrix& X) {
  X.setZero(dofs, 3 * count);
  for (Index t = 0; t < count; ++t) {
    const BodyTouch& touch = H.touches[first + t];
    for (Index e = touch.begin; e < touch.end; ++e) {
      for (Index a = 0; a < 3; ++a) X(H.local[e], 3 * t + a) = H.coefficient[3 * e + a];
    }
  }
}

}  // namespace

void solve_touches(const BodyTouches& H, const MassFactor& mass, Index body, Index first, Index count,
                   Matrix& X, ColumnSolves columns) {
  scatter_touches(H, first, count, mass.dofs(body).size(), X);
  columns == ColumnSolves::together ? mass.solve_body(body, X) : mass.solve_body_by_columns(body, X);
}

namespace {

/// The upper triangle of H_kᵀ M_b⁻¹ H_k for every touch of one body: 6 numbers each, row by row.
void add_touch_blocks(const BodyTouches& H, const MassFactor& mass, Index body, Matrix& X, Matrix& Y,
                      std::vector<double>& panel, double* upper) {
  const Index begin = H.body_begin[body], end = H.body_begin[body + 1];
  for (Index first = begin; first < end; first += MassFactor::kBatch) {
    const Index count = std::min(MassFactor::kBatch, end - first);
    // (L⁻¹ H_k)ᵀ (L⁻¹ H_k), or H_kᵀ (M_b⁻¹ H_k) with the inverse of a small body
    scatter_touches(H, first, count, mass.dofs(body).size(), X);
    if (mass.is_dense(body)) {
      Y = X;
      mass.solve_body(body, Y);
    } else {
      mass.half_solve_body(body, X, panel);
    }
    const Matrix& right = mass.is_dense(body) ? Y : X;
    for (Index t = 0; t < count; ++t) {
      for (Index a = 0; a < 3; ++a) {
        for (Index b = a; b < 3; ++b) *upper++ = X.col(3 * t + a).dot(right.col(3 * t + b));
      }
    }
  }
}

/// All nine numbers of every block, for an M that is not symmetric.
Matrix unsymmetric_diagonal(const BodyTouches& H, const MassFactor& mass) {
  Matrix blocks = Matrix::Zero(3 * (count(H.contact_begin) - 1), 3);
  Matrix X, Y;
  for (Index body = 0; body < mass.bodies(); ++body) {
    for (Index t = H.body_begin[body]; t < H.body_begin[body + 1]; ++t) {
      scatter_touches(H, t, 1, mass.dofs(body).size(), X);
      solve_touches(H, mass, body, t, 1, Y);
      blocks.middleRows<3>(3 * H.touches[t].contact) += X.transpose() * Y;
    }
  }
  return blocks;
}

}  // namespace

Matrix delassus_diagonal(const BodyTouches& H, const MassFactor& mass, TaskArena* arena) {
  if (!mass.is_symmetric()) return unsymmetric_diagonal(H, mass);
  std::vector<double> upper(6 * H.touches.size());
  const std::span<const Index> tasks = mass.tasks();
  for_each_task(arena, tasks.size() - 1, [&](std::size_t task) {
    Matrix X, Y;
    std::vector<double> panel;
    for (Index body = tasks[task]; body < tasks[task + 1]; ++body)
      add_touch_blocks(H, mass, body, X, Y, panel,
                       upper.data() + 6 * static_cast<std::size_t>(H.body_begin[body]));  // in 64 bits
  });
  const Eigen::Index contacts = H.contact_begin.size() - 1;
  Matrix blocks = Matrix::Zero(3 * contacts, 3);
  const double* value = upper.data();
  for (const BodyTouch& touch : H.touches) {  // by ascending bodies, whatever the threads did
    const Eigen::Index k = touch.contact;
    for (Index a = 0; a < 3; ++a) {
      for (Index b = a; b < 3; ++b) blocks(3 * k + a, b) += *value++;
    }
  }
  for (Eigen::Index k = 0; k < contacts; ++k) {
    for (Eigen::Index a = 1; a < 3; ++a) {
      for (Eigen::Index b = 0; b < a; ++b) blocks(3 * k + a, b) = blocks(3 * k + b, a);
    }
  }
  return blocks;
}

}  // namespace signorini
