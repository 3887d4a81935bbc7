// The fields of cells and of their facts as JSON, which evaluations and the store share.
#pragma once

#include "infimum/results/evaluation_cell.h"
#include "src/core/results/json_struct.h"

namespace infimum {

template <>
inline constexpr CellQuantity kLastEnumerator<CellQuantity> = CellQuantity::kFloor;
template <>
inline constexpr CellState kLastEnumerator<CellState> = CellState::kSkipped;

// `json` without the members that are as in `usual`, nested ones likewise; an object of which nothing is left goes too.
inline Json WithoutUsual(const Json& json, const Json& usual) {
  Json left = Json::object();
  for (const auto& [name, value] : json.items()) {
    const Json* const same = FindMember(usual, name);
    if (same != nullptr && *same == value) continue;
    Json kept = value.is_object() && same != nullptr ? WithoutUsual(value, *same) : value;
    if (!kept.is_object() || !kept.empty()) left[name] = std::move(kept);
  }
  return left;
}

template <class Visitor>
void VisitFields(Visitor& visit, Like<CellModel> auto& model) {
  visit.Sparse("family", model.family);
  visit.Sparse("choices", model.choices);
  visit("weights", model.weights);
  visit.Sparse("sha256", model.sha256);
}

template <class Visitor>
void VisitFields(Visitor& visit, Like<CellFramework> auto& framework) {
  visit.Sparse("name", framework.name);
  visit.Sparse("version", framework.version);
  visit.Sparse("mode", framework.mode);
  visit.Sparse("module", framework.module);
  visit.Sparse("options", framework.options);
}

template <class Visitor>
void VisitFields(Visitor& visit, Like<CellMethod> auto& method) {
  visit.Lenient("seconds", method.seconds, {0.01, 600});
  visit.Lenient("processes", method.processes, {1, 100});
  visit.Lenient("time_limit_s", method.time_limit_s, {1, 1e6});
  visit("memory_limit", method.memory_limit, {1 << 20});
}

template <class Visitor>
void VisitFields(Visitor& visit, Like<EvaluationCell> auto& cell) {
  visit.Lenient("model", cell.model);
  visit.Sparse("dims", cell.dims, {0, double{std::int64_t{1} << 40}});
  visit.Sparse("contract", cell.contract);
  visit.Sparse("device", cell.device);
  visit.Lenient("quantity", cell.quantity);
  visit.Lenient("framework", cell.framework);
  visit.Lenient("threads", cell.threads, {1, 4096});
  visit.Sparse("cores", cell.cores);
  visit.Lenient("input", cell.input);
  visit.Lenient("method", cell.method);
}

template <class Visitor>
void VisitFields(Visitor& visit, Like<CellFacts> auto& facts) {
  visit("parameters", facts.parameters);
  visit("flops", facts.flops);
  visit("bytes", facts.bytes);
  visit("weight_bytes", facts.weights);
  visit("memory_bytes", facts.memory);
  visit("floor_us", facts.floor);
  visit.Sparse("decided_by", facts.decided_by);
  visit("input_bytes", facts.inputs);
}

}  // namespace infimum
