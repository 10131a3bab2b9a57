// usage: fuzz_seeds FOLDER: small valid inputs for every fuzz target, in FOLDER/<target without fuzz_>, one per form that its
// readers know.
#include <filesystem>
#include <fstream>

#include "contact/planar_problem.h"
#include "geometry/mesh_writers.h"
#include "harness/run_record.h"
#include "record/raw_npz.h"
#include "record/raw_problem.h"
#include "tree_bytes.h"

namespace {

using namespace signorini;

ContactProblem small_problem(bool coupled, bool in_blocks) {
  ContactProblem p;
  const Index n = in_blocks ? 6 : 4;
  std::vector<Eigen::Triplet<double, Index>> mass, rows;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i == j || (coupled && in_blocks)) mass.emplace_back(i, j, i == j ? 2.0 : 0.125);
    }
  }
  if (coupled && !in_blocks) mass.emplace_back(0, 3, 0.0);
  for (Index i = 0; i < (in_blocks ? 3 : 2); ++i) {
    for (Index k = 0; k < 3; ++k) rows.emplace_back(i, k, i == k ? 1.0 : 0.0);
  }
  p.M.resize(n, n);
  p.M.setFromTriplets(mass.begin(), mass.end());
  p.H.resize(n, 3);
  p.H.setFromTriplets(rows.begin(), rows.end());
  p.f = Vector::Constant(n, -1.0);
  p.w = Vector::Zero(3);
  p.mu = Vector::Constant(1, 0.5);
  return p;
}

