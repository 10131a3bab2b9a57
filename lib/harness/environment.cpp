#include "harness/environment.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/available_cpus.h"
#include "base/check.h"
#include "base/digest.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "base/system_file.h"
#include "base/text.h"
#include "linalg/factor_library.h"

namespace signorini {
namespace {

using Json = nlohmann::ordered_json;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string load_now() {
  std::array<double, 3> load{};
  if (getloadavg(load.data(), 3) != 3) return "unavailable";
  return fmt::format("{:.2f} {:.2f} {:.2f}", load[0], load[1], load[2]);
}

std::string first_line(const std::filesystem::path& path) {
  const std::string text = system_file(path);
  return std::string(trim(text.substr(0, text.find('\n'))));
}

std::string cpu_model() {
  for (const std::string& line : split(system_file("/proc/cpuinfo"), '\n')) {
    if (line.rfind("model name", 0) == 0) return std::string(trim(line.substr(line.find(':') + 1)));
  }
  return "unavailable";
}

std::string instruction_sets() {
#if defined(__x86_64__)
  std::string text = "x86-64";
  if (__builtin_cpu_supports("avx")) text += " avx";
  if (__builtin_cpu_supports("avx2")) text += " avx2";
  if (__builtin_cpu_supports("fma")) text += " fma";
  if (__builtin_cpu_supports("avx512f")) text += " avx512f";
  return text;
#else
  utsname name{};
  uname(&name);
  return name.machine;
#endif
}

Json caches() {
  Json list = Json::array();
  for (int i = 0; i < 8; ++i) {
    const std::filesystem::path folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", i);
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) break;
    list.push_back(fmt::format("L{} {} {}", first_line(folder / "level"), first_line(folder / "type"),
                               first_line(folder / "size")));
  }
  return list;
}

std::string affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "unavailable";
  std::string text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
  }
  return text;
}

/// What OpenBLAS says of itself, e.g. "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64"; empty: it is another BLAS.
std::string openblas_config(const char* file) {
  using Config = const char* (*)();
  void* const library = dlopen(file, RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return "";
  const auto config = reinterpret_cast<Config>(dlsym(library, "openblas_get_config"));
  std::string text = config == nullptr ? "" : config();
  dlclose(library);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The BLAS that the factors of bodies use (CHOLMOD): their bits and times depend on it. "reference" is Netlib's in Debian's folder blas.
std::string blas_in_use() {
  Dl_info found{};
  void* const product = dlsym(RTLD_DEFAULT, "dgemm_");
  if (product == nullptr || dladdr(product, &found) == 0 || found.dli_fname == nullptr) return "none";
  if (const std::string config = openblas_config(found.dli_fname); !config.empty()) return config;
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(found.dli_fname, error);
  if (error) file = found.dli_fname;
  return (file.parent_path().filename() == "blas" ? "reference, " : "") + file.filename().string();
}

/// A digest of the host name: tells whether two results come from one machine, without its name.
std::string host_digest() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unavailable";
  return digest_text(digest_of(name.data()));
}

Json build_object() {
  const BuildFacts& facts = build_facts();
  Json libraries = Json::object();
  for (const auto& [name, version] : facts.libraries) libraries[name] = version;
  return {{"version", facts.version},       {"git", facts.git},
          {"compiler", facts.compiler},     {"flags", facts.flags},
          {"build_type", facts.build_type}, {"sanitizers", facts.sanitizers},
          {"libraries", libraries}};
}

int remembered_threads = 0;

Json machine_object() {
  utsname name{};
  uname(&name);
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return {{"cpu", cpu_model()},
          {"instruction_sets", instruction_sets()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"usable_threads", remembered_threads > 0 ? remembered_threads : hardware_threads()},
          {"available_cpus", available_cpus().count},
          {"affinity", affinity()},
          {"caches", caches()},
          {"blas", blas_in_use()},
          {"kernels", rounding_name()},
          {"governor", governor.empty() ? "unavailable" : governor},
          {"kernel", fmt::format("{} {}", name.sysname, name.release)},
          {"host_digest", host_digest()}};
}

/// Rounded to µs; null where the system does not tell.
Json seconds_object(double seconds) {
  return std::isfinite(seconds) ? Json(std::round(1e6 * seconds) / 1e6) : Json();
}

Json use_object(const CpuUse& use) {
  return {{"wall_seconds", seconds_object(use.wall)},
          {"cpu_seconds", seconds_object(use.cpu)},
          {"children_cpu_seconds", seconds_object(use.children)},
          {"waited_seconds", seconds_object(use.waited)},
          {"others_cpu_seconds", seconds_object(use.others)},
          {"voluntary_switches", use.voluntary},
          {"involuntary_switches", use.involuntary},
          {"usable_cpus", hardware_threads()}};
}

}  // namespace

void remember_usable_threads() { remembered_threads = cpus_in_affinity(); }

