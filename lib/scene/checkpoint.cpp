#include "scene/checkpoint.h"

#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/digest.h"

namespace signorini {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are written as memory lies");

constexpr std::string_view kMagic = "SIGNCKPT";
constexpr std::int64_t kVersion = 3;

class CheckpointWriter {
 public:
  /// `kind`: who writes ("implicit"); `system`: digest of the bodies.
  CheckpointWriter(std::string_view kind, std::uint64_t system);
  void integer(std::int64_t value);
  void real(double value);
  void vector(const Vector3& value);
  /// The bytes with their check sum; nothing must be added afterwards.
  std::string finish();

 private:
  std::string bytes_;
};

/// Reads in the order of writing. Throws `InputError` naming what does not fit: other magic or version,
/// another kind of stepper, another scene, a wrong check sum, too few or too many bytes.
class CheckpointReader {
 public:
  CheckpointReader(std::string_view bytes, std::string_view kind, std::uint64_t system);
  std::int64_t integer();
  /// A count of things of at least `least_bytes` each that are still to be read.
  std::size_t count(std::size_t least_bytes);
  double real();
  Vector3 vector();
  void finish() const;

 private:
  std::string_view take(std::size_t bytes);
  std::string_view rest_;
};

CheckpointWriter::CheckpointWriter(std::string_view kind, std::uint64_t system) {
  bytes_ = kMagic;
  integer(kVersion);
  integer(static_cast<std::int64_t>(digest_of(kind)));
  integer(static_cast<std::int64_t>(system));
}

void CheckpointWriter::integer(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void CheckpointWriter::real(double value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void CheckpointWriter::vector(const Vector3& value) {
  for (Index d = 0; d < 3; ++d) real(value[d]);
}

std::string CheckpointWriter::finish() {
  integer(static_cast<std::int64_t>(digest_of(bytes_)));
  return std::move(bytes_);
}

CheckpointReader::CheckpointReader(std::string_view bytes, std::string_view kind, std::uint64_t system)
    : rest_(bytes) {
  constexpr std::size_t kSum = sizeof(std::int64_t);
  if (bytes.size() < kMagic.size() + 4 * kSum || !bytes.starts_with(kMagic))
    throw_input("checkpoint of {} bytes is none of this program, or cut off", bytes.size());
  rest_.remove_prefix(kMagic.size());
  if (const std::int64_t version = integer(); version != kVersion)
    throw_input("checkpoint has version {} but this program reads version {}", version, kVersion);
  std::int64_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kSum, kSum);
  if (sum != static_cast<std::int64_t>(digest_of(bytes.substr(0, bytes.size() - kSum))))
    throw_input("checkpoint is damaged: its check sum does not fit; delete it and start from the beginning");
  rest_.remove_suffix(kSum);
  if (integer() != static_cast<std::int64_t>(digest_of(kind)))
    throw_input("checkpoint was not written by a stepper of kind '{}'", kind);
  if (integer() != static_cast<std::int64_t>(system))
    throw_input("checkpoint belongs to another scene: its bodies differ");
}

std::string_view CheckpointReader::take(std::size_t bytes) {
  if (rest_.size() < bytes) throw_input("checkpoint ends {} bytes too early", bytes - rest_.size());
  const std::string_view result = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return result;
}

std::int64_t CheckpointReader::integer() {
  std::int64_t value = 0;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

std::size_t CheckpointReader::count(std::size_t least_bytes) {
  const std::int64_t value = integer();
  if (value < 0 || static_cast<std::uint64_t>(value) > rest_.size() / least_bytes)
    throw_input("checkpoint counts {} entries but has room for {}", value, rest_.size() / least_bytes);
  return value;
}

double CheckpointReader::real() {
  double value = 0.0;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

Vector3 CheckpointReader::vector() {
  const double x = real();
  const double y = real();
  return {x, y, real()};
}

void CheckpointReader::finish() const {
  if (!rest_.empty()) throw_input("checkpoint has {} bytes too many", rest_.size());
}

/// Of names, numbers of blocks, surface and start positions of all bodies.
std::uint64_t system_digest(const BodySystem& system) {
  Digest digest;
  const auto add = [&](Index value) { digest.update(&value, sizeof value); };
  add(system.bodies());
  for (Index body = 0; body < system.bodies(); ++body) {
    add(count(system.name(body)));
    digest.update(system.name(body));
    const auto blocks = system.body_blocks(body);
    add(blocks[0]);
    add(blocks[1]);
  }
  const SurfaceModel& surface = system.surface();
  digest.update(std::span<const Triangle>(surface.triangles));
  digest.update(std::span<const Edge>(surface.edges));
  digest.update(std::span<const Vector3>(system.start().node));
  for (const RigidPose& pose : system.start().rigid) {
    digest.update(pose.centre.data(), 3 * sizeof(double));
    digest.update(pose.rotation.coeffs().data(), 4 * sizeof(double));
  }
  return digest.value();
}

void write_state(CheckpointWriter& writer, const SystemState& state) {
  writer.real(state.time);
  writer.integer(static_cast<std::int64_t>(state.node.size()));
  for (const Vector3& x : state.node) writer.vector(x);
  writer.integer(static_cast<std::int64_t>(state.rigid.size()));
  for (const RigidPose& pose : state.rigid) {
    writer.vector(pose.centre);
    for (Index i = 0; i < 4; ++i) writer.real(pose.rotation.coeffs()[i]);
  }
  writer.integer(static_cast<std::int64_t>(state.velocity.size()));
  for (const Vector3& v : state.velocity) writer.vector(v);
}

SystemState read_state(CheckpointReader& reader, const BodySystem& system) {
  const auto expect = [](const char* what, std::size_t have, std::size_t want) {
    if (have != want) throw_input("checkpoint has {} {} but the scene has {}", have, what, want);
  };
  SystemState state;
  state.time = reader.real();
  state.node.resize(reader.count(24));
  expect("nodes", state.node.size(), system.nodes());
  for (Vector3& x : state.node) x = reader.vector();
  state.rigid.resize(reader.count(56));
  expect("rigid bodies", state.rigid.size(), system.rigids());
  for (RigidPose& pose : state.rigid) {
    pose.centre = reader.vector();
    for (Index i = 0; i < 4; ++i) pose.rotation.coeffs()[i] = reader.real();
  }
  state.velocity.resize(reader.count(24));
  expect("blocks", state.velocity.size(), system.blocks());
  for (Vector3& v : state.velocity) v = reader.vector();
  return state;
}

void write_warm_start(CheckpointWriter& writer, const WarmStart& warm_start) {
  writer.integer(static_cast<std::int64_t>(warm_start.entries().size()));
  for (const WarmStart::Entry& entry : warm_start.entries()) {
    writer.integer(static_cast<std::int64_t>(entry.key.kind));
    for (const Index vertex : entry.key.vertex) writer.integer(vertex);
    for (const Index body : entry.body) writer.integer(body);
    writer.vector(entry.impulse);
    writer.vector(entry.tangent);
    writer.integer(static_cast<std::int64_t>(entry.end.state));
    writer.real(entry.end.bound);
  }
}

WarmStart read_warm_start(CheckpointReader& reader, const BodySystem& system) {
  const auto below = [&](const char* what, Index limit) {
    const std::int64_t value = reader.integer();
    if (value < 0 || value >= limit)
      throw_input("checkpoint names {} {} of a kept contact but the scene has {}", what, value, limit);
    return static_cast<Index>(value);
  };
  std::vector<WarmStart::Entry> entries(reader.count(7 * 8 + 48 + 16));
  for (WarmStart::Entry& entry : entries) {
    entry.key.kind = static_cast<PairKind>(below("pair kind", 2));
    for (Index& vertex : entry.key.vertex) vertex = below("vertex", system.surface().vertices());
    for (Index& body : entry.body) body = below("body", system.bodies());
    entry.impulse = reader.vector();
    entry.tangent = reader.vector();
    const std::int64_t state = reader.integer();
    if (state < static_cast<std::int64_t>(FrictionState::unknown) ||
        state > static_cast<std::int64_t>(FrictionState::sliding))
      throw_input("checkpoint names state {} of a kept contact, which is none", state);
    entry.end = {static_cast<FrictionState>(state), reader.real()};
  }
  WarmStart warm_start;
  warm_start.assign(std::move(entries));
  return warm_start;
}

}  // namespace

std::string write_checkpoint(std::string_view kind, const BodySystem& system, const CarriedState& carried) {
  CheckpointWriter writer(kind, system_digest(system));
  writer.integer(carried.steps);
  write_state(writer, carried.state);
  writer.real(carried.warm_dt);
  write_warm_start(writer, carried.warm);
  return writer.finish();
}

CarriedState read_checkpoint(std::string_view bytes, std::string_view kind, const BodySystem& system) {
  CheckpointReader reader(bytes, kind, system_digest(system));
  CarriedState carried;
  carried.steps = reader.integer();
  carried.state = read_state(reader, system);
  carried.warm_dt = reader.real();
  carried.warm = read_warm_start(reader, system);
  reader.finish();
  return carried;
}

}  // namespace signorini
