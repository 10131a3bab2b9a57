#include "record/recording_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/digest.h"
#include "record/raw_problem.h"
#include "record/recording_statistics.h"

namespace signorini {

namespace {

constexpr const char* kChecksum = "xxh3";

/// Travels in every recording, so that the file explains itself to h5dump and h5py.
constexpr const char* kFields =
    R"(One group per frame: /steps/<step>[.<solve>]. m contacts, n degrees of freedom, normal component first (N, T1, T2).
M v = H r + f, u = H^T v + w, u = W r + q; K_mu contains r, perpendicular to u + mu |u_T| n in its dual.
attributes: contacts m; dofs n; dt [s]; time [s]; kind explicit|implicit|unknown; id; xxh3 checksum of the frame;
  spacedim 2 where the problem is one in the plane: rows T2 and the last 3m dofs are not its own
mu (m) friction coefficients [1]
f (n) free impulse M v_free [N s]
w (3m) relative velocity offset [m/s]
M n x n mass matrix [kg], one of:
  M/diagonal (n)
  M/row_begin (n/3+1), M/column (b), M/upper_blocks (b x 9): 3x3 blocks of the upper triangle, row-major; the rest by symmetry
  M/row_begin, M/column, M/blocks: all blocks
  M/indptr, M/indices, M/data: CSR
H n x 3m contact directions [1], one of:
  H/column_begin (m+1), H/row (b), H/blocks (b x 9): 3x3 block (mass point, contact), row-major [dof][N,T1,T2]
  H/indptr, H/indices, H/data: CSC
W, q (3m x 3m as M [1/kg], 3m [m/s]): the reduced problem, where recorded
gap (m) signed gap at the start of the step [m]
frame (m x 9) n, t1, t2 in world axes [1]
position (m x 3) contact points [m]
points (m x 4) mass points of the contact, -1 = none; weights (m x 4) their signed weights [1]
bodies (m x 2) body numbers, -1 = obstacle
features (m x 2) what touches, by numbers that stay: vertex and face, or -1 - edge twice
node_numbers (n/3) number of each mass point in the scene
body_dofs (bodies + 1) body b owns dofs body_dofs[b] .. body_dofs[b+1]-1
warm_start (3m) impulses of the previous solve [N s]
v_minus (n) velocities at the beginning of the step [m/s]
start_states (m) how the previous solve left the contact: -1 new, 0 open, 1 sticking, 2 sliding
start_bounds (m) friction bounds mu r_N of the previous solve, 0 = new [N s]
impulse (3m) what the driving solver answered [N s]
geometry/vertices (v x 3) [m], geometry/triangles (t x 3), geometry/triangle_body (t), -1 = obstacle
geometry/rest (v x 3) the vertices with every body undeformed at its start [m]: displacement = vertices - rest
/statistics, in recordings that ran to their end: one dataset (rows) per quantity, one number per step
  attributes: columns, units in order, separated by commas (1 = a count); rows; xxh3 checksum of the group
Arrays that repeat are stored once and carry several names (hard links).)";

struct FrameKey {
  std::string step, solve;  // digits without leading zeros
  auto key() const { return std::tuple(step.size(), step, solve.size(), solve); }
};

std::string without_zeros(const std::string& digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? std::string() : digits.substr(first);
}

FrameKey key_of(const std::string& id) {
  const std::size_t point = id.find('.');
  if (point == std::string::npos) return {without_zeros(id), ""};
  return {without_zeros(id.substr(0, point)), without_zeros(id.substr(point + 1))};
}

std::string checksum_of(RawTree tree) {
  tree.attributes.erase(kChecksum);
  return digest_text(digest_of(tree));
}

}  // namespace

RecordingPaths::RecordingPaths(const std::filesystem::path& path)
    : file(path),
      parts(path.string() + ".parts"),
      lock(path.string() + ".lock"),
      packed(path.string() + ".tmp"),
      checkpoint(parts / "checkpoint"),
      replaces(parts / "replaces") {}

bool RecordingPaths::is_replacement() const {
  std::error_code error;
  return std::filesystem::exists(replaces, error) && std::filesystem::exists(file, error);
}

std::filesystem::path RecordingPaths::beside(const std::string& name) const {
  std::filesystem::path path = file;
  return path.replace_extension("." + name);
}

bool is_frame_id(const std::string& id) {
  const auto digits = [](const std::string& text) {
    return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
  };
  const std::size_t point = id.find('.');
  if (point == std::string::npos) return digits(id);
  return digits(id.substr(0, point)) && digits(id.substr(point + 1));
}

bool frame_before(const std::string& a, const std::string& b) { return key_of(a).key() < key_of(b).key(); }

