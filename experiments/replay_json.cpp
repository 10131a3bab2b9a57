#include "replay_json.h"

#include <fmt/format.h>

#include <cmath>

#include "base/durable_file.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json triple(const Vector3& x) { return Json::array({x[0], x[1], x[2]}); }

Json answer_names(const ReplayData& data) {
  Json names = Json::array();
  for (const auto& variant : data.plan.answers) {
    if (!variant) {
      names.push_back(
          {{"name", kRecordedAnswer}, {"options", ""}, {"law", std::string(enum_name(data.scene.law.law))}});
      continue;
    }
    const auto solver = make_solver(variant->name, variant->options);
    names.push_back({{"name", variant->label},
                     {"options", solver->options()},
                     {"law", std::string(enum_name(solver->common().law))}});
  }
  return names;
}

Json topology_json(const ReplayTopology& t) {
  return {{"triangles", t.triangles}, {"loose", t.loose},
          {"rods", t.rods},           {"triangles_at", t.triangles_at},
          {"body_at", t.body_at},     {"loose_at", t.loose_at},
          {"rods_at", t.rods_at}};
}

Json answer_json(const ReplayAnswerPlace& a) {
  Json json{{"status", std::string(enum_name(a.facts.status))},
            {"iterations", a.facts.iterations},
            {"residual", number(a.facts.residual)},
            {"message", a.facts.message},
            {"answered", a.answered}};
  if (a.answered) {
    json.update({{"r_at", a.r_at},
                 {"u_at", a.u_at},
                 {"errors_at", a.errors_at},
                 {"states_at", a.states_at},
                 {"iterates_at", a.iterates_at},
                 {"iterates", a.facts.at}});
  }
  return json;
}

Json frame_json(const ReplayFrame& f) {
  Json answers = Json::array();
  for (const ReplayAnswerPlace& answer : f.answers) answers.push_back(answer_json(answer));
  return {{"step", f.id},
          {"time", f.time},
          {"dt", f.dt},
          {"contacts", f.contacts},
          {"regions", f.regions},
          {"islands", f.islands},
          {"topology", f.topology},
          {"vertices", f.vertices},
          {"box_low", triple(f.box.low())},
          {"box_step", triple(f.box.step())},
          {"vertices_at", f.vertices_at},
          {"position_at", f.position_at},
          {"frame_at", f.frame_at},
          {"gap_at", f.gap_at},
          {"mu_at", f.mu_at},
          {"region_at", f.region_at},
          {"region_point_at", f.region_point_at},
          {"island_at", f.island_at},
          {"bodies_at", f.bodies_at},
          {"answers", answers}};
}

}  // namespace

Json replay_json(const ReplayData& data) {
  Json topologies = Json::array(), frames = Json::array();
  for (const ReplayTopology& topology : data.topologies) topologies.push_back(topology_json(topology));
  for (const ReplayFrame& frame : data.frames) frames.push_back(frame_json(frame));
  return {{"scene", data.header.scene},
          {"file", data.file},
          {"git", data.header.git},
          {"up", triple(data.scene.up)},
          {"tolerance", data.plan.limits.tolerance},
          {"solvers", answer_names(data)},
          {"topologies", topologies},
          {"frames", frames}};
}

void write_replay(const std::filesystem::path& path, const ReplayData& data) {
  const std::string json = replay_json(data).dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string head = fmt::format("signorini-replay 1 {}\n", json.size()) + json;
  const std::span<const std::byte> arrays = data.bytes.all();
  std::vector<std::byte> bytes(head.size() + arrays.size());
  std::memcpy(bytes.data(), head.data(), head.size());
  if (!arrays.empty()) std::memcpy(bytes.data() + head.size(), arrays.data(), arrays.size());
  write_durable(path, bytes);
}

}  // namespace signorini
