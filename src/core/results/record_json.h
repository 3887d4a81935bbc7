// The values of a results file as JSON objects and back, checked. The journal and Google Benchmark JSON are
// made of these, and so are the worker's messages.
#pragma once

#include "infimum/results/results_journal.h"
#include "src/core/results/json_struct.h"

namespace infimum {

template <>
inline constexpr CacheState kLastEnumerator<CacheState> = CacheState::kColdWeights;
template <>
inline constexpr CandidateTier kLastEnumerator<CandidateTier> = CandidateTier::kExhaustive;
template <>
inline constexpr DataType kLastEnumerator<DataType> = DataType::kBool;
template <>
inline constexpr DeviceKind kLastEnumerator<DeviceKind> = DeviceKind::kGpu;
template <>
inline constexpr NumericContract kLastEnumerator<NumericContract> = NumericContract::kFp8;
template <>
inline constexpr Outcome kLastEnumerator<Outcome> = Outcome::kFailed;
template <>
inline constexpr PeakRate::Kind kLastEnumerator<PeakRate::Kind> = PeakRate::Kind::kRetention;

// The canonical text.
template <>
struct JsonForm<WorkloadKey> {
  static const std::string& Write(const WorkloadKey& key) { return key.text; }
  static Status Read(const std::string& text, WorkloadKey& key);
};

// [lowest, highest], in MHz.
template <>
struct JsonForm<ClockRange> {
  static std::vector<double> Write(const ClockRange& clocks) { return {clocks.low_mhz, clocks.high_mhz}; }
  static Status Read(const std::vector<double>& readings, ClockRange& clocks);
};

void VisitFields(auto& visit, Like<Device> auto& device) {
  visit("kind", device.kind);
  visit("name", device.name);
  visit("vendor", device.vendor);
  visit("generation", device.generation);
  visit("identity", device.identity);
  visit("cores", device.cores, {1});
  visit("last_level_cache_bytes", device.last_level_cache);
  visit("memory_bytes", device.memory);
}

void VisitFields(auto& visit, Like<Environment> auto& environment) {
  visit("libraries", environment.libraries);
  visit("threads", environment.threads, {1});
  visit("evidence", environment.evidence);
}

void VisitFields(auto& visit, Like<CampaignOrigin> auto& campaign) {
  visit("key", campaign.key);
  visit("source", campaign.source);
}

void VisitFields(auto& visit, Like<ResultsHeader> auto& header) {
  visit("device", header.device);
  visit("environment", header.environment);
  visit("backend", header.backend);
  visit("campaign", header.campaign);
}

void VisitFields(auto& visit, Like<PeakRate> auto& rate) {
  constexpr Limits kRates{0, 1e30};
  visit("kind", rate.kind);
  if (rate.is_memory()) {
    visit("working_set_bytes", rate.working_set);
    visit("bytes_per_second", rate.per_second, kRates);
  } else if (rate.kind == PeakRate::Kind::kLaunch) {
    visit("launches_per_second", rate.per_second, kRates);
  } else if (rate.kind == PeakRate::Kind::kRetention) {
    visit("working_set_bytes", rate.working_set);
    visit("seconds", rate.per_second, kRates);
  } else {
    if (rate.kind == PeakRate::Kind::kArithmetic) visit("type", rate.type);
    visit("flops_per_second", rate.per_second, kRates);
  }
  visit("threads", rate.threads, {1});
  visit("source", rate.source);
}

void VisitFields(auto& visit, Like<Candidate> auto& candidate) {
  visit("library", candidate.library);
  visit("algorithm", candidate.algorithm);
  visit("input_layout", candidate.input_layout);
  visit("output_layout", candidate.output_layout);
  visit("library_choice", candidate.library_choice);
}

void VisitFields(auto& visit, Like<Repetition> auto& repetition) {
  visit("count", repetition.count, {1});
  visit("minimum_us", repetition.minimum);
  visit("median_us", repetition.median);
  visit("p95_us", repetition.p95);
  visit("samples_us", repetition.samples);
  visit("clock_mhz", repetition.clocks, {0, 1e9});
  visit("beat_us", repetition.beat);
}

// All of a row but its repetitions, device and environment: what Google Benchmark JSON has beside each repetition.
template <class Visitor, class Row>
void VisitFacts(Visitor& visit, Row& row) {
  visit("workload", row.workload);
  visit("candidate", row.candidate);
  visit("contract", row.contract);
  visit("cache", row.cache);
  visit("measured_at", row.measured_at);
  visit("outcome", row.outcome);
  visit.Sparse("reason", row.reason);
  visit("numeric_error", row.numeric_error);
  visit("constant_bytes", row.constants, {1});
  visit.Sparse("flags", row.flags);
}

void VisitFields(auto& visit, Like<Measurement> auto& row) {
  VisitFacts(visit, row);
  visit.Sparse("repetitions", row.repetitions);
}

// Written by this `version`: a device and environment of an earlier one are those of today.
Result<ResultsHeader> HeaderFrom(const Json& json, std::int64_t version);
Result<PeakRate> PeakFrom(const Json& json);
Result<Measurement> FactsFrom(const Json& json);

Status Check(const Repetition& repetition);
// Also that what was measured, and nothing else, has repetitions.
Status CheckRepetitions(const Measurement& row);

// "infimum.results/2"
std::string SchemaName();
// That the schema of `json` names; an error for another schema or a newer version.
Result<std::int64_t> VersionOf(const Json& json);

}  // namespace infimum
