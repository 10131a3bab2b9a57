#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "contact/contact_problem.h"
#include "contact/planted_problem.h"
#include "record/recording_file.h"

namespace signorini {

/// A folder that vanishes with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "signorini-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void put_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Same shape and same bits (so −0 differs from 0).
template <class Dense>
bool same_bits(const Dense& a, const Dense& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

/// Same sparsity and same bits.
template <class Sparse>
bool same_sparse(const Sparse& a, const Sparse& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.nonZeros() != b.nonZeros()) return false;
  const std::size_t outer = (a.outerSize() + 1) * sizeof(Index);
  const std::size_t entries = a.nonZeros();
  if (a.outerSize() > 0 && std::memcmp(a.outerIndexPtr(), b.outerIndexPtr(), outer) != 0) return false;
  return entries == 0 || (std::memcmp(a.innerIndexPtr(), b.innerIndexPtr(), entries * sizeof(Index)) == 0 &&
                          std::memcmp(a.valuePtr(), b.valuePtr(), entries * sizeof(double)) == 0);
}

inline void expect_same_problem(const ContactProblem& a, const ContactProblem& b) {
  EXPECT_TRUE(same_sparse(a.M, b.M)) << "M";
  EXPECT_TRUE(same_sparse(a.H, b.H)) << "H";
  EXPECT_TRUE(same_bits(a.f, b.f)) << "f";
  EXPECT_TRUE(same_bits(a.w, b.w)) << "w";
  EXPECT_TRUE(same_sparse(a.W, b.W)) << "W";
  EXPECT_TRUE(same_bits(a.q, b.q)) << "q";
  EXPECT_TRUE(same_bits(a.mu, b.mu)) << "mu";
  EXPECT_EQ(a.spacedim, b.spacedim);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_EQ(a.time, b.time);
  EXPECT_TRUE(same_bits(a.gap, b.gap)) << "gap";
  EXPECT_TRUE(same_bits(a.frame, b.frame)) << "frame";
  EXPECT_TRUE(same_bits(a.position, b.position)) << "position";
  EXPECT_TRUE(same_bits(a.points, b.points)) << "points";
  EXPECT_TRUE(same_bits(a.weights, b.weights)) << "weights";
  EXPECT_TRUE(same_bits(a.bodies, b.bodies)) << "bodies";
  EXPECT_TRUE(same_bits(a.features, b.features)) << "features";
  EXPECT_EQ(a.node_numbers, b.node_numbers);
  EXPECT_EQ(a.body_dofs, b.body_dofs);
  EXPECT_TRUE(same_bits(a.warm_start, b.warm_start)) << "warm_start";
  EXPECT_TRUE(same_bits(a.v_minus, b.v_minus)) << "v_minus";
  EXPECT_EQ(a.start_states, b.start_states);
  EXPECT_TRUE(same_bits(a.start_bounds, b.start_bounds)) << "start_bounds";
}

/// A planted problem with everything that a recording can hold, different for every `seed`.
inline Frame rich_frame(const std::string& id, std::uint64_t seed, double stiffness, int contacts = 6) {
  PlantedOptions options;
  options.contacts = contacts;
  options.stiffness = stiffness;
  options.seed = seed;
  Frame frame;
  frame.id = id;
  frame.problem = make_planted_problem(options).problem;
  ContactProblem& p = frame.problem;
  const Eigen::Index m = p.contacts();
  Rng rng(seed, 7);
  p.kind = stiffness > 0.0 ? ProblemKind::implicit_step : ProblemKind::explicit_step;
  p.dt = 1e-3;
  p.time = 1e-3 * static_cast<double>(seed);
  p.gap = Vector::NullaryExpr(m, [&] { return rng.normal() * 1e-4; });
  p.position = Matrix::NullaryExpr(m, 3, [&] { return rng.normal(); });
  p.warm_start = Vector::NullaryExpr(3 * m, [&] { return rng.uniform(); });
  p.warm_start[0] = -0.0;
  Rng numbers(seed, 8);
  p.features.resize(m, 2);
  for (Index k = 0; k < p.contacts(); ++k) {
    const auto number = static_cast<Index>(numbers.below(100000));
    if (k % 2 == 0) {
      p.features.row(k) << number, k;
    } else {
      p.features.row(k) << -1 - number, -2 - number - k;
    }
  }
  for (Index i = 0; i < p.dofs() / 3; ++i)
    p.node_numbers.push_back(5 * i + static_cast<Index>(numbers.below(5)));
  Rng starts(seed, 9);
  p.v_minus = Vector::NullaryExpr(p.dofs(), [&] { return starts.normal(); });
  p.start_bounds = Vector::NullaryExpr(m, [&] { return starts.uniform(); });
  for (Eigen::Index k = 0; k < m; ++k)
    p.start_states.push_back(static_cast<FrictionState>(static_cast<Index>(starts.below(4)) - 1));
  frame.geometry = std::make_unique<FrameGeometry>();
  frame.geometry->vertices.resize(4, 3);
  for (Eigen::Index k = 0; k < 12; ++k) frame.geometry->vertices(k / 3, k % 3) = rng.normal();
  frame.geometry->triangles.resize(2, 3);
  frame.geometry->triangles << 0, 1, 2, 1, 3, 2;
  frame.geometry->triangle_body = {0, -1};
  frame.geometry->rest = 0.5 * frame.geometry->vertices;
  frame.impulse = Vector::NullaryExpr(3 * m, [&] { return rng.normal(); });
  return frame;
}

/// A table of statistics with awkward numbers in it.
inline StepTable rich_table(std::size_t rows) {
  StepTable table;
  table.columns = {"step", "contacts", "kinetic_energy", "smallest_gap"};
  table.units = {"1", "1", "J", "m"};
  Rng rng(rows, 3);
  for (std::size_t i = 1; i <= rows; ++i) {
    const double gap = i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : -0.0;
    table.rows.push_back({static_cast<double>(i), static_cast<double>(rng.below(9)), rng.normal(), gap});
  }
  return table;
}

/// One contact of one mass point: the smallest frame worth recording.
inline Frame small_frame(int number) {
  Frame frame;
  frame.id = fmt::format("{:06}", number);
  ContactProblem& p = frame.problem;
  p.M.resize(3, 3);
  p.M.setIdentity();
  p.H.resize(3, 3);
  p.H.setIdentity();
  p.f = Vector::Constant(3, -1.0 / number);
  p.w = Vector::Zero(3);
  p.mu = Vector::Constant(1, 0.5);
  return frame;
}

inline RecordingHeader test_header() { return {"test_scene", "[scene]\nname = \"test\"\n", "0123abc", 42}; }

}  // namespace signorini
