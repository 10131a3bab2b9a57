// usage: read_problem info|solve FILE …: reads every step as the program does, with the same exit codes. It
// takes the place of the program in builds that have none.
#include <cstdio>

#include "base/check.h"
#include "record/problem_file.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  try {
    const signorini::ProblemFile file(arguments[2]);
    for (const std::string& step : file.steps()) {
      std::printf("%s: %d contacts\n", step.c_str(), file.read(step).contacts());
    }
  } catch (const signorini::InputError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
  return 0;
}
