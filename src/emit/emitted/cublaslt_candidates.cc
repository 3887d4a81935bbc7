#include "cublaslt_candidates.h"

#include <set>

#include "cuda_program.h"

namespace cublaslt {
namespace {

// What the library may use beside the tensors: as much as cuBLAS itself has on Hopper.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

const Functions& Linked() {
  static const Functions functions = [] {
    Functions lt;
#define CUBLASLT_LINK(name) lt.name = &cublasLt##name;
    CUBLASLT_FUNCTIONS(CUBLASLT_LINK)
#undef CUBLASLT_LINK
    return lt;
  }();
  return functions;
}

Matmul Describe(const Layer& layer, const Form& form, cublasLtHandle_t handle) {
  Gemm gemm = layer.gemm;
  gemm.sums = form.sums;
  gemm.b_transposed = form.b_transposed;
  return Matmul(Linked(), handle, gemm, kWorkspaceBytes);
}

gpu::Buffer RandomNumbers(const std::string& type, std::int64_t count, double low, double high, std::uint64_t seed) {
  unsigned char number[8];
  gpu::Buffer buffer(static_cast<std::size_t>(count) * gpu::Encode(TypeOf(type), 0, number));
  gpu::FillRandomly(buffer, TypeOf(type), low, high, seed);
  return buffer;
}

gpu::GpuTimes Measure(const Layer& layer, const Form& form, const Algorithm& algorithm, cublasLtHandle_t handle) {
  Matmul matmul = Describe(layer, form, handle);
  matmul.Choose(algorithm);
  const Gemm& gemm = layer.gemm;
  const auto count = [&](std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return rows * columns + (gemm.batch - 1) * stride;
  };
  const std::int64_t results = gemm.batch * gemm.rows * gemm.columns;
  const gpu::Buffer a = RandomNumbers(gemm.a, count(gemm.rows, gemm.depth, gemm.a_stride), layer.low, layer.high, 42);
  const gpu::Buffer b =
      RandomNumbers(gemm.b, count(gemm.depth, gemm.columns, gemm.b_stride), layer.low, layer.high, 43);
  const gpu::Buffer result = RandomNumbers(gemm.result, results, -1, 1, 44);
  Matmul::Tensors tensors;
  tensors.a = a.data();
  tensors.b = b.data();
  tensors.result = result.data();
  std::vector<gpu::Buffer> added;
  if (!gemm.bias.empty()) {
    added.push_back(RandomNumbers(gemm.bias, gemm.columns, -1, 1, 45));
    tensors.bias = added.back().data();
  }
  if (gemm.addend) {
    added.push_back(RandomNumbers(gemm.result, results, -1, 1, 46));
    tensors.addend = added.back().data();
  }
  const gpu::Buffer workspace(matmul.workspace());
  const gpu::Stream stream;
  return gpu::TakeGpuSamples([&](cudaStream_t launched_in) { matmul.Run(tensors, workspace.data(), launched_in); },
                             stream.get());
}

void Add(const gpu::Options& options, const Layer& layer, const Form& form, const Algorithm& algorithm, bool is_choice,
         cublasLtHandle_t handle) {
  gpu::AddBenchmark(options, layer.text,
                    {"cublaslt/" + Format(algorithm) + form.suffix, layer.layouts, form.contract, is_choice},
                    [&layer, &form, algorithm, handle] { return Measure(layer, form, algorithm, handle); });
}

std::vector<Algorithm> AlgorithmsOf(const gpu::Options& options, Matmul& matmul, std::int64_t depth) {
  if (options.tier == gpu::Tier::kHeuristic) return Heuristic(matmul);
  if (options.tier == gpu::Tier::kEngine) return BestOfEach(matmul, depth, gpu::kMostOfAForm);
  return Exhaustive(matmul, depth, gpu::kMostOfAForm);
}

// All that cuBLASLt offers in this tier. A form that it refuses is a benchmark that says so.
void AddOffered(const gpu::Options& options, const Layer& layer, cublasLtHandle_t handle) {
  std::set<std::string> seen, chosen;  // contracts
  for (const Form& form : layer.forms) {
    if (!seen.insert(form.contract).second && options.tier == gpu::Tier::kHeuristic) continue;
    std::string reason = "cuBLASLt has no algorithm for it on this GPU";
    std::vector<Algorithm> algorithms;
    try {
      Matmul matmul = Describe(layer, form, handle);
      algorithms = AlgorithmsOf(options, matmul, layer.gemm.depth);
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    for (const Algorithm& algorithm : algorithms)
      Add(options, layer, form, algorithm, chosen.insert(form.contract).second, handle);
    if (algorithms.empty())
      gpu::AddRefused(options, layer.text, {"cublaslt/any" + form.suffix, layer.layouts, form.contract}, reason);
  }
}

// Those that were asked for.
void AddNamed(const gpu::Options& options, const Layer& layer, cublasLtHandle_t handle) {
  for (const std::string& name : layer.only) {
    const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
    const std::optional<Algorithm> algorithm = ParseAlgorithm(name.substr(start, end - start));
    std::string reason = algorithm ? "no form of this layer is named '" + name.substr(end) + "'"
                                   : "it names no algorithm of cuBLASLt, like algo=21_tile=20_stages=7_splitk=1_...";
    bool added = false;
    for (const Form& form : layer.forms) {
      if (!algorithm || form.suffix != name.substr(end)) continue;
      try {
        Describe(layer, form, handle).Choose(*algorithm);
        Add(options, layer, form, *algorithm, false, handle);
        added = true;
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

std::string LibraryVersion() { return "cublaslt=" + cublaslt::Version(cublaslt::Linked()); }

void RegisterBenchmarks(const gpu::Options& options) {
  if (!options.device_properties.empty())
    throw std::runtime_error("--device-properties: cuBLASLt answers only about GPUs that are here");
  // Kept to the end: at exit the driver may be gone before the handle.
  static cublasLtHandle_t handle = nullptr;
  cublaslt::Check(cublaslt::Linked(), cublasLtCreate(&handle), "making a handle");
  for (const cublaslt::Layer& layer : cublaslt::Layers()) {
    if (layer.only.empty()) {
      cublaslt::AddOffered(options, layer, handle);
    } else {
      cublaslt::AddNamed(options, layer, handle);
    }
  }
}
