// What benchmarks of every library for NVIDIA's GPUs share: options of the command line, and a candidate's benchmark.
#pragma once

#include <stdexcept>
#include <string>

#include "cuda_timing.h"

namespace gpu {

// How many candidates the program looks for: what the library would choose, and its next best, in the usual form; the
// best setting of each algorithm in every form; every setting that it takes.
enum class Tier { kHeuristic, kEngine, kExhaustive };

inline constexpr std::size_t kMostOfAForm = 1000;  // in the tier of every setting

struct Options {
  Tier tier = Tier::kEngine;
  bool list = false;              // names alone: nothing is run
  std::string device_properties;  // a file: of a GPU that is not there (with `list`, where the library can)
};

struct Candidate {
  std::string name;      // "cudnn-graph/eng62_k2=5_k13=1/acc=f16"
  std::string layouts;   // "acdb->acdb"
  std::string contract;  // "f16": what it may do to the numbers
  bool library_choice = false;
};

// What a candidate cannot do, rather than what failed.
struct Unsupported : std::runtime_error {
  explicit Unsupported(const std::string& reason)
      : std::runtime_error((reason.rfind("unsupported: ", 0) == 0 ? "" : "unsupported: ") + reason) {}
};

// A benchmark of it, or a line where names are asked for. `measure` throws with the library's words where it fails:
// that skips this benchmark with an error, and the others go on.
void AddBenchmark(const Options& options, const std::string& layer, const Candidate& candidate,
                  const std::function<GpuTimes()>& measure);

// A benchmark that is skipped with the reason.
void AddRefused(const Options& options, const std::string& layer, const Candidate& candidate,
                const std::string& reason);

}  // namespace gpu

// Of the library at hand, in its ..._candidates.cc.
std::string LibraryVersion();  // "cudnn=9.19.0"
void RegisterBenchmarks(const gpu::Options& options);
