// All benchmarks of this folder in one program, on the first GPU that CUDA shows (CUDA_VISIBLE_DEVICES chooses).
//
//   --tier heuristic|engine|exhaustive   how many candidates are looked for (default: engine)
//   --list                               print their names, layouts and contracts, run nothing
//   --device-properties FILE             with --list: of the GPU that this JSON describes, as cuDNN writes it; none is
//   needed
//   --benchmark_...                      Google Benchmark's own
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "cuda_program.h"

namespace gpu {
namespace {

// Before the first name of each layer.
void PrintLayer(const std::string& layer) {
  static std::string last;
  if (layer != last) std::printf("# %s\n", layer.c_str());
  last = layer;
}

}  // namespace

void AddBenchmark(const Options& options, const std::string& layer, const Candidate& candidate,
                  const std::function<GpuTimes()>& measure) {
  std::string label = candidate.name + " " + candidate.layouts + " contract=" + candidate.contract;
  if (options.list) {
    PrintLayer(layer);
    std::printf("%s\n", label.c_str());
    return;
  }
  const auto run = [=](benchmark::State& state) {
    state.SetLabel(label);
    for (auto _ : state) {
      try {
        const GpuTimes result = measure();
        if (!result.captured) state.SetLabel(label + " uncaptured");
        Report(result.times, state);
        state.counters["library_choice"] = candidate.library_choice ? 1 : 0;
      } catch (const std::exception& error) {
        state.SkipWithError(error.what());
        break;
      }
    }
  };
  benchmark::RegisterBenchmark((layer + "/" + candidate.name).c_str(), run)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void AddRefused(const Options& options, const std::string& layer, const Candidate& candidate,
                const std::string& reason) {
  if (options.list) {
    PrintLayer(layer);
    std::printf("# %s %s contract=%s: %s\n", candidate.name.c_str(), candidate.layouts.c_str(),
                candidate.contract.c_str(), reason.c_str());
    return;
  }
  AddBenchmark(options, layer, candidate, [reason]() -> GpuTimes { throw Unsupported(reason); });
}

}  // namespace gpu

namespace {

// Takes ours out of the command line; what is left is Google Benchmark's to judge.
gpu::Options TakeOptions(int& argc, char** argv) {
  gpu::Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) throw std::runtime_error(argument + " needs a value");
      return argv[i];
    };
    if (argument == "--list") {
      options.list = true;
    } else if (argument == "--device-properties") {
      options.device_properties = value();
    } else if (argument == "--tier") {
      const std::string name = value();
      if (name != "heuristic" && name != "engine" && name != "exhaustive")
        throw std::runtime_error("--tier " + name + ": it is heuristic, engine or exhaustive");
      options.tier = name == "heuristic" ? gpu::Tier::kHeuristic
                     : name == "engine"  ? gpu::Tier::kEngine
                                         : gpu::Tier::kExhaustive;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (!options.device_properties.empty() && !options.list)
    throw std::runtime_error("--device-properties describes a GPU that is not there: it needs --list");
  return options;
}

// Before Google Benchmark's own, which then ends the program.
void PrintOwnHelp(const char* program) {
  std::printf(
      "%s [--tier heuristic|engine|exhaustive]  how many candidates are looked for (default: engine)\n"
      "    [--list]                    print their names, layouts and contracts, run nothing\n"
      "    [--device-properties FILE]  with --list: of the GPU that this JSON describes, as cuDNN writes it\n\n",
      program);
}

// What `infimum import` reads beside the benchmarks, and what a reader wants to know.
void AddContext() {
  int driver = 0, runtime = 0;
  gpu::Check(cudaDriverGetVersion(&driver), "no version of the driver");
  gpu::Check(cudaRuntimeGetVersion(&runtime), "no version of the runtime");
  cudaDeviceProp properties{};
  gpu::Check(cudaGetDeviceProperties(&properties, 0), "no properties of the GPU");
  const auto version = [](int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  benchmark::AddCustomContext("infimum_schema", "infimum.emit/1");
  if (const char* const device = std::getenv("INFIMUM_DEVICE"); device != nullptr && *device != '\0')
    benchmark::AddCustomContext("infimum_device", device);
  benchmark::AddCustomContext("infimum_libraries",
                              LibraryVersion() + ",cuda=" + version(runtime) + ",cuda-driver=" + version(driver));
  benchmark::AddCustomContext("infimum_threads", "1");
  benchmark::AddCustomContext("gpu", properties.name);
}

void RequireGpu() {
  int count = 0, driver = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
    throw std::runtime_error("no GPU to run on: there is no driver of NVIDIA's here");
  throw std::runtime_error(std::string("no GPU to run on: ") +
                           (status == cudaSuccess ? "CUDA shows none" : cudaGetErrorString(status)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i)
      if (std::strcmp(argv[i], "--help") == 0) PrintOwnHelp(argv[0]);
    const gpu::Options options = TakeOptions(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    if (options.device_properties.empty()) RequireGpu();
    RegisterBenchmarks(options);
    if (options.list) return 0;
    AddContext();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
  } catch (const std::exception& error) {
    const char* const slash = std::strrchr(argv[0], '/');
    std::fprintf(stderr, "%s: %s\n", slash == nullptr ? argv[0] : slash + 1, error.what());
    return 1;
  }
}
