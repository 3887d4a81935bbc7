// The values of a results file as JSON objects and back, checked. The journal and Google Benchmark JSON are
// made of these.
#pragma once

#include "infimum/results/results_journal.h"
#include "src/results/json_fields.h"

namespace infimum {

Json ToJson(const ResultsHeader& header);  // device, environment, backend; without schema and kind
Result<ResultsHeader> HeaderFrom(const Json& json);

Json ToJson(const PeakRate& rate);
Result<PeakRate> PeakFrom(const Json& json);

Json ToJson(const Repetition& repetition);
Result<Repetition> RepetitionFrom(const Json& json);

// All of a row but its repetitions, device and environment.
Json FactsToJson(const Measurement& row);
Result<Measurement> FactsFrom(const Json& json);

// That what was measured, and nothing else, has repetitions.
Status CheckRepetitions(const Measurement& row);

// "infimum.results/1"; an error for another schema or a newer version.
std::string SchemaName();
Status CheckSchema(const Json& json);

}  // namespace infimum
