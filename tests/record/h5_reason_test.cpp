#include <gtest/gtest.h>

#include "record/h5_library.h"

namespace signorini::h5_reason_test {
namespace {

TEST(H5Reason, LeavesOutAddressesDescriptorsAndDates) {
  EXPECT_EQ(h5::plain_reason(
                "file read failed: time = Mon Jan  1 00:00:00 2024\n, filename = 'a.h5', file descriptor = "
                "3, errno = 5, error message = 'Input/output error', buf = 0x7ffd00, total read size = 8, "
                "bytes this sub-read = 8, bytes actually read = 18446744073709551615, offset = 0"),
            "file read failed: Input/output error");
  EXPECT_EQ(h5::plain_reason("file write failed: time = now, file descriptor = 3"), "file write failed");
  EXPECT_EQ(h5::plain_reason("file signature not found"), "file signature not found");
}

}  // namespace
}  // namespace signorini::h5_reason_test
