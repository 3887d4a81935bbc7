// Under what a run was measured, as far as it tells: what of it differs from another run's, or from what a bound is of.
// What is not told is no difference.
//
//   DifferencesOf(run, baseline)   {"ran on 1 thread instead of 8"}
#pragma once

#include <string>
#include <vector>

#include "infimum/graph/run_profile.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"

namespace infimum {

// "ran on 8 threads instead of 1", "is of another model file (SHA-256 12ab... instead of 34cd...)".
std::vector<std::string> DifferencesOf(const RunProfile& run, const RunProfile& other);

// Whether a run that says it kept `kept` counts under `contract`: its own, or stricter. A run that says nothing does
// not.
bool Keeps(const std::string& kept, NumericContract contract);

// "AMD EPYC with 8 threads", of a processor.
std::string PlaceText(const Device& device, std::int64_t threads);

// "batch=8 seq=128"
std::string DimsText(const std::map<std::string, std::int64_t>& dims);

}  // namespace infimum
