#include "harness/config_problem.h"

#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "harness/scene_variants.h"
#include "harness/strict_table.h"

namespace signorini {
namespace {

using Rows = std::vector<std::vector<double>>;

PlantedOptions planted_options(const toml::node& node, const StrictTable& where) {
  const toml::table* values = node.as_table();
  if (values == nullptr) where.fail(node, "planted", "must be a table: { contacts = 20 }");
  StrictTable strict(*values, where.file(), "problems.planted.");
  PlantedOptions options;
  int seed = 1;
  std::string law;
  if (strict.read("contacts", options.contacts)) require_positive(strict, "contacts", options.contacts);
  if (strict.read("regions", options.regions)) require_positive(strict, "regions", options.regions);
  strict.read("mu", options.mu);
  strict.read("stiffness", options.stiffness);
  if (strict.read("mass_ratio", options.mass_ratio))
    require_positive(strict, "mass_ratio", options.mass_ratio);
  if (strict.read("sharing", options.sharing) && !(options.sharing >= 0.0 && options.sharing < 1.0))
    strict.fail(*values->get("sharing"), "sharing", "must be 0 to less than 1");
  strict.read("duplicates", options.duplicates);
  if (strict.read("seed", seed)) require_positive(strict, "seed", seed);
  if (strict.read("law", law))
    options.law = parse_enum<FrictionLaw>(law, strict.place(*values->get("law"), "law"));
  strict.finish();
  const std::pair<const char*, double> amounts[] = {{"mu", options.mu},
                                                    {"stiffness", options.stiffness},
                                                    {"duplicates", static_cast<double>(options.duplicates)}};
  for (const auto& [key, value] : amounts) {
    if (!(value >= 0.0)) strict.fail(*values->get(key), key, fmt::format("{} is negative", value));
  }
  if (options.regions > options.contacts) {
    strict.fail(
        *values->get("regions"), "regions",
        fmt::format("{} regions need as many contacts, there are {}", options.regions, options.contacts));
  }
  if (options.duplicates >= options.contacts) {
    strict.fail(
        *values->get("duplicates"), "duplicates",
        fmt::format("{} of {} contacts cannot all repeat another", options.duplicates, options.contacts));
  }
  options.seed = static_cast<std::uint64_t>(seed);
  return options;
}

PileOptions pile_options(const toml::node& node, const StrictTable& where) {
  const toml::table* values = node.as_table();
  if (values == nullptr) where.fail(node, "pile", "must be a table: { of = \"spheres\", contacts = 1000 }");
  StrictTable strict(*values, where.file(), "problems.pile.");
  PileOptions options;
  int seed = 1;
  std::string of;
  if (!strict.read("of", of)) strict.missing("of");
  options.of = parse_enum<PileKind>(of, strict.place(*values->get("of"), "of"));
  strict.read("contacts", options.contacts);
  strict.read("layers", options.layers);
  strict.read("left_out", options.left_out);
  strict.read("unevenness", options.unevenness);
  strict.read("mu", options.mu);
  strict.read("tilt_deg", options.tilt_deg);
  if (strict.read("seed", seed)) require_positive(strict, "seed", seed);
  strict.finish();
  options.seed = static_cast<std::uint64_t>(seed);
  try {
    check_pile_options(options);
  } catch (const UsageError& error) {
    where.fail(node, "pile", error.what());
  }
  return options;
}

/// The problem of these options, or with `count` a family of them: number i of n has
/// contacts + i (most_contacts − contacts) / (n − 1) contacts and seed seed + i.
template <class Options, class Make>
void read_family(Options options, const Make& make, StrictTable& strict, const std::string& name,
                 std::vector<ConfigProblem>& out) {
  const auto add = [&](std::string label) {
    out.push_back({std::move(label), [make, options] { return make(options); }});
  };
  int count = 1, most = options.contacts;
  const bool family = strict.read("count", count);
  if (family) require_positive(strict, "count", count);
  if (strict.read("most_contacts", most)) {
    const toml::node& given = *strict.table().get("most_contacts");
    if (count < 2) strict.fail(given, "most_contacts", "needs a 'count' of 2 or more");
    if (most < options.contacts)
      strict.fail(given, "most_contacts", fmt::format("{} is less than the contacts of the first", most));
  }
  strict.finish();
  if (!family) return add(name);
  const int least = options.contacts;
  const std::uint64_t seed = options.seed;
  const std::size_t digits = fmt::format("{}", count - 1).size();
  for (int i = 0; i < count; ++i) {
    options.contacts =
        least + (count > 1 ? static_cast<int>(std::int64_t{most - least} * i / (count - 1)) : 0);
    options.seed = seed + i;
    add(fmt::format("{}_{:0{}}", name, i, digits));
  }
}

Matrix matrix_of(const Rows& rows, std::size_t columns, const StrictTable& where, const char* key) {
  Matrix out(rows.size(), columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != columns) {
      where.fail(*where.table().get(key), key,
                 fmt::format("row {} has {} entries instead of {}", i + 1, rows[i].size(), columns));
    }
    for (std::size_t j = 0; j < columns; ++j) out(i, j) = rows[i][j];
  }
  return out;
}

Vector vector_of(const std::vector<double>& values, std::size_t size, const StrictTable& where,
                 const char* key) {
  if (values.size() != size) {
    where.fail(*where.table().get(key), key,
               fmt::format("has {} entries instead of {}", values.size(), size));
  }
  return Eigen::Map<const Vector>(values.data(), size);
}

/// A ⊗ 1₃
Matrix three_fold(const Matrix& A) {
  Matrix out = Matrix::Zero(3 * A.rows(), 3 * A.cols());
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (Eigen::Index j = 0; j < A.cols(); ++j) out.block<3, 3>(3 * i, 3 * j).diagonal().setConstant(A(i, j));
  }
  return out;
}

