// The pieces that several of our JSON texts share, each written one way.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/bracket/bracket.h"

namespace infimum {

// Keys stay in the order they were written: texts are compared and read by people.
using Json = nlohmann::ordered_json;

inline Json MicrosecondsOrNull(const std::optional<Latency>& latency) {
  return latency ? Json(latency->count()) : Json(nullptr);
}

inline Json CompositionOrNull(const std::optional<CompositionError>& error) {
  if (!error) return nullptr;
  return {{"value", error->value()},
          {"resident_share", error->resident_share},
          {"warm", error->warm},
          {"cold-weights", error->cold_weights}};
}

inline Json IntervalOrNull(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low.count(), interval->high.count()} : Json(nullptr);
}

inline Json BoundsJson(const std::vector<Bound>& bounds) {
  Json array = Json::array();
  for (const Bound& bound : bounds) {
    array.push_back({{"variant", Name(bound.variant)},
                     {"latency_us", bound.latency.count()},
                     {"interval_us", IntervalOrNull(bound.interval)},
                     {"assumptions", bound.assumptions}});
  }
  return array;
}

inline Json RegretJson(const std::optional<AlgorithmRegret>& regret) {
  if (!regret) return nullptr;
  return {{"sum_us", regret->sum.count()}, {"layers", regret->layers}, {"validated", regret->is_validated}};
}

inline Json InversionsJson(const std::vector<Inversion>& inversions) {
  Json array = Json::array();
  for (const Inversion& inversion : inversions) {
    array.push_back({{"variant", inversion.bound},
                     {"below", inversion.name},
                     {"excess_us", inversion.excess.count()},
                     {"beyond_noise", inversion.is_beyond_noise}});
  }
  return array;
}

inline Json CoverageJson(const Coverage& coverage) {
  return {{"measured", coverage.measured},
          {"estimated", coverage.estimated},
          {"free", coverage.free},
          {"missing", coverage.missing},
          {"missing_flops", coverage.missing_flops}};
}

inline Json WhatIfsJson(const std::vector<WhatIfOutcome>& what_ifs) {
  Json array = Json::array();
  for (const WhatIfOutcome& outcome : what_ifs) {
    Json bounds = Json::array();
    for (const WhatIfBound& bound : outcome.bounds) {
      bounds.push_back({{"variant", Name(bound.variant)},
                        {"latency_us", bound.latency.count()},
                        {"interval_us", bound.interval ? IntervalOrNull(*bound.interval) : Json(nullptr)},
                        {"gain_us", MicrosecondsOrNull(bound.gain)}});
    }
    array.push_back({{"what_if", outcome.name},
                     {"layers", outcome.layers},
                     {"inferences", outcome.inferences},
                     {"coverage", outcome.coverage ? CoverageJson(*outcome.coverage) : Json(nullptr)},
                     {"bounds", std::move(bounds)}});
  }
  return array;
}

inline Json FloorJson(const Floor& floor) {
  return {{"latency_us", floor.latency.count()}, {"decided_by", floor.decided_by}, {"assumptions", floor.assumptions}};
}

// Bytes that are not UTF-8 become U+FFFD, numbers that JSON lacks null: dumping never throws for them.
inline std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace infimum
