#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

/// Solvers from outside: a shared library that `signorini solve … --plugin libmine.so` loads. Needs C++17 and
/// nothing else; docs/adding-a-solver.md has a walk through, examples/plugin a complete one.
///
///     namespace {                                     // so that two libraries may use the same names
///     class Mine final : public signorini::plugin::Solver {
///      public:
///       static constexpr signorini::plugin::About kAbout{"mine", "what it does", "where it is from"};
///       explicit Mine(const signorini::plugin::Options& options);
///       void prepare(const signorini::plugin::Problem& problem) override;
///       signorini::plugin::Step iterate(double* r) override;
///     };
///     }
///     SIGNORINI_SOLVER_PLUGIN(Mine)                   // or several: SIGNORINI_SOLVER_PLUGIN(Mine, Other)
///
/// The program keeps everything else: when to stop, the best iterate, time limit, cancellation, traces, the error
/// that is measured, regions. Of a solver it makes as many objects as it needs, one for every region. An object
/// is used by one thread at a time, different ones by several threads at once, their constructors too: no
/// variables outside of the object. `prepare` may be called again, with another problem, and after it `start`
/// and `iterate` any number of times. The same r must give the same bits.
///
/// Whatever a solver throws ends with one line: from the constructor (options that make no sense) before any
/// run; `Unsupported` from `prepare` as a row with status unsupported; all else as a row with status failed.
/// Nothing is thrown across the boundary. Values of r that are not finite end a run as diverged.
///
/// Units are SI; n dofs, m contacts, three rows per contact in the order normal, tangent 1, tangent 2:
///
///     M v = H r + f,  u = Hᵀ v + w,  u = W r + q            M kg, W 1/kg, f and r N·s, u v w q m/s
///
/// The law bounds the tangential impulse by μ r_N: its length (cone) or both its components (pyramid).
///
/// Compatibility: libraries export SIGNORINI_PLUGIN_VERSION and the sizes of what crosses the boundary, which are
/// plain structs. Within a version structs only grow at their ends; a library of another version, or of a later
/// header, is refused.

#ifndef SIGNORINI_PLUGIN_VERSION
#define SIGNORINI_PLUGIN_VERSION 1
#endif

namespace signorini::plugin {

// --- what a solver is told: valid until the next `prepare` or the end of the object --------------------------

/// What `prepare` is given; what is not asked for is null, with zero rows.
enum class Needs : std::int32_t {
  delassus,  ///< W and q; assembled by the program where a file holds M and H
  mass,      ///< M, H, f, w, dt, warm_start; problems without M are unsupported
  both       ///< all of them
};
enum class Law : std::int32_t { cone, pyramid };

/// Compressed sparse rows; columns ascend within a row.
struct Matrix {
  std::int32_t rows;
  std::int32_t columns;
  const std::int32_t* row_begin;  ///< rows + 1
  const std::int32_t* column;
  const double* value;
};

/// The same of 3×3 blocks: 9 values each, column by column. `rows` and `columns` count blocks.
struct BlockMatrix {
  std::int32_t rows;
  std::int32_t columns;
  const std::int32_t* row_begin;  ///< rows + 1
  const std::int32_t* column;
  const double* value;
};

struct Problem {
  std::uint32_t size;  ///< of this struct in the program, bytes
  Law law;
  std::int32_t contacts;  ///< m
  std::int32_t dofs;      ///< n
  const double* mu;       ///< m friction coefficients
  BlockMatrix W;          ///< m×m blocks; every diagonal block is there; not always symmetric
  const double* q;        ///< 3m
  Matrix M;               ///< n×n, symmetric, both triangles
  Matrix H_transposed;    ///< 3m×n: a row for every row of u
  const double* f;        ///< n
  const double* w;        ///< 3m
  double dt;              ///< s; 0: unknown
  const double*
      warm_start;  ///< 3m impulses of the step before, or null; r starts there where the user asks for it
  void (*times_W)(const Problem* problem, const double* r, double* u);
  const void* of_program;

