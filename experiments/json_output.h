#pragma once

#include <nlohmann/json.hpp>

/// Results as JSON (`--json`): one document on standard output. Numbers are numbers, NaN and infinity are null,
/// units stand in the names of the keys (`seconds`, `deepest_point_m`).
namespace signorini {

using Json = nlohmann::ordered_json;

/// The document and a line feed on standard output. Bytes that are not UTF-8 are replaced.
void print_json(const Json& document);

}  // namespace signorini
