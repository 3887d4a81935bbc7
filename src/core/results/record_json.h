// The values of a results file as JSON objects and back, checked. The journal and Google Benchmark JSON are
// made of these.
#pragma once

#include "infimum/results/results_journal.h"
#include "src/core/results/json_fields.h"

namespace infimum {

Json ToJson(const ResultsHeader& header);  // device, environment, backend; without schema and kind
// Written by this `version`: a device and environment of an earlier one are those of today.
Result<ResultsHeader> HeaderFrom(const Json& json, std::int64_t version);

Json ToJson(const PeakRate& rate);
Result<PeakRate> PeakFrom(const Json& json);

Json ToJson(const Repetition& repetition);
Result<Repetition> RepetitionFrom(const Json& json);

// All of a row but its repetitions, device and environment.
Json FactsToJson(const Measurement& row);
Result<Measurement> FactsFrom(const Json& json);

// That what was measured, and nothing else, has repetitions.
Status CheckRepetitions(const Measurement& row);

// "infimum.results/2"
std::string SchemaName();
// That the schema of `json` names; an error for another schema or a newer version.
Result<std::int64_t> VersionOf(const Json& json);

}  // namespace infimum
