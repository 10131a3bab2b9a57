// libFuzzer target of everything between the bytes of an npz archive and a problem: directory, inflate, headers of
// arrays, codecs. Bytes are refused with one line or give a problem that survives the way out and back.
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "record/raw_npz.h"

namespace {

using namespace signorini;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

FclibFile decode(std::vector<std::byte> bytes) {
  return decode_npz(npz_tree(ZipArchive(std::move(bytes), "FILE"), "FILE"), "FILE");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    const FclibFile file = decode({bytes, bytes + size});
    require(!find_defect(file.problem), "a decoded problem is valid");
    const std::vector<std::byte> again = npz_bytes(encode_npz(file), "FILE");
    require(npz_bytes(encode_npz(decode(again)), "FILE") == again, "an encoded problem decodes to itself");
  } catch (const InputError& e) {
    const std::string text = e.what();
    require(text.rfind("FILE", 0) == 0 && text.find('\n') == std::string::npos,
            "an error is one line that names the file");
  }
  return 0;
}
