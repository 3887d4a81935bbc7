// What a library offers for a workload, as a program that asked it tells: one line of JSON.
//
//   {"schema":"infimum.candidates/1","workload":"convolution dtype=f16...","contract":"f16","tier":"engine",
//    "library":"cudnn","version":"9.19.0","device":"NVIDIA H200","refusal":"",
//    "candidates":[{"library":"cudnn-graph","algorithm":"eng62_k2=5","input_layout":"acdb","output_layout":"acdb",
//                   "library_choice":true,"notes":"tensor-core"}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"

namespace infimum {

struct OfferedCandidate {
  Candidate candidate;
  std::string notes;  // what the library says of its arithmetic; empty where nothing

  friend bool operator==(const OfferedCandidate&, const OfferedCandidate&) = default;
};

struct CandidateList {
  std::string workload;  // canonical text
  NumericContract contract = NumericContract::kStrictF32;
  CandidateTier tier = CandidateTier::kEngine;
  std::string library, version;              // that was asked
  std::string device;                        // that it was asked about
  std::vector<OfferedCandidate> candidates;  // in the library's order of preference
  std::string refusal;                       // why there is none, or none of some kinds; empty where all is said

  friend bool operator==(const CandidateList&, const CandidateList&) = default;
};

// Without a newline.
std::string FormatCandidateList(const CandidateList& list);
Result<CandidateList> ParseCandidateList(std::string_view line);

}  // namespace infimum
