#include "base/heap_bytes.h"

#include <cstdlib>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
#include <malloc.h>
#define SIGNORINI_HAVE_MALLINFO2
#endif

namespace signorini {

long long heap_bytes() {
#ifdef SIGNORINI_HAVE_MALLINFO2
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long long>(info.uordblks + info.hblkhd);
#else
  return -1;
#endif
}

}  // namespace signorini