std::string machine_kind(std::string_view env_json) {
  const Json env = Json::parse(env_json, nullptr, false);
  if (!env.is_object() || !env.contains("machine") || !env["machine"].is_object()) return "unknown";
  std::string kind;
  for (const char* key : {"cpu", "instruction_sets", "cores", "usable_threads", "caches"}) {
    const Json value = env["machine"].value(key, Json());
    kind += fmt::format("{}{} {}", kind.empty() ? "" : "; ", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return kind;
}

std::string rounding_kind(std::string_view env_json) {
  const Json env = Json::parse(env_json, nullptr, false);
  const Json machine = env.is_object() ? env.value("machine", Json()) : Json();
  if (!machine.is_object()) return "unknown";
  return fmt::format("{} kernels, BLAS {}", machine.value("kernels", "unknown"),
                     machine.value("blas", "unknown"));
}

double wall_seconds(std::string_view env_json) {
  const Json env = Json::parse(env_json, nullptr, false);
  if (!env.is_object()) return 0.0;
  const auto of_session = [](const Json& session) {
    const Json use = session.is_object() ? session.value("use", Json()) : Json();
    const Json wall = use.is_object() ? use.value("wall_seconds", Json()) : Json();
    return wall.is_number() ? wall.get<double>() : 0.0;
  };
  double seconds = of_session(env);
  const Json earlier = env.value("earlier", Json());
  if (earlier.is_array()) {
    for (const Json& session : earlier) seconds += of_session(session);
  }
  return seconds;
}

bool is_merged(std::string_view env_json) {
  const Json env = Json::parse(env_json, nullptr, false);
  return env.is_object() && env.contains("merged_parts");
}

std::string build_digest(std::string_view env_json) {
  const Json env = Json::parse(env_json, nullptr, false);
  if (!env.is_object()) return "unknown";
  return digest_text(digest_of(env.value("build", Json()).dump()));
}

std::string build_text() {
  const BuildFacts& facts = build_facts();
  std::string text = fmt::format("signorini {}\n", facts.version);
  const auto line = [&text](std::string_view key, std::string_view value) {
    text += fmt::format("  {:<11} {}\n", key, value);
  };
  line("git", facts.git);
  line("compiler", facts.compiler);
  line("flags", facts.flags);
  line("build type", facts.build_type);
  if (!facts.sanitizers.empty()) line("sanitizers", facts.sanitizers);
  std::string libraries;
  for (const auto& [name, version] : facts.libraries) {
    libraries += fmt::format("{}{} {}", libraries.empty() ? "" : ", ", name, version);
  }
  line("libraries", libraries);
  line("BLAS", blas_in_use());
  line("processor", fmt::format("{} ({})", cpu_model(), instruction_sets()));
  text.pop_back();
  return text;
}

std::string build_json() { return build_object().dump(2); }

/// A path that says nothing of the machine: as it is where it is relative, from the working directory where
/// that holds it, else the last two names.
static std::string published_path(const std::filesystem::path& path) {
  if (!path.is_absolute()) return path.string();
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  const auto relative = path.lexically_relative(here);
  if (!error && !relative.empty() && *relative.begin() != "..") return relative.string();
  return (path.parent_path().filename() / path.filename()).string();
}

InputDigest digest_file(const std::filesystem::path& path) {
  const std::optional<FileDigest> digest = digest_of_file(path);
  if (!digest) throw_input("{}: cannot be read", path.string());
  return {published_path(path), digest_text(digest->value), digest->bytes};
}

void Provenance::add_input(const std::filesystem::path& path, const std::filesystem::path& name) {
  inputs_.push_back(digest_file(path));
  inputs_.back().path = published_path(name);
}

Provenance::Provenance(std::vector<std::string> command_line)
    : command_line_(std::move(command_line)),
      started_(utc_now()),
      load_at_start_(load_now()),
      at_start_(cpu_use()) {}

/// A session behind those that it has itself, as "earlier" lists them.
static void append_sessions(Json session, std::vector<std::string>& earlier) {
  if (!session.is_object()) return;
  const auto append = [&earlier](const Json& one) {
    std::string text = one.dump();
    if (std::ranges::find(earlier, text) == earlier.end()) earlier.push_back(std::move(text));
  };
  for (const Json& before : session.value("earlier", Json::array())) append(before);
  session.erase("earlier");
  append(session);
}

void Provenance::set_earlier(std::string_view json) {
  earlier_.clear();
  append_sessions(Json::parse(json, nullptr, false), earlier_);
}

void Provenance::add_earlier(std::string_view json) {
  append_sessions(Json::parse(json, nullptr, false), earlier_);
}

void Provenance::take_over(std::string_view json) {
  const Json session = Json::parse(json, nullptr, false);
  if (session.is_object() && machine_.empty()) machine_ = session.value("machine", Json()).dump();
  append_sessions(session, earlier_);
}

std::string Provenance::json() const {
  Json inputs = Json::array();
  for (const InputDigest& input : inputs_) {
    inputs.push_back({{"path", input.path}, {"xxh3", input.digest}, {"bytes", input.bytes}});
  }
  Json all = {{"program", "signorini"},
              {"command_line", command_line_},
              {"started", started_},
              {"finished", utc_now()},
              {"load_at_start", load_at_start_},
              {"load_at_end", load_now()},
              {"use", use_object(cpu_use() - at_start_)},
              {"build", build_object()},
              {"machine", machine_.empty() ? machine_object() : Json::parse(machine_)},
              {"inputs", inputs}};
  for (const auto& [key, value] : extra_) all[key] = value;
  Json earlier = Json::array();  // a null that becomes an array is left damaged where memory runs out
  for (const std::string& session : earlier_) earlier.push_back(Json::parse(session));
  if (!earlier.empty()) all["earlier"] = std::move(earlier);
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string limit_blas_threads() {
  std::string found;
  for (const char* symbol : {"openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads",
                             "omp_set_num_threads"}) {
    void* address = dlsym(RTLD_DEFAULT, symbol);
    if (address == nullptr) continue;
    reinterpret_cast<void (*)(int)>(address)(1);
    found += fmt::format("{}{}", found.empty() ? "" : ", ",
                         std::string_view(symbol).substr(0, std::string_view(symbol).find('_')));
  }
  return found.empty() ? "none found" : found;
}

}  // namespace signorini