  /// u = W r (3m each), by the program's own kernel: the one that its solvers use.
  void multiply_W(const double* r, double* u) const { times_W(this, r, u); }
};

struct Start {
  std::uint32_t size;
  double tolerance;       ///< m/s: the error that is asked for, for loops inside of an iteration
  double velocity_scale;  ///< U in m/s; residuals are errors divided by it
};

// --- what a solver tells ------------------------------------------------------------------------------------

/// Of an iteration.
struct Step {
  std::uint32_t size = sizeof(Step);
  std::int32_t products = 1;   ///< with the whole of W or M
  std::int32_t sweeps = 0;     ///< over all contacts
  std::int32_t exhausted = 0;  ///< 1: the next iteration would change nothing but rounding
  /// Of the error in m/s, at no cost. The program measures the exact error, which costs a product with W or a
  /// solve with M, where the estimate promises that it is small enough. NaN: no estimate, measured every time.
  double estimate = std::numeric_limits<double>::quiet_NaN();
};

/// Which r an estimate is of: the one after the iteration, or the one before (the correction that it made).
enum class Tells : std::int32_t { present, last };

enum class OptionType : std::int32_t { flag, integer, number, text };

struct Option {
  const char* key;
  const char* value;    ///< default, as it is written on the command line
  const char* help;     ///< one line
  const char* choices;  ///< of a text: "first|second"; null: any
  OptionType type;

  static constexpr Option flag(const char* key, const char* value, const char* help) {
    return {key, value, help, nullptr, OptionType::flag};
  }
  static constexpr Option integer(const char* key, const char* value, const char* help) {
    return {key, value, help, nullptr, OptionType::integer};
  }
  static constexpr Option number(const char* key, const char* value, const char* help) {
    return {key, value, help, nullptr, OptionType::number};
  }
  static constexpr Option text(const char* key, const char* value, const char* help,
                               const char* choices = nullptr) {
    return {key, value, help, choices, OptionType::text};
  }
};

struct OptionValue {
  const char* key;
  const char* text;  ///< of texts; valid while the constructor runs
  double number;     ///< of the others; flags are 0 or 1
};

/// `kAbout` of a solver. It names itself in small letters, digits and hyphens.
struct About {
  const char* name;
  const char* summary;
  const char* source;  ///< paper, section
  Needs needs = Needs::delassus;
  Tells tells = Tells::present;
  bool cone = true, pyramid = true;  ///< laws that it serves
};

/// The options of an object, all of them, checked by type and choices.
class Options {
 public:
  Options(const OptionValue* values, std::uint32_t count) : values_(values), count_(count) {}
  bool flag(const char* key) const { return find(key).number != 0.0; }
  int integer(const char* key) const { return static_cast<int>(find(key).number); }
  double number(const char* key) const { return find(key).number; }
  std::string text(const char* key) const { return find(key).text; }

 private:
  const OptionValue& find(const char* key) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (std::strcmp(values_[i].key, key) == 0) return values_[i];
    }
    throw std::logic_error(std::string("asks for option '") + key + "', which kOptions does not name");
  }
  const OptionValue* values_;
  std::uint32_t count_;
};

/// Thrown by `prepare`: the problem is one that the solver cannot take.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What solvers derive from. They bring `static constexpr About kAbout` and a constructor from `Options`.
class Solver {
 public:
  static constexpr std::array<Option, 0>
      kOptions{};  ///< static constexpr std::array kOptions{Option::number(…), …};

  virtual ~Solver() = default;
  /// Set-up; timed apart.
  virtual void prepare(const Problem& problem) = 0;
  /// Begins a solve from r (3m, finite), which may be changed.
  virtual void start(double* r, const Start& start) {
    (void)r;
    (void)start;
  }
  /// One iteration: r becomes the next iterate. Should allocate nothing.
  virtual Step iterate(double* r) = 0;
};

// --- the boundary -------------------------------------------------------------------------------------------

struct Failure {
  char text[256];  ///< one line, ends with a zero
};
enum class Outcome : std::int32_t { good, unsupported, failed };

