// All benchmarks of this folder in one program: one thread on one core, unless OMP_NUM_THREADS says otherwise.
#include <benchmark/benchmark.h>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string>
#include <vector>

#include "onednn_candidates.h"

namespace {

// OpenMP reads its variables while it loads, before main: they are set here, and the program starts itself again. The
// last cores are taken, since the rest of the system favours the first. OMP_PLACES that is set already stays.
void StartPinned(char** arguments) {
#if defined(__linux__)
  if (std::getenv("BENCHMARK_AFFINITY") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 0);
  setenv("OMP_DYNAMIC", "false", 0);
  const long wanted = std::strtol(std::getenv("OMP_NUM_THREADS"), nullptr, 10);
  std::string affinity = "free", places;
  std::vector<int> cores;
  cpu_set_t allowed, chosen;
  CPU_ZERO(&allowed);
  CPU_ZERO(&chosen);
  if (std::getenv("OMP_PLACES") == nullptr && sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int core = CPU_SETSIZE; core-- > 0 && static_cast<long>(cores.size()) < wanted;)
      if (CPU_ISSET(core, &allowed)) cores.insert(cores.begin(), core);
  }
  for (const int core : cores) CPU_SET(core, &chosen);
  if (!cores.empty() && static_cast<long>(cores.size()) == wanted &&
      sched_setaffinity(0, sizeof chosen, &chosen) == 0) {
    affinity = "pinned:";
    for (const int core : cores) {
      if (!places.empty()) affinity += ',', places += ',';
      affinity += std::to_string(core);
      places += '{' + std::to_string(core) + '}';
    }
    setenv("OMP_PLACES", places.c_str(), 1);
    setenv("OMP_PROC_BIND", "true", 1);
  }
  setenv("BENCHMARK_AFFINITY", affinity.c_str(), 1);
  execv("/proc/self/exe", arguments);
#else
  (void)arguments;
#endif
}

// What `infimum import` reads beside the benchmarks.
void AddContext() {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  const char* const affinity = std::getenv("BENCHMARK_AFFINITY");
  benchmark::AddCustomContext("infimum_schema", "infimum.emit/1");
  if (const char* const device = std::getenv("INFIMUM_DEVICE"); device != nullptr && *device != '\0')
    benchmark::AddCustomContext("infimum_device", device);
  benchmark::AddCustomContext("infimum_libraries", "onednn=" + onednn::Version());
  benchmark::AddCustomContext("infimum_threads", threads != nullptr ? threads : "1");
  benchmark::AddCustomContext("infimum_affinity", affinity != nullptr ? affinity : "free");
}

}  // namespace

int main(int argc, char** argv) {
  StartPinned(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  AddContext();
  onednn::RegisterBenchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
