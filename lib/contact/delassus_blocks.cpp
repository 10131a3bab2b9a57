#include "contact/delassus_blocks.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <span>

#include "linalg/spd_factor.h"
#include "linalg/supernodal_solve.h"

namespace signorini {

namespace {

/// `work.touched` := the dofs of one body that contacts touch, in the order in which they are met first.
void find_touched_dofs(const BodyTouches& table, Index body, std::size_t dofs, BodyWorkspace& work) {
  work.number.assign(dofs, -1);
  work.touched.clear();
  for (Index s = table.body_begin[body]; s < table.body_begin[body + 1]; ++s) {
    for (Index e = table.touches[s].begin; e < table.touches[s].end; ++e) {
      Index& number = work.number[table.local[e]];
      if (number >= 0) continue;
      number = count(work.touched);
      work.touched.push_back(table.local[e]);
    }
  }
}

/// `work.rows` := the rows of X at the touched dofs, one after the other.
void copy_touched_rows(BodyWorkspace& work) {
  const std::size_t width = work.width = work.X.cols();
  work.row_of = work.number.data();
  work.rows.resize(work.touched.size() * width);
  for (std::size_t k = 0; k < width; ++k) {
    const double* column = work.X.data() + k * static_cast<std::size_t>(work.X.rows());
    double* row = work.rows.data() + k;
    for (const Index dof : work.touched) {
      *row = column[dof];
      row += width;
    }
  }
}

/// `work.rows` := a panel with the touches [first, first + count), solved.
void solve_panel(const BodyTouches& table, const SpdFactor& factor, Index first, Index count,
                 BodyWorkspace& work) {
  const std::span<const Index> row_of = factor.panel_rows();
  work.width = supernodal_width(3 * static_cast<std::size_t>(count));
  work.row_of = row_of.data();
  work.rows.assign(row_of.size() * work.width, 0.0);
  for (Index t = 0; t < count; ++t) {
    const BodyTouch& touch = table.touches[first + t];
    for (Index e = touch.begin; e < touch.end; ++e) {
      const std::size_t row = row_of[table.local[e]];
      std::copy_n(table.coefficient.data() + 3 * static_cast<std::size_t>(e), 3,
                  work.rows.data() + row * work.width + 3 * static_cast<std::size_t>(t));
    }
  }
  factor.solve_panel(work.rows, work.width, work.needed);
}

/// `work.product` (3 rows) := H_sᵀ X from column `begin` on.
void multiply_touch(const BodyTouches& table, const BodyTouch& touch, std::size_t begin,
                    BodyWorkspace& work) {
  const std::size_t width = work.width;
  double* const product = work.product.data();
  std::fill(product, product + 3 * width, 0.0);
  for (Index e = touch.begin; e < touch.end; ++e) {
    const double* h = table.coefficient.data() + 3 * static_cast<std::size_t>(e);
    const double* x = work.rows.data() + static_cast<std::size_t>(work.row_of[table.local[e]]) * width;
    for (std::size_t k = begin; k < width; ++k) {
      product[k] += h[0] * x[k];
      product[width + k] += h[1] * x[k];
      product[2 * width + k] += h[2] * x[k];
    }
  }
}

/// H_sᵀ X in the three columns from `column` on; the bits of multiply_touch.
Matrix3 multiply_block(const BodyTouches& table, const BodyTouch& touch, const Matrix& X, Index column) {
  Matrix3 block = Matrix3::Zero();
  for (Index e = touch.begin; e < touch.end; ++e) {
    const double* h = table.coefficient.data() + 3 * static_cast<std::size_t>(e);
    for (Index b = 0; b < 3; ++b) {
      const double x = X(table.local[e], column + b);
      for (Index a = 0; a < 3; ++a) block(a, b) += h[a] * x;
    }
  }
  return block;
}

/// (W_b)_ss is symmetric to the last bit where the body is.
Matrix3 symmetrised_if(bool diagonal_of_symmetric, const Matrix3& block) {
  return diagonal_of_symmetric ? Matrix3(0.5 * (block + block.transpose())) : block;
}

/// visit_body_blocks for a body whose touches fit into one batch: rows of X do not pay (bench_delassus, bench_region_tasks).
template <class Add>
void visit_few_blocks(const BodyTouches& table, const MassFactor& mass, Index body, BodyWorkspace& work,
                      const Add& add) {
  const Index begin = table.body_begin[body];
  const Index touches = table.body_begin[body + 1] - begin;
  if (touches == 0) return;
  const bool symmetric = mass.is_symmetric(body);
  solve_touches(table, mass, body, begin, touches, work.X, work.columns);
  for (Index s = 0; s < touches; ++s) {
    for (Index t = symmetric ? s : 0; t < touches; ++t) {
      const Matrix3 block = multiply_block(table, table.touches[begin + s], work.X, 3 * t);
      add(s, t, symmetrised_if(s == t && symmetric, block));
    }
  }
}

/// Calls add(s, t, block) with the blocks (W_b)_st = H_sᵀ M_b⁻¹ H_t of one body b; s and t count the touches of the
/// body, and t ascends while s stays. Of a symmetric body only s ≤ t, with diagonal blocks symmetric to the last bit; of
/// another all of them.
template <class Add>
void visit_body_blocks(const BodyTouches& table, const MassFactor& mass, Index body, BodyWorkspace& work,
                       const Add& add) {
  using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  const Index begin = table.body_begin[body];
  const Index end = table.body_begin[body + 1];
  const bool symmetric = mass.is_symmetric(body);
  const SpdFactor* const panels = work.columns == ColumnSolves::together ? mass.panels(body) : nullptr;
  if (panels == nullptr && end - begin <= MassFactor::kBatch)
    return visit_few_blocks(table, mass, body, work, add);
  find_touched_dofs(table, body, mass.dofs(body).size(), work);
  if (panels != nullptr) work.needed = panels->needed_for(work.touched);
  for (Index first = begin; first < end; first += MassFactor::kBatch) {
    const Index count = std::min(MassFactor::kBatch, end - first);
    if (panels != nullptr) {
      solve_panel(table, *panels, first, count, work);
    } else {
      solve_touches(table, mass, body, first, count, work.X, work.columns);
      copy_touched_rows(work);
    }
    for (Index s = begin; s < (symmetric ? first + count : end); ++s) {
      const Index least = symmetric ? std::max(s, first) : first;
      multiply_touch(table, table.touches[s], 3 * static_cast<std::size_t>(least - first), work);
      for (Index t = least; t < first + count; ++t) {
        const Matrix3 block = Eigen::Map<const RowMajor3, 0, Eigen::OuterStride<>>(
            work.product.data() + 3 * static_cast<std::size_t>(t - first), Eigen::OuterStride<>(work.width));
        add(s - begin, t - begin, symmetrised_if(s == t && symmetric, block));
      }
    }
  }
}

/// W_b of every body, all its blocks, computed side by side.
class BodyBlocks {
 public:
  BodyBlocks(const BodyTouches& table, const MassFactor& mass, TaskArena* arena, ColumnSolves columns)
      : table_(table) {
    begin_.reserve(mass.bodies() + 1);
    begin_.push_back(0);
    for (Index body = 0; body < mass.bodies(); ++body) {
      const std::size_t own = touches(body);  // its square in 64 bits
      begin_.push_back(begin_.back() + 9 * own * own);
    }
    // not initialised: the tasks write every number that is read
    values_ = std::make_unique_for_overwrite<double[]>(begin_.back());
    const std::span<const Index> tasks = mass.tasks();
    for_each_task(arena, tasks.size() - 1, [&](std::size_t task) {
      BodyWorkspace work;
      work.columns = columns;
      for (Index body = tasks[task]; body < tasks[task + 1]; ++body) {
        visit_body_blocks(table, mass, body, work, [&](Index s, Index t, const Matrix3& block) {
          Eigen::Map<Matrix3>(at_block(body, s, t)) = block;
          if (mass.is_symmetric(body)) Eigen::Map<Matrix3>(at_block(body, t, s)) = block.transpose();
        });
      }
    });
  }

