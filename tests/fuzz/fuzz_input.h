// What the fuzz targets share: an input as a stream or a file, and what must hold of whatever a reader made of it.
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//     std::istringstream text = TextOf(data, size);
//     const Result<RunProfile> run = ReadOnnxRuntimeProfile(text, kOrigin);
//     if (run.ok()) CheckRun(*run); else CheckRefusal(run.error());
//     return 0;
//   }
//
// A broken promise aborts, which libFuzzer and the replay of the corpus both report with the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "src/readers/read_results.h"

namespace infimum::fuzz {

inline constexpr std::string_view kOrigin = "input";

// Aborts where the promise does not hold.
void Require(bool holds, const std::string& promise);
template <class Outcome>
void RequireOk(const Outcome& outcome, const std::string& promise) {
  if (!outcome.ok()) Require(false, promise + ": " + outcome.error().message);
}

std::istringstream TextOf(const std::uint8_t* data, std::size_t size);

// The input as a file of this process, overwritten by the next.
std::filesystem::path FileOf(const std::uint8_t* data, std::size_t size);

// It names the input, and is one line of printable text, whatever was in the input.
void CheckRefusal(const Error& error, std::string_view origin = kOrigin);
// How often that was asked: what a corpus calls sound must not be refused.
std::size_t Refusals();

// Times are finite and not negative; there is something in it.
void CheckRun(const RunProfile& run);
// In order, not negative, and every number is one of what it refers to.
void CheckTimeline(const Timeline& timeline);
// Accepts rows that keep the promises of measurements.
ResultsTaker CheckingTaker();

}  // namespace infimum::fuzz
