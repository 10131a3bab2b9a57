#include "contact/delassus_blocks.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace signorini {

namespace {

/// Calls add(s, t, block) with the blocks (W_b)_st = H_sᵀ M_b⁻¹ H_t of one body b; s and t count the touches of the
/// body. Of a symmetric body only s ≤ t, with diagonal blocks symmetric to the last bit; of another all of them.
template <class Add>
void visit_body_blocks(const BodyTouches& table, const MassFactor& mass, Index body, Matrix& X,
                       const Add& add) {
  const Index begin = table.body_begin[body];
  const Index end = table.body_begin[body + 1];
  const bool symmetric = mass.is_symmetric(body);
  for (Index first = begin; first < end; first += MassFactor::kBatch) {
    const Index count = std::min(MassFactor::kBatch, end - first);
    solve_touches(table, mass, body, first, count, X);
    for (Index t = first; t < first + count; ++t) {
      const double* column[3] = {&X(0, 3 * (t - first)), &X(0, 3 * (t - first) + 1),
                                 &X(0, 3 * (t - first) + 2)};
      for (Index s = begin; s < (symmetric ? t + 1 : end); ++s) {
        const BodyTouch& touch = table.touches[s];
        Matrix3 block = Matrix3::Zero();
        for (Index e = touch.begin; e < touch.end; ++e) {
          const double* h = table.coefficient.data() + 3 * e;
          for (Index b = 0; b < 3; ++b) {
            const double x = column[b][table.local[e]];
            for (Index a = 0; a < 3; ++a) block(a, b) += h[a] * x;
          }
        }
        if (s == t && symmetric) block = (0.5 * (block + block.transpose())).eval();
        add(s - begin, t - begin, block);
      }
    }
  }
}

/// W_b of every body, all its blocks, computed side by side.
class BodyBlocks {
 public:
  BodyBlocks(const BodyTouches& table, const MassFactor& mass, TaskArena* arena) : table_(table) {
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
      Matrix X;
      for (Index body = tasks[task]; body < tasks[task + 1]; ++body) {
        visit_body_blocks(table, mass, body, X, [&](Index s, Index t, const Matrix3& block) {
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

/// Appends the contacts that meet contact i (those that touch one of its bodies, and i itself), ascending, counted from
/// `first`. `seen` holds one number per contact that is no contact's before the first call.
void append_neighbours(const BodyTouches& table, Index i, Index first, std::vector<Index>& seen,
                       std::vector<Index>& columns) {
  const std::ptrdiff_t begin = columns.size();
  const auto add = [&](Index j) {
    if (seen[j] == i) return;
    seen[j] = i;
    columns.push_back(j - first);
  };
  add(i);
  for (Index c = table.contact_begin[i]; c < table.contact_begin[i + 1]; ++c) {
    const std::size_t body = table.contact_bodies[c];
    for (Index t = table.body_begin[body]; t < table.body_begin[body + 1]; ++t) add(table.touches[t].contact);
  }
  std::sort(columns.begin() + begin, columns.end());
}

/// Block pattern of the rows [first, end), which have no columns outside; values are zero.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index first, Index end, std::vector<Index>& seen) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = end - first;
  W.row_begin.reserve(W.block_rows + 1);
  W.row_begin.push_back(0);
  for (Index i = first; i < end; ++i) {
    append_neighbours(table, i, first, seen, W.column);
    W.row_begin.push_back(count(W.column));
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// That of all rows, a few large parts of them side by side: each has its own `seen`.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index contacts, TaskArena& arena) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = contacts;
  W.row_begin.assign(contacts + 1, 0);
  const std::size_t parts = 4 * arena.threads();
  std::vector<std::vector<Index>> columns(parts);
  arena.for_each_task(parts, [&](std::size_t part) {
    std::vector<Index> seen(contacts, -1);
    const auto end = static_cast<Index>(contacts * (part + 1) / parts);
    for (auto i = static_cast<Index>(contacts * part / parts); i < end; ++i) {
      const Index before = count(columns[part]);
      append_neighbours(table, i, 0, seen, columns[part]);
      W.row_begin[i + 1] = count(columns[part]) - before;
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
              Matrix& X, BlockSparseMatrix& W) {
  const Index begin = table.body_begin[body];
  const bool mirrored = !upper && mass.is_symmetric(body);
  visit_body_blocks(table, mass, body, X, [&](Index s, Index t, const Matrix3& block) {
    const Index i = table.touches[begin + s].contact - first;
    const Index j = table.touches[begin + t].contact - first;
    Eigen::Map<Matrix3>(W.block(find_block(W, i, j))) += block;
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

BlockParts::BlockParts(const BodyTouches& H, const MassFactor& mass)
    : H_(H), mass_(mass), met_(H.contact_begin.size() - 1, -1), part_of_(mass.bodies(), -1) {}

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
  BlockSparseMatrix W = make_pattern(H_, first, end, met_);
  find_bodies(first, end);
  const bool symmetric =
      std::all_of(bodies_.begin(), bodies_.end(), [&](Index body) { return mass_.is_symmetric(body); });
  for (const Index body : bodies_) add_body(H_, mass_, body, first, symmetric, X_, W);
  if (symmetric) mirror_upper(W);
  return W;
}

BlockSparseMatrix assemble_blocks(const BodyTouches& H, const MassFactor& mass, TaskArena* arena) {
  const Index contacts = count(H.contact_begin) - 1;
  if (arena == nullptr || arena->threads() == 1) return BlockParts(H, mass).assemble(0, contacts);
  BlockSparseMatrix W = make_pattern(H, contacts, *arena);
  add_rows(H, BodyBlocks(H, mass, arena), W, arena);
  return W;
}

}  // namespace signorini