  Index touches(Index body) const { return table_.body_begin[body + 1] - table_.body_begin[body]; }
  /// (W_b)_s0, (W_b)_s1, …
  const double* row(Index body, Index s) const { return at_block(body, s, 0); }

 private:
  double* at_block(Index body, Index s, Index t) const {
    const std::size_t own = touches(body);  // products in 64 bits
    return values_.get() + begin_[body] + 9 * (s * own + t);
  }

  const BodyTouches& table_;
  std::vector<std::size_t> begin_;
  std::unique_ptr<double[]> values_;
};

/// The contacts that meet one contact, ascending: those that touch one of its bodies, and itself.
class Neighbours {
 public:
  explicit Neighbours(const BodyTouches& table) : table_(table) {}
  std::span<const Index> of(Index contact) {
    found_.clear();
    const Index begin = table_.contact_begin[contact], end = table_.contact_begin[contact + 1];
    if (begin == end) found_.push_back(contact);
    for (Index c = begin; c < end; ++c) {
      const Index body = table_.contact_bodies[c];
      const std::span touches(table_.touches.begin() + table_.body_begin[body],
                              table_.touches.begin() + table_.body_begin[body + 1]);
      merged_.clear();
      std::ranges::set_union(found_, touches | std::views::transform(&BodyTouch::contact),
                             std::back_inserter(merged_));
      found_.swap(merged_);
    }
    return found_;
  }

