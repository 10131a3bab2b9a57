#pragma once

#include <vector>

namespace signorini {

/// The median; of an even number of values the mean of the two in the middle. NaN without values.
double median_of(std::vector<double> values);

}  // namespace signorini
