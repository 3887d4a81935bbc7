// Messages between supervisor and worker: one JSON object a line, a request and its one answer.
//
//   {"do":"trial","workload":"convolution ...","candidate":{...},...}  ->  {"trial":{"outcome":"measured",...}}
//   {"do":"candidates","workload":"...","contract":"bf16","tier":"engine"}  ->  {"candidates":[{...}]}
//   {"do":"describe"}  ->  {"records":["<a journal header>"]}
//   {"do":"probes","whole":true}  ->  {"probes":["memory",...]}  any of them  ->  {"error":"..."}
//   {"do":"replay","schedule":"r.json","tensors":"r",...}  ->  {"replay":"<infimum.replay/1>"}
//   {"do":"peaks","probe":"memory"}  ->  {"peaks":["<a journal peak>", ...]}
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "infimum/results/results_journal.h"
#include "microbench/harness/sampling/replay_trial.h"
#include "microbench/harness/sampling/trial.h"
#include "src/core/results/replay_result.h"

namespace infimum {

// Lines that a worker sends by itself: that it lives, and that its candidate is prepared.
inline constexpr std::string_view kAliveLine = R"({"sign":"alive"})";
inline constexpr std::string_view kPreparedLine = R"({"sign":"prepared"})";

struct DescribeRequest {
  friend bool operator==(const DescribeRequest&, const DescribeRequest&) = default;
};

struct PeakProbesRequest {
  bool whole = true;  // PeakDetail::kWhole
  friend bool operator==(const PeakProbesRequest&, const PeakProbesRequest&) = default;
};

struct PeaksRequest {
  std::string probe;

  friend bool operator==(const PeaksRequest&, const PeaksRequest&) = default;
};

struct CandidatesRequest {
  std::string workload;
  NumericContract contract = NumericContract::kStrictF32;
  CandidateTier tier = CandidateTier::kEngine;

  friend bool operator==(const CandidatesRequest&, const CandidatesRequest&) = default;
};

using WorkerRequest =
    std::variant<DescribeRequest, PeakProbesRequest, PeaksRequest, CandidatesRequest, TrialRequest, ReplayRequest>;

// In the order of the requests; an Error where the backend could not answer.
using WorkerAnswer = std::variant<ResultsHeader, std::vector<std::string>, std::vector<PeakRate>,
                                  std::vector<Candidate>, Trial, ReplayResult, Error>;

// Without the line's end.
std::string FormatRequest(const WorkerRequest& request);
std::string FormatAnswer(const WorkerAnswer& answer);

// Never fail on what Format* wrote; an error on anything else (a library that printed into the pipe).
Result<WorkerRequest> ParseRequest(std::string_view line);
Result<WorkerAnswer> ParseAnswer(std::string_view line);

}  // namespace infimum
