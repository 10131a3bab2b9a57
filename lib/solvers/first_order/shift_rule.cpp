#include "solvers/first_order/shift_rule.h"

#include <algorithm>
#include <cmath>

namespace signorini {

void validate_inner(std::string_view solver, double inner) {
  if (!(inner > 0.0)) throw_usage("solver '{}': inner = {} must be positive", solver, inner);
}

void ShiftRule::prepare(const ContactCones& cones) {
  cones_ = &cones;
  shift_.assign(cones.contacts(), 0.0);
  fresh_.assign(cones.contacts(), 0.0);
}

void ShiftRule::start(LawForm form, double inner, std::span<const double> u) {
  form_ = form;
  inner_ = inner;
  part_ = 1.0;
  least_ = std::numeric_limits<double>::infinity();
  waited_ = 0;
  std::fill(shift_.begin(), shift_.end(), 0.0);
  if (form_ == LawForm::exact) cones_->measure_shift(u, shift_);
}

bool ShiftRule::update(std::span<const double> u, double correction) {
  if (form_ == LawForm::associated) return false;
  cones_->measure_shift(u, fresh_);
  const double distance = std::sqrt(cones_->squared_shift_distance(fresh_, shift_));
  if (!(distance > 0.0 && correction <= inner_ * distance)) return false;
  if (distance < least_) {
    least_ = distance;
    waited_ = 0;
  } else if (++waited_ >= kPatience) {
    waited_ = 0;
    part_ = std::max(kLeastPart, 0.5 * part_);
  }
  for (std::size_t k = 0; k < shift_.size(); ++k) shift_[k] += part_ * (fresh_[k] - shift_[k]);
  return true;
}

}  // namespace signorini
