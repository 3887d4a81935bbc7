// Which candidates a library has for a workload: of this machine's device its runner tells, of a GPU that is not here
// the library itself, asked by a program of its own.
//
//   CandidateQuestion question{.workload = *ParseWorkload("matmul dtype=f16:f16:f16 ..."), .gpu = "h200"};
//   Result<CandidateList> list = AskForCandidates(installation, question);
#pragma once

#include <optional>
#include <string>

#include "src/app/runners/installation.h"
#include "src/core/results/candidate_list.h"

namespace infimum {

struct CandidateQuestion {
  Workload workload;
  std::optional<NumericContract> contract;  // default: the workload's own
  CandidateTier tier = CandidateTier::kEngine;
  std::string backend;  // default: of this machine "onednn", of a GPU that is not here "cuda"
  std::int64_t threads = 1;
  std::string gpu;  // a shipped name or a file of device properties; empty: this machine's device
};

Result<CandidateList> AskForCandidates(const Installation& installation, const CandidateQuestion& question);

}  // namespace infimum