bool same_frame(const std::string& a, const std::string& b) { return key_of(a).key() == key_of(b).key(); }

RawTree header_tree(const RecordingHeader& header, std::size_t frames) {
  RawTree tree;
  tree.attributes["signorini_schema"] = kRecordingSchema;
  tree.attributes["scene"] = header.scene;
  tree.attributes["config"] = header.config;
  tree.attributes["git"] = header.git;
  tree.attributes["seed"] = header.seed;
  if (!header.kernels.empty()) tree.attributes["kernels"] = header.kernels;
  tree.attributes["frames"] = static_cast<std::uint64_t>(frames);
  tree.attributes["fields"] = std::string(kFields);
  tree.attributes[kChecksum] = checksum_of(tree);
  return tree;
}

RecordingHeader read_header(const h5::ReadFile& file, std::size_t& frames) {
  if (!file.has_root_attribute("signorini_schema")) {
    throw_input("{}: not a recording (no attribute signorini_schema)", file.name());
  }
  const RawTree tree = file.read_attributes("/", file.name());
  const RawReader raw(tree, file.name());
  const std::uint64_t schema = raw.count_attribute("signorini_schema");
  if (schema > kRecordingSchema) {
    throw_input("{}: written by a newer version (schema {}, this program reads up to {})", file.name(),
                schema, kRecordingSchema);
  }
  if (raw.text_attribute(kChecksum) != checksum_of(tree)) {
    throw_input("{}: damaged file (the checksum of the header does not match)", file.name());
  }
  frames = raw.count_attribute("frames");
  return {raw.text_attribute("scene"), raw.text_attribute("config"), raw.text_attribute("git"),
          raw.count_attribute("seed"),
          tree.attributes.contains("kernels") ? raw.text_attribute("kernels") : std::string()};
}

void check_same_header(const RecordingHeader& found, const RecordingHeader& wanted,
                       const std::string& where) {
  const auto differs = [&](const char* what, const std::string& a, const std::string& b) {
    throw OtherRecording(
        fmt::format("{}: recorded with another {} ({} there, {} now); remove it or record to another file",
                    where, what, a, b));
  };
  if (found.scene != wanted.scene) differs("scene", found.scene, wanted.scene);
  if (found.seed != wanted.seed) differs("seed", std::to_string(found.seed), std::to_string(wanted.seed));
  if (found.git != wanted.git) differs("revision of the program", found.git, wanted.git);
  if (found.config != wanted.config) {
    differs("configuration", digest_text(digest_of(found.config)), digest_text(digest_of(wanted.config)));
  }
}

std::string kernels_after(const std::string& before, const std::string& own) {
  if (before.empty() || before == own || before.ends_with(", " + own)) return before.empty() ? own : before;
  return before + ", " + own;
}

std::vector<std::string> read_frame_ids(const h5::ReadFile& file, std::size_t declared) {
  if (!file.has("/steps")) throw_input("{}: damaged file (no group /steps)", file.name());
  std::vector<std::string> ids = file.children("/steps");
  for (const std::string& id : ids) {
    if (!is_frame_id(id)) throw_input("{}: '/steps/{}' is not the name of a frame", file.name(), id);
  }
  if (ids.size() != declared) {
    throw_input("{}: damaged file ({} frames, but the header counts {})", file.name(), ids.size(), declared);
  }
  std::sort(ids.begin(), ids.end(), frame_before);
  return ids;
}

RawTree frame_tree(const Frame& frame) {
  RawTree tree = encode_frame(frame);
  tree.attributes["id"] = frame.id;
  tree.attributes[kChecksum] = checksum_of(tree);
  return tree;
}

std::string frame_place(const std::string& file, const std::string& id) {
  return fmt::format("{}: frame {}", file, id);
}

RawTree read_frame_tree(const h5::ReadFile& file, const std::string& id) {
  const std::string where = frame_place(file.name(), id);
  RawTree tree = file.read("/steps/" + id, where);
  const RawReader raw(tree, where);
  if (raw.text_attribute(kChecksum) != checksum_of(tree)) {
    raw.fail("damaged frame (its checksum does not match); record it again");
  }
  if (raw.text_attribute("id") != id)
    raw.fail("damaged frame (it belongs to step " + raw.text_attribute("id") + ")");
  return tree;
}

std::optional<RawTree> read_statistics_tree(const h5::ReadFile& file) {
  if (!file.has("/statistics")) return std::nullopt;
  const std::string where = file.name() + ": statistics";
  RawTree tree = file.read("/statistics", where);
  decode_statistics(tree, where);
  return tree;
}

}  // namespace signorini
