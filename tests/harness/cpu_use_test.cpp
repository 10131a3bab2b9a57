#include "harness/cpu_use.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <functional>
#include <thread>

namespace signorini::cpu_use_test {
namespace {

using Clock = std::chrono::steady_clock;

void spin(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
  }
}

CpuUse use_of(const std::function<void()>& work) {
  const CpuUse before = cpu_use();
  work();
  return cpu_use() - before;
}

/// A child process that spins until it is ended.
pid_t spinning_child() {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) {
    }
  }
  return child;
}

TEST(CpuUse, SleepIsNeitherWorkNorWaitingForAProcessor) {
  const CpuUse use = use_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
  EXPECT_GE(use.wall, 0.1);
  EXPECT_LT(use.cpu,
            0.02);  // reading the files takes 20 µs; 1000 times as much on a busy machine under sanitizers
  EXPECT_GE(use.voluntary, 1);
}

TEST(CpuUse, AProcessorThatIsSharedShowsAsWaiting) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const pid_t child = spinning_child();  // inherits the one processor
  ASSERT_GT(child, 0);
  const CpuUse use = use_of([] { spin(0.5); });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  sched_setaffinity(0, sizeof before, &before);

  // a fair scheduler gives half of the processor to each, less where other programs want it too
  EXPECT_LT(use.cpu_share(), 0.8);
  EXPECT_GT(use.involuntary, 0);
  if (std::isnan(use.waited)) GTEST_SKIP() << "this kernel does not tell how long a thread waited";
  EXPECT_GT(use.waited_share(), 0.2);
  EXPECT_NEAR(use.cpu_share() + use.waited_share(), 1.0,
              0.1);  // one thread that never sleeps: it runs or it waits
}

TEST(CpuUse, TimeOfEndedChildrenIsApart) {
  const CpuUse use = use_of([] {
    const pid_t child = fork();
    if (child == 0) {
      const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 10;
      while (std::clock() < end) {
      }
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  });
  EXPECT_GE(use.children, 0.09);  // 0.1 s of its own, to a tick of 10 ms
  EXPECT_LT(use.cpu, 0.05);
}

}  // namespace
}  // namespace signorini::cpu_use_test
