#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

/// Commands, options and arguments as plain data, read from the objects that also make --help. Completion scripts
/// and manual pages are written from it.
namespace signorini {

/// What a shell may offer for a value.
struct ValueKind {
  enum class Source {
    anything,  ///< nothing can be offered
    words,     ///< one of `words`
    files,
    folders,
    names,           ///< a name that 'signorini list LIST --names' prints
    names_and_files  ///< such a name, or a file
  };
  Source source = Source::anything;
  std::vector<std::string> words = {};
  std::string list = {};
  bool several = false;  ///< separated by commas
};

struct OptionRow {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument its one name, "FILE"
  std::string type;                ///< as --help shows it; empty: takes no value
  std::string help;
  bool repeated = false;
  bool required = false;
  ValueKind value;
};

struct CommandRow {
  std::string name;         ///< "solve"; "signorini" for the program itself
  std::string description;  ///< the first line is a summary
  std::string footer;       ///< examples, JSON, exit codes
  std::vector<OptionRow> arguments;
  std::vector<OptionRow> options;
};

struct CommandTable {
  CommandRow program;
  std::vector<CommandRow> commands;
  std::vector<OptionRow> shared;  ///< options of the program that may stand behind every command
};

/// `InternalError` where the name of a value (FILE, SIZE, …) is not known to `value_kind`.
CommandTable command_table(const CLI::App& app);

/// What `text` says first, without its full stop, default and example: for one line of a menu.
std::string brief(const std::string& text);

}  // namespace signorini
