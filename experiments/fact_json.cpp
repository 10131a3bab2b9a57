#include "fact_json.h"

namespace signorini {

Json to_json(const FactVerdict& verdict) {
  return {{"fact", verdict.name},
          {"says", verdict.fact.says},
          {"quantity", verdict.fact.quantity},
          {"over", enum_name(verdict.fact.over)},
          {"value", verdict.value},
          {"unit", verdict.unit},
          {"at_least", verdict.fact.at_least <= -kUnbounded ? Json() : Json(verdict.fact.at_least)},
          {"at_most", verdict.fact.at_most >= kUnbounded ? Json() : Json(verdict.fact.at_most)},
          {"reached", verdict.reached},
          {"holds", verdict.holds}};
}

}  // namespace signorini
