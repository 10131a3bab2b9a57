#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bodies/body_system.h"
#include "scene/contact_rows.h"

/// Bytes that hold the state of a run exactly: magic, version, what wrote them, the digest of the scene's
/// bodies, the numbers, and an XXH3 of all that. Little-endian; doubles as their eight bytes.
namespace signorini {

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

/// Of names, numbers of blocks, surface and start positions of all bodies.
std::uint64_t system_digest(const BodySystem& system);

void write_state(CheckpointWriter& writer, const SystemState& state);
/// Throws `InputError` when the numbers of nodes, bodies or blocks are not those of `system`.
SystemState read_state(CheckpointReader& reader, const BodySystem& system);
void write_warm_start(CheckpointWriter& writer, const WarmStart& warm_start);
WarmStart read_warm_start(CheckpointReader& reader, const BodySystem& system);

}  // namespace signorini
