#pragma once

#include <filesystem>
#include <optional>
#include <string>

/// How many CPUs this process may use at a time. More threads than that take turns, and their times say nothing
/// about threads.
namespace signorini {

/// What allows the fewest CPUs.
enum class CpuLimit {
  machine,   ///< all CPUs of the machine may be used
  affinity,  ///< sched_setaffinity: taskset, cpusets of containers and batch systems
  quota      ///< CPU time per period of a control group: containers, systemd
};

struct AvailableCpus {
  int count = 1;  ///< ≥ 1; a quota is rounded up
  CpuLimit limit = CpuLimit::machine;
};

/// The smaller of the CPUs in the affinity mask of the calling thread and of the quota of its control groups.
AvailableCpus available_cpus();

/// CPUs in the affinity mask of the calling thread alone; 0 when the system does not tell.
int cpus_in_affinity();

/// "" when this process may use `threads` CPUs, else the reason: "asks for 2 threads, this process may use 1 CPU
/// (affinity)".
std::string thread_refusal(int threads, const AvailableCpus& cpus = available_cpus());

/// The smallest quota, in CPUs, of the control groups that `membership` (the text of /proc/self/cgroup) names, and of
/// all groups above them. `mount` is where the control groups are mounted (/sys/fs/cgroup), version 1 or 2. Nothing
/// where no group has a quota.
std::optional<double> cgroup_quota(const std::filesystem::path& mount, const std::string& membership);

}  // namespace signorini
