// usage: crash_victim FILE.h5 FRAMES: records frames and prints the id of each as soon as it is safe, then
// "done".
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "record/record_test_tools.h"

namespace {

void say(const std::string& line) {
  if (::write(1, line.data(), line.size()) < 0) std::abort();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    signorini::RecordingWriter writer(arguments[1], signorini::test_header(), true);
    for (int k = 1; k <= std::atoi(arguments[2]); ++k) {
      const std::string id = fmt::format("{:06}", k);
      const auto& done = writer.frames();
      if (std::find(done.begin(), done.end(), id) != done.end()) continue;
      writer.append(signorini::small_frame(k));
      say(id + "\n");
    }
    writer.finish();
    say("done\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
  return 0;
}
