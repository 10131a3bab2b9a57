#include "harness/catalogue.h"

#include <nlohmann/json.hpp>

#include "solvers/registry.h"

namespace signorini {
namespace {

using Json = nlohmann::ordered_json;

constexpr MeasureEntry kMeasures[] = {
    {"residual", "1",
     "the measure that --tolerance limits: how far the answer is from satisfying contact and friction, as a "
     "velocity error of the worst contact (Alart-Curnier function) divided by the largest entry of q; for "
     "cone and pyramid"},
    {"island_residual", "1",
     "the same with every contact relative to the largest entry of q in its own island: a slow island that "
     "is "
     "far from its answer shows beside a fast one"},
    {"natural_map", "1",
     "largest |r - P(r - rho u^)| / rho over the contacts, divided by the largest entry of q; P projects "
     "onto the friction cone; cone only"},
    {"siconos_error", "unit-dependent",
     "the error that Siconos reports (rho = 1), for comparison with its papers; cone only"},
    {"fischer_burmeister", "m/s",
     "norm of the Fischer-Burmeister function of normal impulse and normal velocity, with friction terms"},
    {"penetration", "m",
     "deepest penetration that the answer leaves at the end of the step; needs the time step"},
    {"cone_violation", "1",
     "how far friction exceeds mu times the normal impulse, divided by the largest normal impulse"},
    {"dissipation_angle", "degrees",
     "largest angle between friction and the opposite of the sliding direction, over the sliding contacts"},
    {"equation", "1",
     "error of the equation of motion M v = H r + f for the velocities that the solver returned, scaled by "
     "the diagonal of M, divided by the largest entry of q"},
    {"fb_normal, fb_static, fb_kinetic", "m",
     "Fischer-Burmeister error of normal, sticking and sliding constraints (Verschoor and Jalba 2019, Fig. "
     "13); needs the time step"},
};

}  // namespace

std::span<const MeasureEntry> measures() { return kMeasures; }

std::string measures_json() {
  Json all = Json::array();
  for (const MeasureEntry& m : kMeasures)
    all.push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.help}});
  return all.dump();
}

std::string solvers_json() {
  Json all = Json::array();
  for (const SolverEntry& entry : solver_registry()) {
    Json options = Json::array();
    for (const OptionDescription& o : entry.describe())
      options.push_back({{"key", o.key}, {"type", o.type}, {"default", o.value}, {"help", o.help}});
    all.push_back(
        {{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}, {"options", options}});
  }
  return all.dump();
}

}  // namespace signorini
