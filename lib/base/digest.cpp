#include "base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/check.h"

namespace signorini {

Digest::Digest() : state_(XXH3_createState()) {
  SIGNORINI_CHECK(state_ != nullptr);
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}

Digest::~Digest() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void Digest::update(const void* data, std::size_t bytes) {
  if (bytes > 0) XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), data, bytes);
}

std::uint64_t Digest::value() const { return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_)); }

std::uint64_t digest_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace signorini
