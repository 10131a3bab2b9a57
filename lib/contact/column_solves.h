#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/options.h"

namespace signorini {

/// How M_b⁻¹ H_b is solved for: kBatch contacts at a time, or every column by a forward and a backward substitution of its
/// own, as methods that form W are described (Verschoor and Jalba 2019, section 6.2.4, after Daviet et al. 2011).
enum class ColumnSolves { together, one_by_one };
template <>
struct EnumNames<ColumnSolves> {
  static constexpr std::array<std::pair<ColumnSolves, std::string_view>, 2> value{
      {{ColumnSolves::together, "together"}, {ColumnSolves::one_by_one, "one_by_one"}}};
};

}  // namespace signorini
