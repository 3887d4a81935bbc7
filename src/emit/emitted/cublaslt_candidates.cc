#include "cublaslt_candidates.h"

#include <functional>
#include <memory>
#include <set>

#include "cublas_gemm.h"
#include "cuda_program.h"
#ifdef HAS_CUSPARSELT
#include "cusparselt_matmul.h"
#endif

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

struct Handles {
  cublasLtHandle_t lt = nullptr;
  cublasHandle_t plain = nullptr;
};

const cublas::Functions& LinkedPlain() {
  static const cublas::Functions functions = [] {
    cublas::Functions plain;
#define CUBLAS_LINK(name, symbol) plain.name = &symbol;
    CUBLAS_FUNCTIONS(CUBLAS_LINK)
#undef CUBLAS_LINK
    plain.GemmStridedBatchedEx = &cublasGemmStridedBatchedEx;
    return plain;
  }();
  return functions;
}

Gemm GemmOf(const Layer& layer, const Form& form) {
  Gemm gemm = layer.gemm;
  gemm.sums = form.sums;
  gemm.b_transposed = form.b_transposed;
  return gemm;
}

Matmul Describe(const Layer& layer, const Form& form, const Handles& handles) {
  return Matmul(Linked(), handles.lt, GemmOf(layer, form), kWorkspaceBytes);
}

gpu::Buffer RandomNumbers(const std::string& type, std::int64_t count, double low, double high, std::uint64_t seed) {
  gpu::Buffer buffer(gpu::BytesOf(TypeOf(type), static_cast<std::size_t>(count)));
  gpu::FillRandomly(buffer, TypeOf(type), low, high, seed);
  return buffer;
}

using Run = std::function<void(const Matmul::Tensors&, void* workspace, cudaStream_t)>;
// Changes the tensors once, before anything is timed.
using Prepare = std::function<void(Matmul::Tensors&, cudaStream_t)>;

// On tensors of the layer's own.
gpu::GpuTimes MeasureOn(const Layer& layer, std::size_t workspace_bytes, const Run& run, const Prepare& prepare = {}) {
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
  const auto add_scales = [&](const std::string& scales, bool of_b) -> const void* {
    const ScaleMemory memory = ScalesOf(gemm, scales, of_b);
    if (memory.count == 0) return nullptr;
    const bool has_codes = memory.type == "f8e8m0";  // of powers of two
    added.push_back(RandomNumbers(memory.type, memory.count, has_codes ? 120 : 0.25, has_codes ? 128 : 1, 47));
    return added.back().data();
  };
  tensors.a_scales = add_scales(gemm.a_scales, false);
  tensors.b_scales = add_scales(gemm.b_scales, true);
  if (!gemm.bias.empty()) {
    added.push_back(RandomNumbers(gemm.bias, gemm.columns, -1, 1, 45));
    tensors.bias = added.back().data();
  }
  if (gemm.addend) {
    added.push_back(RandomNumbers(gemm.result, results, -1, 1, 46));
    tensors.addend = added.back().data();
  }
  const gpu::Buffer workspace(workspace_bytes);
  const gpu::Stream stream;
  if (prepare) prepare(tensors, stream.get());
  return gpu::TakeGpuSamples([&](cudaStream_t launched_in) { run(tensors, workspace.data(), launched_in); },
                             stream.get());
}

gpu::GpuTimes Measure(const Layer& layer, const Form& form, const Algorithm& algorithm, const Handles& handles) {
  Matmul matmul = Describe(layer, form, handles);
  matmul.Choose(algorithm);
  return MeasureOn(layer, matmul.workspace(),
                   [&](const Matmul::Tensors& tensors, void* workspace, cudaStream_t stream) {
                     matmul.Run(tensors, workspace, stream);
                   });
}

// Plain cuBLAS, which chooses by itself. False where it has no such product: it has no epilogues.
bool AddPlain(const gpu::Options& options, const Layer& layer, const Form& form, bool is_choice,
              const Handles& handles) {
  if (!layer.gemm.bias.empty() || layer.gemm.addend || !layer.gemm.activation.empty()) return false;
  gpu::AddBenchmark(options, layer.text, {"cublas/gemm" + form.suffix, layer.layouts, form.contract, is_choice},
                    [&layer, &form, &handles] {
                      const cublas::Gemm gemm(LinkedPlain(), handles.plain, GemmOf(layer, form));
                      return MeasureOn(layer, cublas::kWorkspace,
                                       [&](const Matmul::Tensors& tensors, void* workspace, cudaStream_t stream) {
                                         gemm.Run(tensors.a, tensors.b, tensors.result, workspace, stream);
                                       });
                    });
  return true;
}

