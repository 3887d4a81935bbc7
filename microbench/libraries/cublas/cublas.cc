// Plain cuBLAS: the GEMM that everybody calls, by the algorithm that it chooses.
#include <cublasLt.h>  // cublas_api.h, which CUDA 12 does not let be included alone

#include <algorithm>
#include <utility>

#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/cublaslt.h"
#include "microbench/libraries/cublaslt/library_gemm.h"

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
  Call(const CublasFunctions& cublas, cublasHandle_t handle, const cublaslt::Gemm& gemm)
      : cublas_(cublas),
        handle_(handle),
        gemm_(gemm),
        a_(cublaslt::TypeOf(gemm.a)),
        b_(cublaslt::TypeOf(gemm.b)),
        result_(cublaslt::TypeOf(gemm.result)),
        alpha_(gemm.factor, cublaslt::ScaleTypeOf(gemm)),
        beta_(0, cublaslt::ScaleTypeOf(gemm)) {}

  Bytes workspace() const override { return Bytes{kWorkspace}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.set_stream(handle_, static_cast<cudaStream_t>(stream))));
    INFIMUM_RETURN_IF_ERROR(Check(cublas_, cublas_.set_workspace(handle_, workspace, kWorkspace)));
    const auto m = static_cast<int>(gemm_.columns), n = static_cast<int>(gemm_.rows), k = static_cast<int>(gemm_.depth);
    // Matrices are column-major there, so that our second operand comes first.
    return Check(cublas_,
                 cublas_.gemm(handle_, gemm_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, m, n, k,
                              alpha_.bytes, tensors[1], b_, gemm_.b_transposed ? k : m, gemm_.b_stride, tensors[0], a_,
                              k, gemm_.a_stride, beta_.bytes, tensors.back(), result_, m, gemm_.rows * gemm_.columns,
                              static_cast<int>(gemm_.batch), cublaslt::ComputeTypeOf(gemm_), CUBLAS_GEMM_DEFAULT));
  }

 private:
  const CublasFunctions& cublas_;
  cublasHandle_t handle_;
  cublaslt::Gemm gemm_;
  cudaDataType_t a_, b_, result_;
  cublaslt::Factor alpha_, beta_;
};

// It chooses by itself, so it has one algorithm.
class OneAlgorithm : public cublaslt::Answers {
 public:
  std::vector<cublaslt::Algorithm> Suggestions() override { return std::vector<cublaslt::Algorithm>(1); }
  std::vector<std::int32_t> Ids() override { return {0}; }
  std::optional<cublaslt::Capabilities> CapabilitiesOf(std::int32_t) override { return cublaslt::Capabilities(); }
  bool Accepts(const cublaslt::Algorithm& algorithm) override { return algorithm == cublaslt::Algorithm(); }
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
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem&) override {
    return std::unique_ptr<cublaslt::Answers>(std::make_unique<OneAlgorithm>());
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm&) override {
    if (problem.bias != DataType::kNone || problem.addend || problem.activation != GemmActivation::kNone)
      return Error{"unsupported: cuBLAS has no epilogues"};
    if (std::max({problem.rows, problem.columns, problem.depth, problem.batch}) > std::int64_t{2147483647})
      return Error{"unsupported: cuBLAS counts in 32 bits"};
    return std::unique_ptr<GemmCall>(std::make_unique<Call>(cublas_, handle_, LibraryGemm(problem)));
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
