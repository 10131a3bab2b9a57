#include "regions/printed_algorithm.h"

namespace signorini {

namespace {

bool share_element(std::span<const Index> a, std::span<const Index> b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) return true;
    if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

}  // namespace

std::vector<Index> printed_algorithm_labels(const ContactElements& elements) {
  std::vector<Index> label(elements.contacts(), -1);
  Index regions = 0;
  for (Index k = 0; k < elements.contacts(); ++k) {
    Index& own = label[k];
    for (Index j = 0; j < k && own < 0; ++j) {
      if (share_element(elements.of(k), elements.of(j))) own = label[j];
    }
    if (own < 0) own = regions++;
  }
  return label;
}

}  // namespace signorini
