#include "cublaslt_candidates.h"

#include <algorithm>

#include "cuda_program.h"

namespace cublaslt {
namespace {

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

// A factor as the library wants it: in the type that results are scaled in.
struct Factor {
  Factor(cudaDataType_t type, double value) { gpu::Encode(type, value, bytes); }
  alignas(8) unsigned char bytes[8] = {};
};

gpu::GpuTimes Measure(const Layer& layer, const Form& form, const Algorithm& algorithm, const Handle& handle) {
  const Problem problem = layer.describe(form);
  const gpu::Buffer first = problem.first.Memory(), second = problem.second.Memory();
  const gpu::Buffer addend = problem.addend.Memory(), result = problem.result.Memory();
  gpu::FillRandomly(first, problem.first.type(), layer.low, layer.high, 42);
  gpu::FillRandomly(second, problem.second.type(), layer.low, layer.high, 43);
  gpu::FillRandomly(addend, problem.addend.type(), -1, 1, 44);
  const gpu::Buffer workspace(kWorkspaceBytes);
  const Factor alpha(problem.types.scale, problem.alpha), beta(problem.types.scale, problem.beta);
  const gpu::Stream stream;
  return gpu::TakeGpuSamples(
      [&](cudaStream_t launched_in) {
        Check(cublasLtMatmul(handle.get(), problem.description, alpha.bytes, first.data(), problem.first.layout(),
                             second.data(), problem.second.layout(), beta.bytes, addend.data(), problem.addend.layout(),
                             result.data(), problem.result.layout(), &algorithm.algorithm, workspace.data(),
                             workspace.bytes(), launched_in),
              "cublasLtMatmul");
      },
      stream.get());
}

void Add(const gpu::Options& options, const Layer& layer, const Form& form, const Algorithm& algorithm, bool is_choice,
         const Handle& handle) {
  gpu::AddBenchmark(options, layer.text,
                    {"cublaslt/" + algorithm.name + form.suffix, layer.layouts, form.contract, is_choice},
                    [&layer, &form, algorithm, &handle] { return Measure(layer, form, algorithm, handle); });
}

// All that cuBLASLt offers in this tier. A form that it refuses is a benchmark that says so.
void AddOffered(const gpu::Options& options, const Layer& layer, const Handle& handle) {
  std::vector<std::string> seen;  // contracts
  for (const Form& form : layer.forms) {
    const bool is_usual = std::find(seen.begin(), seen.end(), form.contract) == seen.end();
    seen.push_back(form.contract);
    if (options.tier == gpu::Tier::kHeuristic && !is_usual) continue;
    std::string reason = "cuBLASLt has no algorithm for it on this GPU";
    std::vector<Algorithm> algorithms;
    try {
      const Problem problem = layer.describe(form);
      algorithms = options.tier == gpu::Tier::kExhaustive ? Exhaustive(handle, problem, gpu::kMostOfAForm)
                                                          : Heuristic(handle, problem);
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    for (const Algorithm& algorithm : algorithms)
      Add(options, layer, form, algorithm, is_usual && &algorithm == algorithms.data(), handle);
    if (algorithms.empty())
      gpu::AddRefused(options, layer.text, {"cublaslt/any" + form.suffix, layer.layouts, form.contract}, reason);
  }
}

// Those that were asked for.
void AddNamed(const gpu::Options& options, const Layer& layer, const Handle& handle) {
  for (const std::string& name : layer.only) {
    const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
    std::string reason = "no form of this layer is named '" + name.substr(end) + "'";
    bool added = false;
    for (const Form& form : layer.forms) {
      if (form.suffix != name.substr(end)) continue;
      try {
        const auto algorithm = FindAlgorithm(handle, layer.describe(form), name.substr(start, end - start));
        if (algorithm) {
          Add(options, layer, form, *algorithm, false, handle);
          added = true;
        } else {
          reason =
              "its name is none of an algorithm of cuBLASLt's, which are like algo=21_tile=20_stages=7_splitk=1_...";
        }
      } catch (const std::runtime_error& error) {
        reason = error.what();
      }
    }
    if (!added) gpu::AddRefused(options, layer.text, {name, layer.layouts, layer.forms[0].contract}, reason);
  }
}

}  // namespace

Registration::Registration(Layer layer) { Layers().push_back(std::move(layer)); }

}  // namespace cublaslt

std::string LibraryVersion() {
  const std::size_t number = cublasLtGetVersion();  // 130100: 13.1.0
  return "cublaslt=" + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

void RegisterBenchmarks(const gpu::Options& options) {
  if (!options.device_properties.empty())
    throw std::runtime_error("--device-properties: cuBLASLt answers for GPUs that are there alone");
  // Kept to the end: at exit the driver may be gone before the handle.
  const auto* const handle = new cublaslt::Handle();
  for (const cublaslt::Layer& layer : cublaslt::Layers()) {
    if (layer.only.empty()) {
      cublaslt::AddOffered(options, layer, *handle);
    } else {
      cublaslt::AddNamed(options, layer, *handle);
    }
  }
}
