#include "contact/factor_store.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/digest.h"
#include "linalg/same_bits.h"

namespace signorini {

FactorStore::Body FactorStore::with_digest(SparseRows block) {
  Body body;
  body.digest = digest_of({reinterpret_cast<const char*>(block.valuePtr()),
                           sizeof(double) * static_cast<std::size_t>(block.nonZeros())});
  body.block = std::make_shared<const SparseRows>(std::move(block));
  return body;
}

void FactorStore::turn_over() {
  std::erase_if(entries_, [](const Entry& entry) { return !entry.asked; });
  for (Entry& entry : entries_) entry.asked = false;
}

void FactorStore::settle() {
  for (Entry& entry : entries_) {
    if (!entry.asked) entry.body.factor.reset();
  }
}

void FactorStore::give_factors(std::span<Body* const> wanted) {
  std::unordered_multimap<std::uint64_t, std::size_t> place;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].body.factor) place.emplace(entries_[e].body.digest, e);
  }
  for (Body* body : wanted) {
    const auto [first, last] = place.equal_range(body->digest);
    const auto found = std::find_if(first, last, [&](const auto& candidate) {
      return same_bits(*entries_[candidate.second].body.block, *body->block);
    });
    if (found == last) continue;
    Entry& entry = entries_[found->second];
    entry.asked = true;
    *body = entry.body;
    place.erase(found);
  }
}

}  // namespace signorini