void write(const std::filesystem::path& folder, const std::string& name, std::uint8_t mode,
           const RawTree& tree, const RawTree& extras = {}) {
  std::vector<std::uint8_t> bytes = {mode};
  append_bytes(tree, bytes);
  append_bytes(extras, bytes);
  std::ofstream out(folder / name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_npz_seed(const std::filesystem::path& folder, const std::string& name, const FclibFile& file) {
  const std::vector<std::byte> bytes = npz_bytes(encode_npz(file), name);
  std::ofstream out(folder / name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_bytes(const std::filesystem::path& path, std::uint8_t first, const std::string& rest) {
  std::ofstream(path, std::ios::binary) << static_cast<char>(first) << rest;
}

/// The first byte is what fuzz_meshes chooses the format by.
void write_meshes(const std::filesystem::path& folder) {
  const TetMesh tets{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, {{0, 1, 2, 3}, {1, 2, 3, 4}}};
  const TriangleMesh surface{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                             {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  write_bytes(folder / "msh2", 0, test::msh_2(tets));
  write_bytes(folder / "msh4", 0, test::msh_4(tets));
  for (const bool binary : {false, true}) {
    for (const int version : {3, 5})
      write_bytes(folder / fmt::format("vtk{}-{}", version, binary), 1, test::vtk(tets, version, binary));
    write_bytes(folder / fmt::format("stl-{}", binary), 4, test::stl(surface, binary));
  }
  write_bytes(folder / "obj", 2, test::obj(surface));
  for (const char* format : {"ascii", "binary_little_endian", "binary_big_endian"})
    write_bytes(folder / fmt::format("ply-{}", format), 3, test::ply(surface, format));
}

/// With the header as part of the file (0), and without (1).
void write_tables(const std::filesystem::path& folder) {
  RunRecord row;
  row.file = "a \"quoted\", name.h5";
  row.solver = "pgs";
  const std::string rows = run_record_row(row) + "\n" + run_record_row({}) + "\n";
  write_bytes(folder / "whole", 0, run_record_header() + "\n" + rows);
  write_bytes(folder / "rows", 1, rows);
}

void write_campaign_files(const std::filesystem::path& folder) {
  write_bytes(folder / "plan", 2,
              "size = \"quick\"\nprogram = \"0123\"\nunit = \"snapshot\"\nthreads = 1\n"
              "experiments = [{ id = \"a\", config = \"configs/a/run.toml\" }]\n");
  write_bytes(folder / "recordings", 3, "recording,scene,seconds,basis\nrings-quick.h5,rings,1.5,counts\n");
  write_bytes(folder / "cells", 4,
              "experiment,file,step,contacts,solver,label,options,tolerance,regions,threads,seconds,basis\n"
              "a,rings-quick.h5,000120,17,pgs,PGS,law=cone,1e-06,none,1,0.5,measured\n");
}

/// A mass point on the floor of the plane, with M or with W.
ContactProblem planar_problem(bool dual) {
  ContactProblem p;
  SparseRows identity(2, 2);
  identity.setIdentity();
  p.mu = Vector::Constant(1, 0.5);
  p.warm_start = Vector::Ones(2);
  if (dual) {
    p.W = identity;
    p.q = Vector::Constant(2, -1.0);
  } else {
    p.M = p.H = identity;
    p.f = Vector::Constant(2, -1.0);
    p.w = Vector::Zero(2);
  }
  return to_space(std::move(p));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path all = arguments[1], folder = all / "raw_problem", archives = all / "npz";
  for (const char* name : {"raw_problem", "npz", "meshes", "runs", "config"})
    std::filesystem::create_directories(all / name);
  write_meshes(all / "meshes");
  write_tables(all / "runs");
  write_campaign_files(all / "config");
  for (const bool dual : {false, true}) {
    Frame frame;
    frame.id = "000001";
    frame.problem = planar_problem(dual);
    write(folder, dual ? "planar-dual" : "planar-plain", 0, encode_frame(frame));
    const Vector v = dual ? Vector() : Vector::Ones(5);
    const FclibFile file{frame.problem, {}, FclibSolution{Vector::Zero(3), Vector::Zero(3), v}};
    write(folder, dual ? "planar-local" : "planar-global", 1, encode_fclib(file),
          encode_fclib_extras(file.problem));
    write_npz_seed(archives, dual ? "planar-local" : "planar-global", file);
  }
  for (const bool coupled : {false, true}) {
    for (const bool in_blocks : {false, true}) {
      Frame frame;
      frame.id = "000001";
      frame.problem = small_problem(coupled, in_blocks);
      const std::string name =
          std::string(coupled ? "coupled" : "diagonal") + (in_blocks ? "-blocks" : "-scalar");
      write(folder, name + "-plain", 0, encode_frame(frame));
      ContactProblem& p = frame.problem;
      p.dt = 1e-3;
      p.gap = Vector::Constant(1, 1e-4);
      p.frame.resize(1, 9);
      p.frame << 1, 0, 0, 0, 1, 0, 0, 0, 1;
      p.position = Matrix::Zero(1, 3);
      p.points.resize(1, 4);
      p.points << 0, 1, -1, -1;
      p.weights.resize(1, 4);
      p.weights << 1, -1, 0, 0;
      p.bodies.resize(1, 2);
      p.bodies << 0, -1;
      p.body_dofs = {0, p.dofs()};
      p.features.resize(p.contacts(), 2);
      for (Index k = 0; k < p.contacts(); ++k)
        p.features.row(k) << (k % 2 == 0 ? k : -1 - k), (k % 2 == 0 ? 7 : -9);
      for (Index i = 0; i < p.dofs() / p.node_size(); ++i) p.node_numbers.push_back(2 * i + 1);
      p.warm_start = Vector::Ones(3);
      p.v_minus = Vector::Constant(p.dofs(), 0.5);
      p.start_states = {in_blocks ? FrictionState::sliding : FrictionState::unknown};
      p.start_bounds = Vector::Constant(1, 0.5);
      frame.geometry = std::make_unique<FrameGeometry>();
      frame.geometry->vertices.setZero(3, 3);
      frame.geometry->triangles.resize(1, 3);
      frame.geometry->triangles << 0, 1, 2;
      frame.geometry->triangle_body = {0};
      frame.geometry->rest.setZero(3, 3);
      frame.impulse = Vector::Ones(3);
      write(folder, name + "-rich", 0, encode_frame(frame));
      FclibFile file{
          frame.problem, {"title", "text", "math"}, FclibSolution{Vector::Ones(3), Vector::Ones(3), p.f}};
      write(folder, name + "-global", 1, encode_fclib(file), encode_fclib_extras(file.problem));
      write_npz_seed(archives, name + "-global", file);
      Matrix dense = Matrix::Identity(3, 3);
      if (coupled) dense(0, 1) = 0.5;
      ContactProblem dual;
      dual.W = dense.sparseView();
      dual.q = Vector::Constant(3, -1.0);
      dual.mu = p.mu;
      frame.problem = dual;
      frame.impulse.resize(0);
      write(folder, name + "-dual", 0, encode_frame(frame));
      write(folder, name + "-local", 1, encode_fclib({dual, {}, {}}));
      write_npz_seed(archives, name + "-local", {dual, {}, {}});
    }
  }
  return 0;
}
