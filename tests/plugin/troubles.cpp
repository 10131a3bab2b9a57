// A library of solvers with which something is wrong, for plugin_test.py.
#include <signorini/solver_plugin.h>

#include <limits>

namespace {

using namespace signorini::plugin;

/// Throws at the moment of its option.
class Thrower final : public Solver {
 public:
  static constexpr About kAbout{"thrower", "throws", "tests/plugin"};
  static constexpr std::array kOptions{
      Option::text("when", "iterating", "the moment", "making|preparing|refusing|iterating")};
  explicit Thrower(const Options& options) : when_(options.text("when")) {
    if (when_ == "making") throw std::runtime_error("cannot be made");
  }
  void prepare(const Problem& problem) override {
    if (when_ == "preparing") throw std::runtime_error("set-up broke down");
    if (when_ == "refusing" && problem.contacts > 0) throw Unsupported("takes no contacts");
  }
  Step iterate(double*) override { throw std::runtime_error("two\nlines"); }

 private:
  std::string when_;
};

class Nan final : public Solver {
 public:
  static constexpr About kAbout{"nan", "answers with NaN", "tests/plugin"};
  explicit Nan(const Options&) {}
  void prepare(const Problem&) override {}
  Step iterate(double* r) override {
    r[0] = std::numeric_limits<double>::quiet_NaN();
    return {};
  }
};

}  // namespace

SIGNORINI_SOLVER_PLUGIN(Thrower, Nan)
