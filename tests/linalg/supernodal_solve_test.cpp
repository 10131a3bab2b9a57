#include "linalg/supernodal_solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "linalg/isa_levels.h"
#include "linalg/types.h"

namespace signorini::supernodal_solve_test {
namespace {

/// A factor with supernodes of the given columns. Every supernode but the last has rows outside: some of those of its parent
/// and of what the parent has outside, as in a Cholesky factor.
struct Planted {
  std::vector<Index> first{0}, row_begin{0}, value_begin{0}, row;
  std::vector<double> value;
  Matrix dense;  ///< L

  Planted(const std::vector<Index>& columns, const std::vector<std::size_t>& parent) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    for (const Index count : columns) first.push_back(first.back() + count);
    const Index n = first.back();
    dense = Matrix::Zero(n, n);
    std::vector<std::vector<Index>> rows(columns.size());
    for (std::size_t s = columns.size(); s-- > 0;) {
      for (Index i = first[s]; i < first[s + 1]; ++i) rows[s].push_back(i);
      if (s + 1 == columns.size()) continue;
      const std::vector<Index>& above = rows[parent[s]];
      for (std::size_t i = 0; i < above.size(); ++i) {
        if (i == 0 || random() % 3 != 0) rows[s].push_back(above[i]);
      }
    }
    for (std::size_t s = 0; s < columns.size(); ++s) {
      for (Index j = first[s]; j < first[s + 1]; ++j) {
        for (const Index i : rows[s]) {
          const double entry = i == j ? 2.0 + number(random) : number(random);
          value.push_back(entry);  // above the diagonal of the block: never read
          if (i >= j) dense(i, j) = entry;
        }
      }
      row.insert(row.end(), rows[s].begin(), rows[s].end());
      row_begin.push_back(count(row));
      value_begin.push_back(count(value));
    }
  }
  SupernodalFactor view() const {
    return {first.back(), first, row_begin, value_begin, row.data(), value.data()};
  }
};

/// 1, 2, … 9 columns: with and without rests of four rows; a chain and branches.
Planted planted() { return {{1, 2, 3, 4, 5, 8, 9, 6}, {2, 2, 5, 5, 6, 7, 7, 0}}; }

std::vector<double> right_sides(Index n, std::size_t columns, std::size_t width) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::vector<double> X(n * width, 0.0);
  for (Index i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < columns; ++k) X[i * width + k] = number(random);
  }
  return X;
}

/// Substitution as in a textbook: the products of an entry are subtracted in ascending order, those of a supernode's other rows
/// summed up first on the way back.
void substitute(const Planted& L, double* x, std::size_t width, bool forward, bool back) {
  const Index n = L.first.back();
  const auto at = [&](Index i) -> double& { return x[static_cast<std::size_t>(i) * width]; };
  for (Index i = 0; forward && i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      if (L.dense(i, j) != 0.0) at(i) -= L.dense(i, j) * at(j);
    }
    at(i) /= L.dense(i, i);
  }
  for (std::size_t s = L.first.size() - 1; back && s-- > 0;) {
    for (Index i = L.first[s + 1]; i-- > L.first[s];) {
      double sum = 0.0;
      for (Index j = L.first[s + 1]; j < n; ++j) {
        if (L.dense(j, i) != 0.0) sum += L.dense(j, i) * at(j);
      }
      at(i) -= sum;
      for (Index j = i + 1; j < L.first[s + 1]; ++j) at(i) -= L.dense(j, i) * at(j);
      at(i) /= L.dense(i, i);
    }
  }
}

class SupernodalSolve : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SupernodalSolve, HasTheBitsOfSubstitutionOnEveryInstructionSet) {
  const Planted L = planted();
  const std::size_t columns = GetParam(), width = supernodal_width(columns);
  const std::vector<double> B = right_sides(L.first.back(), columns, width);
  std::vector<double> lower = B, both = B;
  for (std::size_t k = 0; k < columns; ++k) {
    substitute(L, lower.data() + k, width, true, false);
    substitute(L, both.data() + k, width, true, true);
  }
  for (const Isa isa : test::isa_levels()) {
    std::vector<double> X = B;
    solve_lower(L.view(), X.data(), width, isa);
    EXPECT_EQ(X, lower);
    solve_upper(L.view(), X.data(), width, {}, isa);
    EXPECT_EQ(X, both);
  }
}

TEST_P(SupernodalSolve, LeavesOutWhatIsZeroAndWhatNobodyReads) {
  const Planted L = planted();
  const std::size_t width = supernodal_width(GetParam());
  // supernodes 2 (first columns 3 to 5), its parent 5 and the root 7: the others stay zero on the way down
  std::vector<double> B(L.first.back() * width, 0.0);
  for (std::size_t k = 0; k < GetParam(); ++k) B[4 * width + k] = 1.0 + static_cast<double>(k);
  std::vector<char> needed(L.first.size() - 1, 0);
  needed[2] = 1;
  need_ancestors(L.view(), needed);
  EXPECT_EQ(needed, (std::vector<char>{0, 0, 1, 0, 0, 1, 0, 1}));
  for (const Isa isa : test::isa_levels()) {
    std::vector<double> all = B, some = B;
    solve_lower(L.view(), all.data(), width, isa);
    for (const Index s : {0, 1, 3, 4, 6}) {
      for (Index i = L.first[s]; i < L.first[s + 1]; ++i) EXPECT_EQ(all[i * width], 0.0) << i;
    }
    some = all;
    solve_upper(L.view(), all.data(), width, {}, isa);
    solve_upper(L.view(), some.data(), width, needed, isa);
    for (const Index s : {2, 5, 7}) {
      for (std::size_t i = L.first[s] * width; i < L.first[s + 1] * width; ++i) EXPECT_EQ(some[i], all[i]);
    }
  }
}

TEST_P(SupernodalSolve, KeepsNotANumberInItsColumn) {
  const Planted L = planted();
  const std::size_t columns = GetParam(), width = supernodal_width(columns);
  const std::vector<double> B = right_sides(L.first.back(), columns, width);
  for (const Isa isa : test::isa_levels()) {
    std::vector<double> X = B, spoilt = B;
    spoilt[columns - 1] = std::numeric_limits<double>::quiet_NaN();
    for (std::vector<double>* Y : {&X, &spoilt}) {
      solve_lower(L.view(), Y->data(), width, isa);
      solve_upper(L.view(), Y->data(), width, {}, isa);
    }
    EXPECT_TRUE(std::isnan(spoilt[columns - 1]));
    for (std::size_t i = 0; i < X.size(); ++i) {
      if (i % width == columns - 1) continue;
      EXPECT_EQ(spoilt[i], X[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, SupernodalSolve, ::testing::Values(1, 3, 4, 9, 24, 48));

}  // namespace
}  // namespace signorini::supernodal_solve_test
