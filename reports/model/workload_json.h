// The candidates of a report's workloads and the sources of its findings as JSON: compact, since there are thousands.
// What is not there has no key; intervals and errors have as many digits as they are worth.
//
//   {"name":"onednn/gemm:jit","latency_us":212.3125,"interval_us":[209.1,214.9],"repetitions":3}
//   {"name":"onednn/jit_dw:avx512_core","outcome":"unsupported","reason":"depthwise only"}
#pragma once

#include "analyzer/rows/workload_candidates.h"
#include "reports/model/report_model.h"
#include "reports/text/json_values.h"

namespace infimum {

void to_json(Json& json, const KnownCandidate& candidate);
void to_json(Json& json, const WorkloadCandidates& workload);
void to_json(Json& json, const EmittedSource& source);

}  // namespace infimum
