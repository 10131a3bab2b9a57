// Cost of a recorded frame: bytes per contact, encoding into a file image, opening a recording (with the
// check in a child process), reading one frame with its checksum and all checks. Nothing here waits for a
// disk.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "contact/planted_problem.h"
#include "record/h5.h"
#include "record/recording_format.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// Explicit frames have a diagonal M, implicit ones 3×3 blocks of springs.
Frame make_frame(int contacts, double stiffness) {
  PlantedOptions options;
  options.contacts = contacts;
  options.regions = 10;
  options.stiffness = stiffness;
  Frame frame;
  frame.id = "000001";
  frame.problem = make_planted_problem(options).problem;
  return frame;
}

double stiffness_of(const benchmark::State& state) { return state.range(1) != 0 ? 100.0 : 0.0; }

void EncodeFrame(benchmark::State& state) {
  const Frame frame = make_frame(static_cast<int>(state.range(0)), stiffness_of(state));
  std::size_t bytes = 0;
  for (auto _ : state) {
    h5::WriteFile out(h5::Format::v18);
    out.put("/steps/000001", frame_tree(frame));
    bytes = out.image().size();
    benchmark::DoNotOptimize(bytes);
  }
  state.counters["bytes_per_contact"] = static_cast<double>(bytes) / static_cast<double>(state.range(0));
}

class Recorded {
 public:
  explicit Recorded(const benchmark::State& state)
      : path_(fs::temp_directory_path() / ("signorini-bench-" + std::to_string(::getpid()) + ".h5")) {
    RecordingWriter writer(path_, RecordingHeader{"bench", "", "", 1}, false);
    for (int k = 0; k < 10; ++k) {
      Frame frame = make_frame(static_cast<int>(state.range(0)), stiffness_of(state));
      frame.id = "00000" + std::to_string(k);
      frame.problem.f *= 1.0 + k;
      writer.append(frame);
    }
    writer.finish();
  }
  ~Recorded() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void OpenRecording(benchmark::State& state) {
  const Recorded file(state);
  for (auto _ : state) benchmark::DoNotOptimize(RecordingReader(file.path()).frames().size());
}

void ReadFrame(benchmark::State& state) {
  const Recorded file(state);
  const RecordingReader reader(file.path());
  for (auto _ : state) benchmark::DoNotOptimize(reader.read("3").problem.mu[0]);
  // Ten frames that differ in f: what repeats is stored once.
  state.counters["packed_bytes_per_contact"] =
      static_cast<double>(fs::file_size(file.path())) / (10.0 * static_cast<double>(state.range(0)));
}

BENCHMARK(EncodeFrame)->ArgsProduct({{100, 1000, 10000}, {0, 1}})->Unit(benchmark::kMillisecond);
BENCHMARK(OpenRecording)->ArgsProduct({{1000}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ReadFrame)->ArgsProduct({{100, 1000, 10000}, {0, 1}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