struct Entry {
  std::uint32_t size;
  Needs needs;
  Tells tells;
  std::int32_t cone, pyramid;
  std::uint32_t option_count;
  const Option* options;
  const char *name, *summary, *source;
  Outcome (*create)(const OptionValue* values, std::uint32_t count, void** solver, Failure* failure);
  void (*destroy)(void* solver);
  Outcome (*prepare)(void* solver, const Problem* problem, Failure* failure);
  Outcome (*start)(void* solver, double* r, const Start* start, Failure* failure);
  Outcome (*iterate)(void* solver, double* r, Step* step, Failure* failure);  ///< step->size: room for it
  /// Called in the place of `create`, with `context`, where it is not null: for other languages, whose solvers share
  /// one function.
  Outcome (*create_for)(const void* context, const OptionValue* values, std::uint32_t count, void** solver,
                        Failure* failure);
  const void* context;
};

/// What `signorini_solver_plugin()` returns. `version` comes first in every version.
struct Library {
  std::int32_t version;
  std::uint32_t library_size, entry_size, option_size, value_size, problem_size, start_size, step_size,
      failure_size;
  std::uint32_t count;
  const Entry* entries;
};

namespace detail {

inline void tell(Failure* failure, const char* text) {
  std::strncpy(failure->text, text, sizeof failure->text - 1);
  failure->text[sizeof failure->text - 1] = '\0';
}

template <class Body>
Outcome guarded(Failure* failure, Body&& body) noexcept {
  try {
    body();
    return Outcome::good;
  } catch (const Unsupported& error) {
    tell(failure, error.what());
    return Outcome::unsupported;
  } catch (const std::exception& error) {
    tell(failure, error.what());
  } catch (...) {
    tell(failure, "threw something that is no std::exception");
  }
  return Outcome::failed;
}

template <class S>
struct Bridge {
  static Outcome create(const OptionValue* values, std::uint32_t count, void** solver, Failure* failure) {
    return guarded(failure, [&] { *solver = static_cast<Solver*>(new S(Options(values, count))); });
  }
  static void destroy(void* solver) { delete static_cast<Solver*>(solver); }
  static Outcome prepare(void* solver, const Problem* problem, Failure* failure) {
    return guarded(failure, [&] { static_cast<Solver*>(solver)->prepare(*problem); });
  }
  static Outcome start(void* solver, double* r, const Start* start, Failure* failure) {
    return guarded(failure, [&] { static_cast<Solver*>(solver)->start(r, *start); });
  }
  static Outcome iterate(void* solver, double* r, Step* out, Failure* failure) {
    return guarded(failure, [&] {
      const Step step = static_cast<Solver*>(solver)->iterate(r);
      std::memcpy(static_cast<void*>(out), &step, out->size < sizeof step ? out->size : sizeof step);
    });
  }
  static Entry entry() {
    const About& about = S::kAbout;
    return {sizeof(Entry),
            about.needs,
            about.tells,
            about.cone ? 1 : 0,
            about.pyramid ? 1 : 0,
            static_cast<std::uint32_t>(S::kOptions.size()),
            S::kOptions.data(),
            about.name,
            about.summary,
            about.source,
            create,
            destroy,
            prepare,
            start,
            iterate,
            nullptr,
            nullptr};
  }
};

template <class... Solvers>
std::array<Entry, sizeof...(Solvers)> entries() {
  return {Bridge<Solvers>::entry()...};
}

template <std::size_t count>
Library library(const std::array<Entry, count>& entries) {
  return {SIGNORINI_PLUGIN_VERSION, sizeof(Library), sizeof(Entry), sizeof(Option),
          sizeof(OptionValue),      sizeof(Problem), sizeof(Start), sizeof(Step),
          sizeof(Failure),          count,           entries.data()};
}

}  // namespace detail

}  // namespace signorini::plugin

/// Once in a library, at the end: the solvers that it brings.
#define SIGNORINI_SOLVER_PLUGIN(...)                                                                   \
  extern "C" __attribute__((visibility("default"))) const ::signorini::plugin::Library*                \
  signorini_solver_plugin() {                                                                          \
    static const auto entries = ::signorini::plugin::detail::entries<__VA_ARGS__>();                   \
    static const ::signorini::plugin::Library library = ::signorini::plugin::detail::library(entries); \
    return &library;                                                                                   \
  }
