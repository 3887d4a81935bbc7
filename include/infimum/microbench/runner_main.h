// The whole of a runner but its library: command line, worker processes, rounds, journal, progress.
//
//   int main(int argc, char** argv) {
//     return infimum::RunnerMain(argc, argv, "onednn", [](const infimum::BackendOptions& options) {
//       return std::unique_ptr<infimum::Backend>(std::make_unique<infimum::OneDnnBackend>(options));
//     });
//   }
//
// links infimum::microbench_harness and becomes `infimum-microbench-onednn`. The program starts itself
// again as worker; only workers make a backend, so that a library which crashes, hangs or eats all memory
// costs one row. How a time is made: microbench/harness/sampling/README.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/microbench/backend.h"

namespace infimum {

struct BackendOptions {
  // Threads that a run may use. OMP_NUM_THREADS, OMP_PROC_BIND, OMP_PLACES and OMP_DYNAMIC are set to the same
  // and are set before the worker starts.
  std::int64_t threads = 1;
  // Cores that the worker is pinned to, one for each thread; empty while the device is described, so
  // that Backend::DescribeDevice sees all of them.
  std::vector<int> cores;
  // Seed of the random values in the buffers: the same seed, the same values.
  std::uint64_t seed = 1;
  // How much of the device's own memory a worker may use (--max-memory); 0: all.
  Bytes most_device_memory;
  // Counts the worker processes of a campaign: a fake backend draws its noise from it.
  std::int64_t process = 0;
  // --backend-option NAME=VALUE, options of one backend. A backend that does not know a name reports
  // so in the error of DescribeDevice(), as it does when it cannot work here at all.
  std::map<std::string, std::string> settings;

  friend bool operator==(const BackendOptions&, const BackendOptions&) = default;
};

// What is different about a runner's device.
struct RunnerTraits {
  // --max-memory limits what a worker takes of the device's memory; of the machine's it may use 75 % as usual, and
  // address space is not limited, of which drivers reserve much.
  bool has_device_memory = false;
};

// Returns the process's exit code: 0 done, 1 failed or interrupted, 2 usage.
//
// The harness sets the threads of the backend's Environment and completes the evidence: affinity and usable cores;
// clocks, system, host and version where the backend does not give them.
int RunnerMain(int argc, char** argv, std::string_view name,
               const std::function<std::unique_ptr<Backend>(const BackendOptions&)>& make_backend,
               RunnerTraits traits = {});

}  // namespace infimum
