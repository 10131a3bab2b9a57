#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/parallel.h"
#include "krylov/saddle_vector.h"
#include "linalg/dot.h"

/// A symmetric, indefinite system K y = d as the Krylov methods see it: products with K and P⁻¹, the residual
/// ρ = d − K y, and the step y += α x. The owner keeps y = (v; λ) and may change the system between steps
/// (contacts change their states); then it restarts the method.
///
///     n dofs      v  [m/s]      ρ_v  [kg m/s]
///     3m rows     λ  [N·s]      ρ_c  [m/s]; both 0 in rows that are not active
///
/// Vectors of n dofs are treated in chunks of 512 node blocks, on several threads where there is an arena.
/// Sums are taken per chunk and added in order, so the bits do not depend on the number of threads. A method
/// passes its own loop over a chunk (`ChunkBody`) to the product or step, which calls it while the chunk is
/// in cache.
namespace signorini {

class KrylovSystem {
 public:
  /// body(chunk, begin, end) over dofs [begin, end).
  using ChunkBody = FunctionRef<void(std::size_t, std::size_t, std::size_t)>;
  /// Node blocks of three dofs per chunk: the vectors of an iteration stay in the second-level cache.
  static constexpr std::size_t kChunkNodes = 512;
  static constexpr std::size_t kChunk = 3 * kChunkNodes;

  virtual ~KrylovSystem() = default;

  virtual std::size_t dofs() const = 0;
  virtual std::size_t rows() const = 0;
  /// K x.
  virtual void apply(const SaddleVector& x, SaddleImage& Kx, ChunkBody then) = 0;
  void apply(const SaddleVector& x, SaddleImage& Kx) {
    apply(x, Kx, [](std::size_t, std::size_t, std::size_t) {});
  }
  /// ρ.
  virtual void residual_vector(SaddleVector& out) const = 0;
  /// y += α x and what belongs to y: ρ −= α K x.
  virtual void move(double alpha, const SaddleVector& x, const SaddleImage& Kx, ChunkBody then) = 0;

  /// P⁻¹ x in two parts. First, into `coupled`, the entries that depend on other chunks: contact rows and the
  /// dofs that contacts touch. Then, chunk by chunk, the dofs [begin, end) into out[0 … end − begin).
  virtual void precondition_coupled(const SaddleVector& x, SaddleVector& coupled, bool full) = 0;
  virtual void precondition_chunk(std::size_t chunk, const SaddleVector& x, const SaddleVector& coupled,
                                  std::size_t begin, std::size_t end, double* out) const = 0;
  /// out = P⁻¹ x; x and out must differ.
  void precondition(const SaddleVector& x, SaddleVector& out, bool full) {
    precondition_coupled(x, out, full);
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      std::array<double, kChunk> part;
      precondition_chunk(chunk, x, out, begin, end, part.data());
      std::copy_n(part.data(), end - begin, out.v.data() + begin);
    });
  }

  void each_chunk(ChunkBody body) const {
    const std::size_t n = dofs();
    for_each_task(partial.size() > 1 ? arena : nullptr, partial.size(),
                  [&](std::size_t chunk) { body(chunk, kChunk * chunk, std::min(n, kChunk * (chunk + 1))); });
  }
  /// Σ over chunks of partial[.][i], plus the sum over the rows.
  double sum(std::size_t i, double of_rows) const {
    double total = 0.0;
    for (const auto& part : partial) total += part[i];
    return total + of_rows;
  }
  double dot_of(const SaddleVector& a, const SaddleVector& b) {
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk][0] = dot(cut(a.v, begin, end), cut(b.v, begin, end));
    });
    return sum(0, dot(a.c, b.c));
  }

  TaskArena* arena = nullptr;
  std::vector<std::array<double, 3>> partial;  ///< per chunk

 protected:
  void set_chunks(std::size_t n) { partial.assign(std::max<std::size_t>(1, (n + kChunk - 1) / kChunk), {}); }
};

}  // namespace signorini
