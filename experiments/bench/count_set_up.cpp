// Why a set-up grows faster than the contacts: page faults, and instructions under callgrind, of set-ups of one island of
// a net or pile at several sizes (signorini_scale's problems).
//
//   count_set_up [--solver NAME] [--set KEY=VALUE]... [--of nets|spheres|bricks] [--threads N] [--keep] CONTACTS...
//
// A line per size: contacts, then of a first set-up of this problem and of a second one by a fresh solver: minor page faults
// (pages of 4 kB that the system hands out zeroed) per 1,000 contacts, and CPU time of the program and of the system.
//
// --keep: malloc keeps what is given back (no mmap for large blocks, no trimming), so the second set-up finds its memory mapped.
// Without it large blocks go back to the system and come anew. The difference between the two is what page faults cost.
//
// Instructions and cache misses alone, one size a run:
//   valgrind --tool=callgrind --cache-sim=yes --toggle-collect='*set_up_once*' count_set_up … CONTACTS
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "guarded.h"
#include "solvers/region_solver.h"

namespace signorini::bench {
namespace {

struct Settings {
  std::string solver = "nncg", of = "nets";
  OptionMap options;
  int threads = 1;
  bool keep = false;
  std::vector<int> contacts;
};

struct Count {
  long faults = 0;
  double user = 0.0, system = 0.0;  ///< s of CPU time
};

Count used() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.faults = use.ru_minflt, .user = seconds(use.ru_utime), .system = seconds(use.ru_stime)};
}

/// What callgrind is told to collect.
[[gnu::noinline]] void set_up_once(RegionSolver& solver, const ContactProblem& problem) {
  solver.prepare(problem);
}

Count set_up(const Settings& settings, const ContactProblem& problem) {
  const auto solver =
      make_region_solver(settings.solver, settings.options, {RegionMode::islands, settings.threads});
  const Count before = used();
  set_up_once(*solver, problem);
  const Count after = used();
  return {.faults = after.faults - before.faults,
          .user = after.user - before.user,
          .system = after.system - before.system};
}

ContactProblem make_problem(const Settings& settings, int contacts) {
  if (settings.of == "nets")
    return make_planted_problem({.contacts = contacts, .sharing = 0.3, .seed = 1}).problem;
  PileOptions options{.contacts = contacts};
  if (settings.of == "bricks") {
    options.of = PileKind::bricks;
    options.left_out = 0.3;
    options.mu = 0.5;
    options.tilt_deg = 10.0;
  } else if (settings.of != "spheres") {
    throw_usage("count_set_up: --of {}: it is nets, spheres or bricks", settings.of);
  }
  return make_pile_problem(options);
}

int positive(const std::string& text) {
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (number < 1 || number > INT_MAX || *end != '\0')
    throw_usage("count_set_up: {} is not a positive whole number", text);
  return static_cast<int>(number);
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw_usage("count_set_up: {} needs a value", word);
      return argv[++i];
    };
    if (word == "--solver") {
      settings.solver = value();
    } else if (word == "--of") {
      settings.of = value();
    } else if (word == "--threads") {
      settings.threads = positive(value());
    } else if (word == "--keep") {
      settings.keep = true;
    } else if (word == "--set") {
      const std::string pair = value();
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos) throw_usage("count_set_up: --set {} is not KEY=VALUE", pair);
      settings.options[pair.substr(0, equals)] = pair.substr(equals + 1);
    } else if (word.starts_with("-")) {
      throw_usage("count_set_up: {} is no option; the head of count_set_up.cpp names them", word);
    } else {
      settings.contacts.push_back(positive(word));
    }
  }
  if (settings.contacts.empty()) throw_usage("count_set_up: how many CONTACTS?");
  return settings;
}

void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

int run(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  if (settings.keep) keep_memory();
  std::vector<double> m;
  std::vector<Count> first, second;
  for (const int contacts : settings.contacts) {
    const ContactProblem problem = make_problem(settings, contacts);
    m.push_back(static_cast<double>(problem.contacts()));
    first.push_back(set_up(settings, problem));
    second.push_back(set_up(settings, problem));
    fmt::print("contacts {:8}", problem.contacts());
    for (const Count& count : {first.back(), second.back()})
      fmt::print("   {:6.1f} faults per 1,000, user {:.3f} s, system {:.3f} s",
                 1000.0 * static_cast<double>(count.faults) / m.back(), count.user, count.system);
    fmt::print("\n");
  }
  return 0;
}

}  // namespace
}  // namespace signorini::bench

int main(int argc, char** argv) { return signorini::bench::guarded(signorini::bench::run, argc, argv); }