void Add(const gpu::Options& options, const Layer& layer, const Form& form, const Algorithm& algorithm, bool is_choice,
         const Handles& handles) {
  gpu::AddBenchmark(options, layer.text,
                    {"cublaslt/" + Format(algorithm) + form.suffix, layer.layouts, form.contract, is_choice},
                    [&layer, &form, algorithm, &handles] { return Measure(layer, form, algorithm, handles); });
}

std::vector<Algorithm> AlgorithmsOf(const gpu::Options& options, Answers& answers, std::int64_t depth) {
  if (options.tier == gpu::Tier::kHeuristic) return Heuristic(answers);
  if (options.tier == gpu::Tier::kEngine) return BestOfEach(answers, depth, gpu::kMostOfAForm);
  return Exhaustive(answers, depth, gpu::kMostOfAForm);
}

#ifndef HAS_CUSPARSELT
constexpr const char* kNoSparse = "cuSPARSELt was not found where this was configured: -DCUSPARSELT_ROOT=...";

void AddSparse(const gpu::Options& options, const Layer& layer, const Form& form, bool) {
  gpu::AddRefused(options, layer.text, {"cusparselt/any" + form.suffix, layer.layouts, form.contract}, kNoSparse);
}

void AddNamedSparse(const gpu::Options& options, const Layer& layer, const std::string& name) {
  gpu::AddRefused(options, layer.text, {name, layer.layouts, layer.forms[0].contract}, kNoSparse);
}
#else
const cusparselt::Functions& LinkedSparse() {
  static const cusparselt::Functions functions = [] {
    cusparselt::Functions lt;
#define CUSPARSELT_LINK(name) lt.name = &cusparseLt##name;
    CUSPARSELT_FUNCTIONS(CUSPARSELT_LINK)
#undef CUSPARSELT_LINK
    return lt;
  }();
  return functions;
}

const cusparseLtHandle_t& SparseHandle() {
  // Where it is made: it may know its own address.
  static struct Made {
    Made() { cusparselt::Check(LinkedSparse(), LinkedSparse().Init(&handle), "making a handle"); }
    cusparseLtHandle_t handle;
  } made;
  return made.handle;
}

std::unique_ptr<cusparselt::Matmul> DescribeSparse(const Layer& layer, const Form& form) {
  Gemm gemm = GemmOf(layer, form);
  gemm.b_sparse = true;
  return std::make_unique<cusparselt::Matmul>(LinkedSparse(), SparseHandle(), gemm, kWorkspaceBytes);
}

// On weights that are pruned, compressed and kept so.
gpu::GpuTimes MeasureSparse(const Layer& layer, const Form& form, const Algorithm& algorithm) {
  const std::unique_ptr<cusparselt::Matmul> matmul = DescribeSparse(layer, form);
  matmul->Choose(algorithm);
  const gpu::Buffer compressed(matmul->compressed()), buffer(matmul->buffer());
  return MeasureOn(
      layer, matmul->workspace(),
      [&](const Matmul::Tensors& tensors, void* workspace, cudaStream_t stream) {
        matmul->Run(tensors, workspace, stream);
      },
      [&](Matmul::Tensors& tensors, cudaStream_t stream) {
        const Gemm& gemm = layer.gemm;
        const gpu::Buffer pruned(gpu::BytesOf(TypeOf(gemm.b), static_cast<std::size_t>(gemm.depth * gemm.columns)));
        matmul->Prune(tensors.b, pruned.data(), stream);
        tensors.b = pruned.data();
        matmul->Compress(tensors, compressed.data(), buffer.data(), stream);
        gpu::Check(cudaStreamSynchronize(stream), "compressing weights");
        tensors.b = compressed.data();
      });
}

// What cuSPARSELt offers in this tier.
void AddSparse(const gpu::Options& options, const Layer& layer, const Form& form, bool is_choice) {
  const auto candidate = [&](const std::string& algorithm, bool is_first) {
    return gpu::Candidate{"cusparselt/" + algorithm + form.suffix, layer.layouts, form.contract, is_choice && is_first};
  };
  std::vector<Algorithm> algorithms;
  std::string reason = "cuSPARSELt has no algorithm for it on this GPU";
  try {
    algorithms = AlgorithmsOf(options, *DescribeSparse(layer, form), layer.gemm.depth);
  } catch (const std::runtime_error& error) {
    reason = error.what();
  }
  for (const Algorithm& algorithm : algorithms)
    gpu::AddBenchmark(options, layer.text, candidate(Format(algorithm, true), algorithm == algorithms[0]),
                      [&layer, &form, algorithm] { return MeasureSparse(layer, form, algorithm); });
  if (algorithms.empty()) gpu::AddRefused(options, layer.text, candidate("any", false), reason);
}

