// libFuzzer target of the reader of runs.csv: the file is refused with one line, or rows come back that are written as rows
// which read as themselves, and bad rows are told with their line.
#include "fuzz_check.h"
#include "harness/run_record.h"
#include "memory_file.h"

namespace {

using namespace signorini;

std::string table(std::span<const RunRecord> rows) {
  std::string text = run_record_header() + "\n";
  for (const RunRecord& row : rows) text += run_record_row(row) + "\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Two of three inputs are rows below the right header: few mutations leave a header whole.
  const bool headed = size > 0 && data[0] % 3 != 0;
  std::string text = headed ? run_record_header() + "\n" : "";
  if (size > 1) text.append(reinterpret_cast<const char*>(data) + 1, size - 1);
  const MemoryFile file(text);
  decode_or_refuse(
      [&] {
        const RunTableContent content = read_run_table_content(file.path());
        require(content.whole_bytes <= text.size(), "whole lines are part of the file");
        for (const std::string& bad : content.bad)
          require(bad.rfind("line ", 0) == 0, "a bad row tells its line");
        const std::string once = table(content.records);
        const MemoryFile again(once);
        const RunTableContent twice = read_run_table_content(again.path());
        require(twice.bad.empty() && table(twice.records) == once, "rows read as themselves");
      },
      file.path());
  return 0;
}
