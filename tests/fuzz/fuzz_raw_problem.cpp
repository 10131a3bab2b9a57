// libFuzzer target of the codecs behind the HDF5 layer: whatever numbers a file holds, the codecs either
// refuse them with one line or give a problem that survives the way out and back.
#include "fuzz_check.h"
#include "record/raw_problem.h"
#include "tree_bytes.h"

namespace {

using namespace signorini;

void check_frame(const RawTree& tree) {
  const Frame frame = decode_frame(tree, "000001", "FILE");
  require(!find_defect(frame.problem), "a decoded frame is valid");
  const RawTree again = encode_frame(frame);
  const RawTree twice = encode_frame(decode_frame(again, "000001", "FILE"));
  require(digest_of(again) == digest_of(twice), "an encoded frame decodes to itself");
}

void check_fclib(const RawTree& tree, const RawTree& extras) {
  const FclibFile file = decode_fclib(tree, extras, "FILE");
  require(!find_defect(file.problem), "a decoded FCLib problem is valid");
  const RawTree again = encode_fclib(file);
  const FclibFile copy = decode_fclib(again, encode_fclib_extras(file.problem), "FILE");
  require(digest_of(again) == digest_of(encode_fclib(copy)), "an encoded FCLib problem decodes to itself");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::uint8_t* at = data + 1;
  const RawTree tree = tree_of_bytes(at, data + size);
  const RawTree extras = tree_of_bytes(at, data + size);
  decode_or_refuse([&] {
    if (data[0] % 2 == 0) {
      check_frame(tree);
    } else {
      check_fclib(tree, extras);
    }
  });
  return 0;
}
