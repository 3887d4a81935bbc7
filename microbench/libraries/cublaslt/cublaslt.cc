#include "microbench/libraries/cublaslt/cublaslt.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cublaslt/library_gemm.h"

namespace infimum::cuda {
namespace {

class LtCall : public GemmCall {
 public:
  LtCall(const GemmProblem& problem, std::unique_ptr<cublaslt::Matmul> matmul)
      : problem_(problem), matmul_(std::move(matmul)) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(matmul_->workspace())}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    return Caught([&] { matmul_->Run(TensorsOf(problem_, tensors), workspace, static_cast<cudaStream_t>(stream)); });
  }

 private:
  GemmProblem problem_;
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
#define INFIMUM_FIND(name) \
  if (!library.Find("cublasLt" #name, lt_.name)) return Error{library.path().string() + ": it has no cublasLt" #name};
    CUBLASLT_FUNCTIONS(INFIMUM_FIND)
#undef INFIMUM_FIND
    version_ = cublaslt::Version(lt_);
    const cublasStatus_t status = lt_.Create(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS)
      return Error{"cuBLASLt: making a handle: " + std::string(lt_.GetStatusString(status))};
    return {};
  }

  std::string version() const override { return version_; }
  std::string_view name() const override { return kCublasLt; }

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