ContactProblem read_matrices(const toml::node& entry, StrictTable& strict) {
  const toml::table* values = entry.as_table();
  ContactProblem problem;
  std::vector<double> mu, q, w;
  Rows W, A, directions;
  if (!strict.read_list("mu", mu)) strict.missing("mu");
  const std::size_t m = mu.size();
  problem.mu = vector_of(mu, m, strict, "mu");
  if (strict.read_list("W", W)) {
    if (!strict.read_list("q", q)) strict.missing("q");
    if (W.size() != 3 * m)
      strict.fail(*values->get("W"), "W",
                  fmt::format("has {} rows; {} contacts need {}", W.size(), m, 3 * m));
    problem.W = matrix_of(W, 3 * m, strict, "W").sparseView();
    problem.W.makeCompressed();
    problem.q = vector_of(q, 3 * m, strict, "q");
  } else {
    if (!strict.read_list("A", A)) strict.missing("A' (or 'planted', 'pile' or 'W");
    if (!strict.read_list("directions", directions)) strict.missing("directions");
    if (!strict.read_list("w", w)) strict.missing("w");
    if (directions.size() != m) {
      strict.fail(*values->get("directions"), "directions",
                  fmt::format("has {} rows for {} contacts", directions.size(), m));
    }
    problem.M = three_fold(matrix_of(A, A.size(), strict, "A")).sparseView();
    problem.M.makeCompressed();
    problem.H = three_fold(matrix_of(directions, A.size(), strict, "directions").transpose()).sparseView();
    problem.H.makeCompressed();
    problem.f = Vector::Zero(problem.M.rows());
    problem.w = vector_of(w, 3 * m, strict, "w");
  }
  strict.finish();
  if (const auto defect = find_defect(problem)) strict.fail(entry, "name", *defect);
  return problem;
}

void read_one(const toml::node& entry, const StrictTable& table, std::string_view size,
              std::vector<ConfigProblem>& list) {
  const toml::table* values = entry.as_table();
  if (values == nullptr) table.fail(entry, "problems", "must be a list of tables: [[problems]]");
  StrictTable strict(*values, table.file(), "problems.");
  std::string name;
  if (!strict.read("name", name)) strict.missing("name");
  if (name.empty() || name.find_first_of("/\\,\"") != std::string::npos)
    strict.fail(*values->get("name"), "name", "must be a plain file name");
  const bool wanted = belongs_to_size(strict, size);
  std::vector<ConfigProblem> made;
  if (const toml::node* planted = strict.find("planted")) {
    const auto make = [](const PlantedOptions& options) { return make_planted_problem(options).problem; };
    read_family(planted_options(*planted, strict), make, strict, name, made);
  } else if (const toml::node* pile = strict.find("pile")) {
    read_family(pile_options(*pile, strict), make_pile_problem, strict, name, made);
  } else {
    made.push_back({name, [problem = read_matrices(entry, strict)] { return problem; }});
  }
  if (wanted) std::move(made.begin(), made.end(), std::back_inserter(list));
}

}  // namespace

void read_config_problems(StrictTable& table, std::string_view size, std::vector<ConfigProblem>& out) {
  const toml::node* node = table.find("problems");
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty())
    table.fail(*node, "problems", "must be a list of tables: [[problems]]");
  std::set<std::string> names;
  for (const toml::node& entry : *array) {
    const std::size_t first = out.size();
    read_one(entry, table, size, out);
    for (std::size_t i = first; i < out.size(); ++i) {
      if (!names.insert(out[i].name).second)
        table.fail(entry, "problems.name", fmt::format("'{}' is used twice", out[i].name));
    }
  }
}

}  // namespace signorini
