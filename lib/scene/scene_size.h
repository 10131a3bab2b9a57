#pragma once

#include "base/options.h"

namespace signorini {

/// The tables [size.…] of a scene file.
enum class SceneSize { quick, medium, paper };
template <>
struct EnumNames<SceneSize> {
  static constexpr std::array<std::pair<SceneSize, std::string_view>, 3> value{
      {{SceneSize::quick, "quick"}, {SceneSize::medium, "medium"}, {SceneSize::paper, "paper"}}};
};

}  // namespace signorini
