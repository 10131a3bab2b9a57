#pragma once

namespace signorini {

/// Bytes that this process has allocated and not given back; -1 where the system does not tell. A difference of two calls is
/// what was kept in between, up to some 100 kB of small blocks that the allocator keeps for reuse.
long long heap_bytes();

}  // namespace signorini
