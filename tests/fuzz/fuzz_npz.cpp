// libFuzzer target of everything between the bytes of an npz archive and a problem: directory, inflate, headers of
// arrays, codecs. Bytes are refused with one line or give a problem that survives the way out and back.
#include "fuzz_check.h"
#include "record/raw_npz.h"

namespace {

using namespace signorini;

FclibFile decode(std::vector<std::byte> bytes) {
  return decode_npz(npz_tree(ZipArchive(std::move(bytes), "FILE"), "FILE"), "FILE");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  decode_or_refuse([&] {
    const FclibFile file = decode({bytes, bytes + size});
    require(!find_defect(file.problem), "a decoded problem is valid");
    const std::vector<std::byte> again = npz_bytes(encode_npz(file), "FILE");
    require(npz_bytes(encode_npz(decode(again)), "FILE") == again, "an encoded problem decodes to itself");
  });
  return 0;
}
