#include "option_table.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/check.h"
#include "base/options.h"
#include "base/text.h"
#include "campaign/campaign.h"
#include "list_screen.h"
#include "record/fclib_file.h"
#include "record/npz_file.h"
#include "regions/region_partition.h"
#include "scene/scene_size.h"
#include "shell_completion.h"

namespace signorini {
namespace {

using Source = ValueKind::Source;

template <class Enum>
ValueKind words_of(bool several = false) {
  ValueKind kind{.source = Source::words, .several = several};
  for (const auto& [value, name] : EnumNames<Enum>::value) kind.words.emplace_back(name);
  return kind;
}

/// By the name of a value. A new name is added here: the program's tests fail until it is.
const std::map<std::string_view, ValueKind>& value_kinds() {
  static const std::map<std::string_view, ValueKind> kinds{
      {"DIR", {.source = Source::folders}},
      {"FILE", {.source = Source::files}},
      {"FILE.h5", {.source = Source::files}},
      {"LIB.so", {.source = Source::files}},
      {"OUT", {.source = Source::files}},
      {"OUT.csv", {.source = Source::files}},
      {"OUT.h5", {.source = Source::files}},
      {"OUT.hdf5", {.source = Source::files}},
      {"NAME[,NAME]", {.source = Source::names, .list = "solvers", .several = true}},
      {"SCENE", {.source = Source::names_and_files, .list = "scenes"}},
      {"EXPERIMENT", {.source = Source::names_and_files, .list = "experiments"}},
      {"WHAT", {.source = Source::words, .words = list_kinds()}},
      {"SIZE", words_of<SceneSize>()},
      {"FORMAT", words_of<ProblemFormat>()},
      {"HOW", words_of<MatrixReading>()},
      {"MODE[,MODE]", words_of<RegionMode>(true)},
      {"SHELL", words_of<Shell>()},
      {"STATUS[,STATUS]", words_of<SolveStatus>(true)},
      {"UNIT", words_of<ShardUnit>()},
      {"A:B", {}},
      {"FACTOR", {}},
      {"HOURS", {}},
      {"I/N", {}},
      {"K", {}},
      {"K[,K]", {}},
      {"KEY=VALUE", {}},
      {"N", {}},
      {"N[,N]", {}},
      {"NAME.KEY=VALUE", {}},
      {"R", {}},
      {"S", {}},
      {"SHARE", {}},
      {"T", {}}};
  return kinds;
}

ValueKind value_kind(const CLI::App& app, const std::string& type) {
  if (type == "COMMAND") {
    ValueKind kind{.source = Source::words};
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      kind.words.push_back(command->get_name());
    return kind;
  }
  const auto found = value_kinds().find(type);
  if (found == value_kinds().end())
    throw InternalError(
        fmt::format("'{}' is no name of a value that completion knows; add it to value_kinds() in "
                    "experiments/option_table.cpp",
                    type));
  return found->second;
}

OptionRow row_of(const CLI::App& app, const CLI::Option& option) {
  OptionRow row;
  row.help = option.get_description();
  row.required = option.get_required();
  if (option.get_positional()) {
    row.names = {option.get_name(true)};
    row.type = row.names.front();
    row.repeated = option.get_expected_max() > 1;
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0) row.type = option.get_type_name();
    row.repeated = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  }
  if (!row.type.empty()) row.value = value_kind(app, row.type);
  return row;
}

CommandRow row_of(const CLI::App& app, const CLI::App& command) {
  CommandRow row{command.get_name(), command.get_description(), command.get_footer(), {}, {}};
  for (const CLI::Option* option : command.get_options())
    (option->get_positional() ? row.arguments : row.options).push_back(row_of(app, *option));
  return row;
}

}  // namespace

CommandTable command_table(const CLI::App& app) {
  CommandTable table{row_of(app, app), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr() && !option->check_lname("version"))
      table.shared.push_back(row_of(app, *option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    table.commands.push_back(row_of(app, *command));
  return table;
}

std::string brief(const std::string& text) {
  std::size_t end = text.size();
  for (const char* mark : {"\n", ". ", "; ", " (default", ", e.g."}) end = std::min(end, text.find(mark));
  std::string line(trim(text.substr(0, end)));
  while (!line.empty() && std::string_view(".:,").find(line.back()) != std::string_view::npos)
    line.pop_back();
  return line;
}

}  // namespace signorini