 private:
  const BodyTouches& table_;
  std::vector<Index> found_, merged_;
};

/// Block pattern of the rows [first, end), which have no columns outside; values are zero.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index first, Index end) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = end - first;
  W.row_begin.reserve(W.block_rows + 1);
  W.row_begin.push_back(0);
  Neighbours neighbours(table);
  for (Index i = first; i < end; ++i) {
    for (const Index j : neighbours.of(i)) W.column.push_back(j - first);
    W.row_begin.push_back(count(W.column));
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// That of all rows, a few large parts of them side by side.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index contacts, TaskArena& arena) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = contacts;
  W.row_begin.assign(contacts + 1, 0);
  const std::size_t parts = 4 * arena.threads();
  std::vector<std::vector<Index>> columns(parts);
  arena.for_each_task(parts, [&](std::size_t part) {
    Neighbours neighbours(table);
    const auto end = static_cast<Index>(contacts * (part + 1) / parts);
    for (auto i = static_cast<Index>(contacts * part / parts); i < end; ++i) {
      const std::span<const Index> own = neighbours.of(i);
      columns[part].insert(columns[part].end(), own.begin(), own.end());
      W.row_begin[i + 1] = static_cast<Index>(own.size());
    }
  });
  std::partial_sum(W.row_begin.begin(), W.row_begin.end(), W.row_begin.begin());
  W.column.reserve(W.row_begin.back());
  for (const std::vector<Index>& part : columns) W.column.insert(W.column.end(), part.begin(), part.end());
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// W_ij += (W_b)_st for all touches t of body b, s being that of contact i.
void add_row(const BodyTouches& table, const BodyBlocks& blocks, Index body, Index s, Index i,
             BlockSparseMatrix& W) {
  const Index begin = table.body_begin[body];
  const double* row = blocks.row(body, s);
  Index b = W.row_begin[i];
  for (Index t = 0; t < blocks.touches(body); ++t) {
    const Index j = table.touches[begin + t].contact;
    while (W.column[b] != j) ++b;
    double* block = W.block(b);
    for (std::size_t e = 0; e < 9; ++e)
      block[e] += row[9 * static_cast<std::size_t>(t) + e];  // 9 t in 64 bits
  }
}

/// W = Σ_b W_b, row by row and by ascending bodies, so that the bits are those of the serial loop.
void add_rows(const BodyTouches& table, const BodyBlocks& blocks, BlockSparseMatrix& W, TaskArena* arena) {
  constexpr std::size_t kRows = 32;
  for_each_chunk(arena, W.block_rows, kRows, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
      for (Index c = table.contact_begin[i]; c < table.contact_begin[i + 1]; ++c) {
        const Index body = table.contact_bodies[c];
        const auto first = table.touches.begin() + table.body_begin[body];
        const auto found =
            std::lower_bound(first, table.touches.begin() + table.body_begin[body + 1], i,
                             [](const BodyTouch& touch, Index k) { return touch.contact < k; });
        add_row(table, blocks, body, static_cast<Index>(found - first), i, W);
      }
    }
  });
}

/// Adds (W_b)_st of one body to the rows from contact `first` on; `upper`: those above the diagonal alone.
void add_body(const BodyTouches& table, const MassFactor& mass, Index body, Index first, bool upper,
              BodyWorkspace& work, BlockSparseMatrix& W) {
  const Index begin = table.body_begin[body];
  const bool mirrored = !upper && mass.is_symmetric(body);
  Index row = -1, column = -1, b = -1;  // of the block before, and its number
  visit_body_blocks(table, mass, body, work, [&](Index s, Index t, const Matrix3& block) {
    const Index i = table.touches[begin + s].contact - first;
    const Index j = table.touches[begin + t].contact - first;
    if (i != row || j < column) b = find_block(W, i, j);
    row = i;
    column = j;
    while (W.column[b] != j) ++b;
    Eigen::Map<Matrix3>(W.block(b)) += block;
    if (mirrored && i != j) Eigen::Map<Matrix3>(W.block(find_block(W, j, i))) += block.transpose();
  });
}

/// Copies the upper blocks, transposed, below the diagonal.
void mirror_upper(BlockSparseMatrix& W) {
  std::vector<Index> cursor(W.row_begin.begin(), W.row_begin.end() - 1);
  for (Index i = 0; i < W.block_rows; ++i) {
    for (Index b = W.row_begin[i]; b < W.row_begin[i + 1]; ++b) {
      const Index j = W.column[b];
      // Rows are visited in ascending order, so the lower part of row j fills from the left.
      if (j > i) {
        Eigen::Map<Matrix3>(W.block(cursor[j]++)) = Eigen::Map<const Matrix3>(W.block(b)).transpose();
      }
    }
  }
}

}  // namespace

