#include "linalg/nested_dissection.h"

#ifdef SIGNORINI_HAVE_CHOLMOD

#include <cholmod.h>
#include <unistd.h>

#include <cstring>

#include "base/child_process.h"
#include "base/write_all.h"

namespace signorini {

namespace {

constexpr unsigned longest =
    600;  // s; a lock of the C library that another thread held at the fork is never released here

/// Sends the order, or nothing.
int order_by_metis(std::span<const Index> begin, std::span<const Index> index, int pipe) {
  ::alarm(longest);
  cholmod_common common;
  cholmod_start(&common);
  common.print = 0;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_METIS;
  common.postorder = 1;
  cholmod_sparse pattern{};
  pattern.nrow = pattern.ncol = begin.size() - 1;
  pattern.nzmax = index.size();
  pattern.p = const_cast<Index*>(begin.data());  // the C interface has no const
  pattern.i = const_cast<Index*>(index.data());
  pattern.stype = 1;
  pattern.itype = CHOLMOD_INT;
  pattern.xtype = CHOLMOD_PATTERN;
  pattern.sorted = pattern.packed = 1;
  const cholmod_factor* L = cholmod_analyze(&pattern, &common);
  const bool ordered = L != nullptr && common.status == CHOLMOD_OK;
  return ordered && write_all(pipe, L->Perm, pattern.nrow * sizeof(Index)) ? 0 : 1;
}

}  // namespace

std::vector<Index> nested_dissection(std::span<const Index> begin, std::span<const Index> index) {
  const ChildOutput out = output_of_child([&](int pipe) { return order_by_metis(begin, index, pipe); });
  std::vector<Index> order(begin.size() - 1);
  if (out.bytes.size() != order.size() * sizeof(Index)) return {};
  std::memcpy(order.data(), out.bytes.data(), out.bytes.size());
  return order;
}

}  // namespace signorini

#else

namespace signorini {

std::vector<Index> nested_dissection(std::span<const Index>, std::span<const Index>) { return {}; }

}  // namespace signorini

#endif
