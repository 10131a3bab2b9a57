#pragma once

#include <string>
#include <vector>

#include "json_output.h"

/// What `signorini list` shows: tables for people, JSON for programs.
namespace signorini {

struct Program;

/// What can be listed: solvers, scenes, …
std::vector<std::string> list_kinds();

void print_solvers();
Json scenes_json(const Program& program);
void print_scenes(const Program& program);
Json shapes_json();
void print_shapes();
Json experiments_json(const Program& program);
void print_experiments(const Program& program);
Json columns_json();
void print_columns();
void print_measures();
void print_everything(const Program& program);

}  // namespace signorini
