#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "harness/protocols.h"
#include "python/array_views.h"

namespace signorini::python {

/// A checked problem that Python holds, with a referee that is kept for the next call. Any thread may use it.
class HeldProblem {
 public:
  explicit HeldProblem(ContactProblem problem)
      : problem_(std::make_shared<const ContactProblem>(std::move(problem))) {}

  const ProblemPointer& pointer() const { return problem_; }
  const ContactProblem& get() const { return *problem_; }

  /// Calls `work(referee)`. A referee serves one thread at a time: a second caller gets one of its own.
  template <class Work>
  auto with_referee(Work&& work) {
    std::unique_ptr<Referee> referee;
    {
      const std::scoped_lock lock(mutex_);
      referee = std::move(referee_);
    }
    if (!referee) referee = std::make_unique<Referee>(make_referee(*problem_));
    auto result = work(*referee);
    const std::scoped_lock lock(mutex_);
    referee_ = std::move(referee);
    return result;
  }

 private:
  ProblemPointer problem_;
  std::mutex mutex_;
  std::unique_ptr<Referee> referee_;
};

/// Checked by those who read problems from npz archives (record/raw_npz.h): `arrays` are those of an archive, by name.
/// Floats of 8 bytes, whole numbers of 4, texts; row-major. `where` opens errors. Throws `InputError`.
std::shared_ptr<HeldProblem> problem_from(const py::dict& arrays, const std::string& where,
                                          const std::string& reading);

}  // namespace signorini::python
