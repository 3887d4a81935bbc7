// How values become JSON, each type one way, so that a struct's JSON is the list of its fields:
//
//   void to_json(OrderedJson& json, const Bound& bound) {
//     json = {{"variant", bound.variant}, {"latency_us", bound.latency}, {"interval_us", bound.interval}};
//   }
//   json["bounds"] = bracket.bounds;   // [{"variant":"sequential","latency_us":12.5,"interval_us":[12.4,12.8]}]
//
// Times are microseconds, counts plain numbers, enumerations their names, candidates and keys their texts, what is
// absent is null.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "infimum/base/id.h"
#include "infimum/base/units.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/device.h"
#include "infimum/measurement/statistics.h"

namespace infimum {

// Keys stay in the order they were written: texts are compared and read by people.
using OrderedJson = nlohmann::ordered_json;

template <typename T>
concept NamedEnumeration = std::is_enum_v<T> && requires(T value) {
  { Name(value) } -> std::convertible_to<std::string_view>;
};

template <typename Tag>
void to_json(OrderedJson& json, const Count<Tag>& count) {
  json = count.value;
}

template <typename Tag>
void to_json(OrderedJson& json, Id<Tag> id) {
  json = id.index();
}

inline void to_json(OrderedJson& json, const Interval& interval) {
  json = OrderedJson::array({interval.low.count(), interval.high.count()});
}

inline void to_json(OrderedJson& json, const Candidate& candidate) { json = candidate.name(); }
inline void to_json(OrderedJson& json, const DeviceKey& device) { json = device.text; }
inline void to_json(OrderedJson& json, const EnvironmentKey& environment) { json = environment.text; }
inline void to_json(OrderedJson& json, const WorkloadKey& workload) { json = workload.text; }

// Of a trace's times, which are whole nanoseconds.
inline Latency OfNanoseconds(std::int64_t nanoseconds) { return std::chrono::nanoseconds(nanoseconds); }

inline OrderedJson TextOrNull(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

// Bytes that are not UTF-8 become U+FFFD, numbers that JSON lacks null: dumping never throws for them.
inline std::string DumpJson(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace infimum

template <>
struct nlohmann::adl_serializer<infimum::Latency> {
  static void to_json(infimum::OrderedJson& json, const infimum::Latency& latency) { json = latency.count(); }
};

template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(infimum::OrderedJson& json, const std::optional<T>& value) {
    if (value)
      json = *value;
    else
      json = nullptr;
  }
};

template <infimum::NamedEnumeration T>
struct nlohmann::adl_serializer<T> {
  static void to_json(infimum::OrderedJson& json, T value) { json = Name(value); }
};

template <>
struct nlohmann::adl_serializer<infimum::Workload> {
  static void to_json(infimum::OrderedJson& json, const infimum::Workload& workload) {
    json = infimum::Format(workload);
  }
};
