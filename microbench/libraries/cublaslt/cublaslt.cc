#include "microbench/libraries/cublaslt/cublaslt.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/library_gemm.h"

namespace infimum::cuda {
namespace {

class LtCall : public GemmCall {
 public:
  LtCall(const GemmProblem& problem, std::unique_ptr<cublaslt::Matmul> matmul)
      : has_scales_(problem.a_scales != GemmScales::kNone),
        has_bias_(problem.bias != DataType::kNone),
        has_addend_(problem.addend),
        matmul_(std::move(matmul)) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(matmul_->workspace())}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    cublaslt::Matmul::Tensors named;
    auto next = tensors.begin();
    named.a = *next++;
    named.b = *next++;
    if (has_scales_) named.a_scales = *next++;
    if (has_scales_) named.b_scales = *next++;
    if (has_bias_) named.bias = *next++;
    if (has_addend_) named.addend = *next++;
    named.result = *next;
    return Caught([&] { matmul_->Run(named, workspace, static_cast<cudaStream_t>(stream)); });
  }

 private:
  bool has_scales_, has_bias_, has_addend_;
  std::unique_ptr<cublaslt::Matmul> matmul_;
};

class CublasLt : public GemmLibrary {
 public:
  explicit CublasLt(Bytes most_workspace) : most_workspace_(static_cast<std::size_t>(most_workspace.value)) {}
  ~CublasLt() override {
    if (handle_ != nullptr) lt_.Destroy(handle_);
  }

  Status Open() {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                             SharedLibrary::Open(NamesForDriver("libcublasLt", driver), "cublas", "cuBLASLt"));
    const char* missing = nullptr;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library.Find(name));
      if (function == nullptr && missing == nullptr) missing = name;
    };
#define INFIMUM_FIND(name) find("cublasLt" #name, lt_.name);
    CUBLASLT_FUNCTIONS(INFIMUM_FIND)
#undef INFIMUM_FIND
    if (missing != nullptr) return Error{library.path().string() + ": it has no " + missing};
    version_ = cublaslt::Version(lt_);
    const cublasStatus_t status = lt_.Create(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS)
      return Error{"cuBLASLt: making a handle: " + std::string(lt_.GetStatusString(status))};
    return {};
  }

  std::string version() const override { return version_; }

  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) override {
    return Caught([&]() -> std::unique_ptr<cublaslt::Answers> { return Describe(problem); });
  }

  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm& algorithm) override {
    return Caught([&]() -> std::unique_ptr<GemmCall> {
      std::unique_ptr<cublaslt::Matmul> matmul = Describe(problem);
      matmul->Choose(algorithm);
      return std::make_unique<LtCall>(problem, std::move(matmul));
    });
  }

 private:
  std::unique_ptr<cublaslt::Matmul> Describe(const GemmProblem& problem) {
    return std::make_unique<cublaslt::Matmul>(lt_, handle_, LibraryGemm(problem), most_workspace_);
  }

  cublaslt::Functions lt_;
  cublasLtHandle_t handle_ = nullptr;
  std::size_t most_workspace_;
  std::string version_;
};

}  // namespace

Result<std::shared_ptr<GemmLibrary>> OpenCublasLt(Bytes most_workspace) {
  auto library = std::make_shared<CublasLt>(most_workspace);
  INFIMUM_RETURN_IF_ERROR(library->Open());
  return std::shared_ptr<GemmLibrary>(std::move(library));
}

}  // namespace infimum::cuda
