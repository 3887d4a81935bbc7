// Plain cuBLAS: the product that everybody calls, by the algorithm that it chooses.
#include <cublas_api.h>

#include <algorithm>
#include <utility>

#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/cublas_types.h"
#include "microbench/libraries/cublaslt/cublaslt.h"

namespace infimum::cuda {
namespace {

struct CublasFunctions {
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasSetStream_v2) set_stream = nullptr;
  decltype(&::cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&::cublasGetVersion_v2) get_version = nullptr;
  decltype(&::cublasGetStatusString) get_status_string = nullptr;
  // Overloaded in its header.
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                         cudaDataType, int, long long, const void*, cudaDataType, int, long long, const void*, void*,
                         cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
};

// What cuBLAS recommends for the newest devices; smaller ones need less.
constexpr std::int64_t kWorkspace = 32 << 20;

Status Check(const CublasFunctions& cublas, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const bool is_refusal = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
                          status == CUBLAS_STATUS_ARCH_MISMATCH;
  return Error{(is_refusal ? "unsupported: cuBLAS refuses it, " : "cuBLAS: ") +
               std::string(cublas.get_status_string(status))};
}

class Call : public GemmCall {
 public:
  Call(const CublasFunctions& cublas, cublasHandle_t handle, const GemmProblem& problem)
      : cublas_(cublas),
        handle_(handle),
        problem_(problem),
        alpha_(problem.factor, ScaleTypeOf(problem)),
        beta_(0, ScaleTypeOf(problem)) {}

  Bytes workspace() const override { return Bytes{kWorkspace}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.set_stream(handle_, static_cast<cudaStream_t>(stream))));
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.set_workspace(handle_, workspace, kWorkspace)));
    const auto m = static_cast<int>(problem_.columns), n = static_cast<int>(problem_.rows),
               k = static_cast<int>(problem_.depth);
    // In columns, so that our second operand comes first.
    return Check(cublas_,
                 cublas_.gemm(handle_, problem_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, m, n, k,
                              alpha_.bytes, tensors[1], *CudaTypeOf(problem_.b), problem_.b_transposed ? k : m,
                              problem_.b_stride, tensors[0], *CudaTypeOf(problem_.a), k, problem_.a_stride, beta_.bytes,
                              tensors.back(), *CudaTypeOf(problem_.output), m, problem_.rows * problem_.columns,
                              static_cast<int>(problem_.batch), ComputeTypeOf(problem_.sums), CUBLAS_GEMM_DEFAULT));
  }

 private:
  const CublasFunctions& cublas_;
  cublasHandle_t handle_;
  GemmProblem problem_;
  ScaleValue alpha_, beta_;
};

class Cublas : public GemmLibrary {
 public:
  ~Cublas() override {
    if (handle_ != nullptr) cublas_.destroy(handle_);
  }

  Status Open() {
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                             SharedLibrary::Open({"libcublas.so.13", "libcublas.so.12"}, "cublas", "cuBLAS"));
    const char* missing = nullptr;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library.Find(name));
      if (function == nullptr) missing = name;
    };
    find("cublasCreate_v2", cublas_.create);
    find("cublasDestroy_v2", cublas_.destroy);
    find("cublasSetStream_v2", cublas_.set_stream);
    find("cublasSetWorkspace_v2", cublas_.set_workspace);
    find("cublasGetVersion_v2", cublas_.get_version);
    find("cublasGetStatusString", cublas_.get_status_string);
    find("cublasGemmStridedBatchedEx", cublas_.gemm);
    if (missing != nullptr) return Error{library.path().string() + ": it has no " + missing};
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.create(&handle_)));
    int version = 0;
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.get_version(handle_, &version)));
    version_ = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
               std::to_string(version % 100);
    return {};
  }

  std::string version() const override { return version_; }
  Result<std::vector<GemmAlgorithm>> Heuristic(const GemmProblem&) override { return std::vector<GemmAlgorithm>(1); }
  Result<std::vector<std::int32_t>> Ids(const GemmProblem&) override { return std::vector<std::int32_t>{0}; }
  Result<GemmCapabilities> Capabilities(const GemmProblem&, std::int32_t) override { return GemmCapabilities(); }
  Result<bool> Accepts(const GemmProblem&, const GemmAlgorithm& algorithm) override {
    return algorithm == GemmAlgorithm();
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const GemmAlgorithm&) override {
    if (problem.bias || problem.addend || problem.activation != GemmActivation::kNone)
      return Error{"unsupported: cuBLAS has no epilogues"};
    if (!CudaTypeOf(problem.a) || !CudaTypeOf(problem.b) || !CudaTypeOf(problem.output))
      return Error{"unsupported: cuBLAS has no such types"};
    if (std::max({problem.rows, problem.columns, problem.depth, problem.batch}) > std::int64_t{2147483647})
      return Error{"unsupported: cuBLAS counts in 32 bits"};
    return std::unique_ptr<GemmCall>(std::make_unique<Call>(cublas_, handle_, problem));
  }

 private:
  CublasFunctions cublas_;
  cublasHandle_t handle_ = nullptr;
  std::string version_;
};

}  // namespace

Result<std::shared_ptr<GemmLibrary>> OpenCublas() {
  auto library = std::make_shared<Cublas>();
  INFIMUM_RETURN_IF_ERROR(library->Open());
  return std::shared_ptr<GemmLibrary>(std::move(library));
}

}  // namespace infimum::cuda