BlockParts::BlockParts(const BodyTouches& H, const MassFactor& mass, ColumnSolves columns)
    : H_(H), mass_(mass), part_of_(mass.bodies(), -1) {
  work_.columns = columns;
}

void BlockParts::find_bodies(Index first, Index end) {
  bodies_.clear();
  for (Index c = H_.contact_begin[first]; c < H_.contact_begin[end]; ++c) {
    const Index body = H_.contact_bodies[c];
    if (part_of_[body] == first) continue;
    part_of_[body] = first;
    bodies_.push_back(body);
  }
  std::sort(bodies_.begin(), bodies_.end());
}

BlockSparseMatrix BlockParts::assemble(Index first, Index end) {
  BlockSparseMatrix W = make_pattern(H_, first, end);
  find_bodies(first, end);
  const bool symmetric =
      std::all_of(bodies_.begin(), bodies_.end(), [&](Index body) { return mass_.is_symmetric(body); });
  for (const Index body : bodies_) add_body(H_, mass_, body, first, symmetric, work_, W);
  if (symmetric) mirror_upper(W);
  return W;
}

BlockSparseMatrix assemble_blocks(const BodyTouches& H, const MassFactor& mass, TaskArena* arena,
                                  ColumnSolves columns) {
  const Index contacts = count(H.contact_begin) - 1;
  if (arena == nullptr || arena->threads() == 1) return BlockParts(H, mass, columns).assemble(0, contacts);
  BlockSparseMatrix W = make_pattern(H, contacts, *arena);
  add_rows(H, BodyBlocks(H, mass, arena, columns), W, arena);
  return W;
}

}  // namespace signorini
