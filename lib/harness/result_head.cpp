#include "harness/result_head.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace signorini {
namespace {

constexpr std::string_view kSize = "# size: ", kProgram = "# program: ", kExperiment = "# experiment: ",
                           kInput = "# input: ";

/// The next line of `text` without `start`; false, and nothing is taken, when it starts otherwise.
bool take(std::string_view& text, std::string_view start, std::string& rest) {
  if (!text.starts_with(start)) return false;
  const std::size_t end = std::min(text.find('\n'), text.size());
  rest = text.substr(start.size(), end - start.size());
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

}  // namespace

std::string experiment_digest(const Experiment& experiment) {
  return digest_text(digest_of(experiment.content));
}

std::string ResultHead::text() const {
  std::string text =
      fmt::format("{}{}\n{}{}\n{}{}\n", kSize, size, kProgram, program, kExperiment, experiment);
  for (const std::string& input : inputs) text += fmt::format("{}{}\n", kInput, input);
  return text;
}

ResultHead ResultHead::of(const std::string& text) {
  ResultHead head;
  std::string_view left = text;
  take(left, kSize, head.size);
  take(left, kProgram, head.program);
  take(left, kExperiment, head.experiment);
  for (std::string input; take(left, kInput, input);) head.inputs.push_back(input);
  return head;
}

bool ResultHead::equals_but_for_inputs(const ResultHead& other) const {
  return size == other.size && program == other.program && experiment == other.experiment;
}

std::string ResultHead::difference(const ResultHead& now) const {
  const auto another = [](const char* what, const std::string& there, const std::string& here) {
    return fmt::format("another {} ({} there, {} now)", what, there, here);
  };
  if (size != now.size) return another("size", size, now.size);
  if (program != now.program) return another("program", program, now.program);
  return experiment != now.experiment ? "another version of the experiment file"
                                      : "other recordings or problem files";
}

}  // namespace signorini
