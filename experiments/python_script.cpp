#include "python_script.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "commands.h"
#include "configs.h"
#include "interrupt.h"

extern char** environ;

namespace signorini {
namespace {

/// Exit status of a child process.
int run_child(const std::vector<std::string>& command, ChildOutput output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == ChildOutput::standard_error)
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  if (output == ChildOutput::nowhere)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw_input("{}: cannot be started: {}", command[0], std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw_input("{}: cannot be waited for: {}", command[0], std::strerror(errno));
  }
  stop_when_interrupted();
  return WIFEXITED(status) ? WEXITSTATUS(status) : kRunFailed;
}

}  // namespace

std::string script_command(const Program& program, const std::string& name) {
  const std::filesystem::path script = source_folder(program) / "scripts" / name;
  const std::filesystem::path near = script.lexically_relative(std::filesystem::current_path());
  return near.empty() || *near.begin() == ".." ? script.string() : near.string();
}

int run_python_script(const Program& program, const std::string& name,
                      const std::vector<std::string>& arguments, ChildOutput output) {
  const std::filesystem::path script = source_folder(program) / "scripts" / name;
  std::error_code error;
  if (!std::filesystem::exists(script, error))
    throw_input("{}: the script is missing; it comes with the program, in the folder beside configs",
                script.string());
  // Debian's own interpreter has h5py, pandas and matplotlib; another one first on the PATH often has not
  const bool system_python = access("/usr/bin/python3", X_OK) == 0;
  std::vector<std::string> command{system_python ? "/usr/bin/python3" : "python3", script.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_child(command, output);
}

}  // namespace signorini
