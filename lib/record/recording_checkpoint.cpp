#include "record/recording_checkpoint.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/digest.h"
#include "record/raw_tree.h"
#include "record/recording_format.h"
#include "record/recording_statistics.h"

namespace signorini {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kMagic = "signorini checkpoint 2\n";

void put(std::string& bytes, std::uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void put(std::string& bytes, const std::string& text) {
  put(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
}

void put(std::string& bytes, const std::vector<std::string>& texts) {
  put(bytes, static_cast<std::uint64_t>(texts.size()));
  for (const std::string& text : texts) put(bytes, text);
}

void put(std::string& bytes, const StepTable& table) {
  put(bytes, table.columns);
  put(bytes, table.units);
  put(bytes, static_cast<std::uint64_t>(table.rows.size()));
  for (const std::vector<double>& row : table.rows) {
    bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double));
  }
}

/// Takes from the front; every length is checked against what is left before memory is taken.
class Bytes {
 public:
  Bytes(std::string_view rest, const std::string& where) : rest_(rest), where_(where) {}

  [[noreturn]] void damaged() const { throw_input("{}: damaged checkpoint", where_); }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) damaged();
    const std::string_view front = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return front;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// Of things that take at least `least` bytes each.
  std::size_t count(std::size_t least) {
    const std::uint64_t value = number();
    if (value > rest_.size() / least) damaged();
    return value;
  }
  std::string text() { return std::string(take(count(1))); }
  std::vector<std::string> texts() {
    std::vector<std::string> all(count(sizeof(std::uint64_t)));
    for (std::string& one : all) one = text();
    return all;
  }
  StepTable table() {
    StepTable table;
    table.columns = texts();
    table.units = texts();
    const std::size_t width = table.columns.size();
    if (width == 0) damaged();
    table.rows.resize(count(width * sizeof(double)));
    for (std::vector<double>& row : table.rows) {
      row.resize(width);
      std::memcpy(row.data(), take(width * sizeof(double)).data(), width * sizeof(double));
    }
    return table;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const std::string& where_;
};

/// Scene, configuration, seed and revision as one number; not the kernels.
std::uint64_t digest_of_header(const RecordingHeader& header) {
  RecordingHeader compared = header;
  compared.kernels.clear();
  return digest_of(header_tree(compared, 0));
}

}  // namespace

std::string encode_checkpoint(const RecordingCheckpoint& checkpoint, const RecordingHeader& header) {
  check_table(checkpoint.statistics, "checkpoint");
  check_table(checkpoint.clocks, "checkpoint");
  std::string payload;
  put(payload, digest_of_header(header));
  put(payload, header.kernels);
  put(payload, static_cast<std::uint64_t>(checkpoint.steps));
  put(payload, checkpoint.frames);
  put(payload, checkpoint.statistics);
  put(payload, checkpoint.clocks);
  put(payload, checkpoint.state);
  std::string bytes(kMagic);
  put(bytes, digest_of(payload));
  return bytes + payload;
}

RecordingCheckpoint decode_checkpoint(std::string_view bytes, const RecordingHeader& header,
                                      const std::string& where) {
  if (!bytes.starts_with(kMagic)) throw_input("{}: not a checkpoint of this version", where);
  Bytes rest(bytes.substr(kMagic.size()), where);
  if (rest.number() != digest_of(bytes.substr(kMagic.size() + sizeof(std::uint64_t)))) rest.damaged();
  if (rest.number() != digest_of_header(header))
    throw_input("{}: belongs to another scene, configuration or program", where);
  RecordingCheckpoint checkpoint;
  checkpoint.kernels = rest.text();
  checkpoint.steps = static_cast<long long>(rest.number());
  checkpoint.frames = rest.texts();
  checkpoint.statistics = rest.table();
  checkpoint.clocks = rest.table();
  checkpoint.state = rest.text();
  const std::size_t steps = checkpoint.steps;
  if (!rest.empty() || checkpoint.statistics.rows.size() != steps || checkpoint.clocks.rows.size() != steps) {
    rest.damaged();
  }
  return checkpoint;
}

}  // namespace signorini