// One that was asked for.
void AddNamedSparse(const gpu::Options& options, const Layer& layer, const std::string& name) {
  const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
  const std::optional<Algorithm> algorithm = ParseAlgorithm(name.substr(start, end - start), true);
  std::string reason = "it names no algorithm of cuSPARSELt and no form of this layer, like alg=2_splitk=1_mode=0_...";
  for (const Form& form : layer.sparse_forms) {
    if (!algorithm || form.suffix != name.substr(end)) continue;
    try {
      DescribeSparse(layer, form)->Choose(*algorithm);
      gpu::AddBenchmark(options, layer.text, {name, layer.layouts, form.contract, false},
                        [&layer, &form, algorithm] { return MeasureSparse(layer, form, *algorithm); });
      return;
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
  }
  gpu::AddRefused(options, layer.text, {name, layer.layouts, layer.forms[0].contract}, reason);
}
#endif

// All that cuBLASLt offers in this tier, plain cuBLAS beside it. A form that it refuses is a benchmark that says so.
void AddOffered(const gpu::Options& options, const Layer& layer, const Handles& handles) {
  std::set<std::string> seen, chosen, plain;  // contracts
  for (const Form& form : layer.forms) {
    if (!seen.insert(form.contract).second && options.tier == gpu::Tier::kHeuristic) continue;
    std::string reason = "cuBLASLt has no algorithm for it on this GPU";
    std::vector<Algorithm> algorithms;
    try {
      Matmul matmul = Describe(layer, form, handles);
      algorithms = AlgorithmsOf(options, matmul, layer.gemm.depth);
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
    for (const Algorithm& algorithm : algorithms)
      Add(options, layer, form, algorithm, chosen.insert(form.contract).second, handles);
    if (AddPlain(options, layer, form, plain.count(form.contract) == 0, handles)) plain.insert(form.contract);
    if (algorithms.empty())
      gpu::AddRefused(options, layer.text, {"cublaslt/any" + form.suffix, layer.layouts, form.contract}, reason);
  }
  std::set<std::string> sparse;
  for (const Form& form : layer.sparse_forms) AddSparse(options, layer, form, sparse.insert(form.contract).second);
}

// Those that were asked for.
void AddNamed(const gpu::Options& options, const Layer& layer, const Handles& handles) {
  for (const std::string& name : layer.only) {
    const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
    const std::optional<Algorithm> algorithm = ParseAlgorithm(name.substr(start, end - start));
    std::string reason = algorithm ? "no form of this layer is named '" + name.substr(end) + "'"
                                   : "it names no algorithm of cuBLASLt, like algo=21_tile=20_stages=7_splitk=1_...";
    bool added = false;
    if (name.rfind("cublas/", 0) == 0)
      reason = "plain cuBLAS has cublas/gemm and its forms, of a product without epilogue";
    if (name.rfind("cusparselt/", 0) == 0) {
      AddNamedSparse(options, layer, name);
      continue;
    }
    for (const Form& form : layer.forms)
      if (name == "cublas/gemm" + form.suffix && !added) added = AddPlain(options, layer, form, false, handles);
    for (const Form& form : layer.forms) {
      if (!algorithm || form.suffix != name.substr(end)) continue;
      try {
        Describe(layer, form, handles).Choose(*algorithm);
        Add(options, layer, form, *algorithm, false, handles);
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

std::string LibraryVersion() {
  std::string versions = "cublaslt=" + cublaslt::Version(cublaslt::Linked());
#ifdef HAS_CUSPARSELT
  versions += ",cusparselt=" + cusparselt::Version(cublaslt::LinkedSparse());
#endif
  return versions;
}

void RegisterBenchmarks(const gpu::Options& options) {
  if (!options.device_properties.empty())
    throw std::runtime_error("--device-properties: cuBLASLt answers only about GPUs that are here");
  // Kept to the end: at exit the driver may be gone before the handles.
  static cublaslt::Handles handles;
  cublaslt::Check(cublaslt::Linked(), cublasLtCreate(&handles.lt), "making a handle");
  cublas::Check(cublaslt::LinkedPlain(), cublaslt::LinkedPlain().Create(&handles.plain));
  for (const cublaslt::Layer& layer : cublaslt::Layers()) {
    if (layer.only.empty()) {
      cublaslt::AddOffered(options, layer, handles);
    } else {
      cublaslt::AddNamed(options, layer, handles);
    }
  }
}
