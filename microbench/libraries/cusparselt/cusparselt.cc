// cuSPARSELt as a library of the runner; where its header was not there, none.
#include "microbench/libraries/cublaslt/cublaslt.h"

#ifdef INFIMUM_CUSPARSELT
#include <cuda_runtime_api.h>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cublaslt/library_gemm.h"
#include "microbench/libraries/cusparselt/calls/cusparselt_matmul.h"

namespace infimum::cuda {
namespace {

class Call : public GemmCall {
 public:
  Call(const GemmProblem& problem, std::unique_ptr<cusparselt::Matmul> matmul)
      : problem_(problem), matmul_(std::move(matmul)) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(matmul_->workspace())}; }
  Bytes compressed() const override { return Bytes{static_cast<std::int64_t>(matmul_->compressed())}; }
  Bytes compression_memory() const override {
    return Bytes{BufferOffset() + static_cast<std::int64_t>(matmul_->buffer())};
  }

  Status Compress(const std::vector<void*>& tensors, void* memory, Gpu::Stream stream) override {
    return Caught([&] {
      matmul_->Compress(TensorsOf(problem_, tensors), memory, static_cast<std::byte*>(memory) + BufferOffset(),
                        static_cast<cudaStream_t>(stream));
    });
  }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    return Caught([&] { matmul_->Run(TensorsOf(problem_, tensors), workspace, static_cast<cudaStream_t>(stream)); });
  }

 private:
  // As allocations are aligned.
  std::int64_t BufferOffset() const { return (compressed().value + 255) / 256 * 256; }

  GemmProblem problem_;
  std::unique_ptr<cusparselt::Matmul> matmul_;
};

class CusparseLt : public GemmLibrary {
 public:
  explicit CusparseLt(Bytes most_workspace) : most_workspace_(static_cast<std::size_t>(most_workspace.value)) {}
  ~CusparseLt() override {
    if (has_handle_) (void)lt_.Destroy(&handle_);
  }

  Status Open() {
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                             SharedLibrary::Open({"libcusparseLt.so.0"}, "cusparselt", "cuSPARSELt"));
#define INFIMUM_FIND(name)                         \
  if (!library.Find("cusparseLt" #name, lt_.name)) \
    return Error{library.path().string() + ": it has no cusparseLt" #name};
    CUSPARSELT_FUNCTIONS(INFIMUM_FIND)
#undef INFIMUM_FIND
    return {};
  }

  std::string version() const override { return cusparselt::Version(lt_); }
  std::string_view name() const override { return kCusparseLt; }
  bool is_sparse() const override { return true; }
  std::string NameOf(const cublaslt::Algorithm& algorithm) const override { return cublaslt::Format(algorithm, true); }
  std::optional<cublaslt::Algorithm> Named(const std::string& name) const override {
    return cublaslt::ParseAlgorithm(name, true);
  }

  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) override {
    return Caught([&]() -> std::unique_ptr<cublaslt::Answers> { return Describe(problem); });
  }

  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm& algorithm) override {
    return Caught([&]() -> std::unique_ptr<GemmCall> {
      std::unique_ptr<cusparselt::Matmul> matmul = Describe(problem);
      matmul->Choose(algorithm);
      return std::make_unique<Call>(problem, std::move(matmul));
    });
  }

 private:
  // Most models have no sparse weights: the device is told of it with the first.
  std::unique_ptr<cusparselt::Matmul> Describe(const GemmProblem& problem) {
    if (!has_handle_) cusparselt::Check(lt_, lt_.Init(&handle_), "making a handle");
    has_handle_ = true;
    return std::make_unique<cusparselt::Matmul>(lt_, handle_, LibraryGemm(problem), most_workspace_);
  }

  cusparselt::Functions lt_;
  cusparseLtHandle_t handle_ = {};
  bool has_handle_ = false;
  std::size_t most_workspace_;
};

}  // namespace

Result<std::shared_ptr<GemmLibrary>> OpenCusparseLt(Bytes most_workspace) {
  auto library = std::make_shared<CusparseLt>(most_workspace);
  INFIMUM_RETURN_IF_ERROR(library->Open());
  return std::shared_ptr<GemmLibrary>(std::move(library));
}

}  // namespace infimum::cuda
#else
namespace infimum::cuda {

Result<std::shared_ptr<GemmLibrary>> OpenCusparseLt(Bytes) {
  return Error{
      "this runner was built without cuSPARSELt, for lack of cusparseLt.h of version 0.8 or later: scripts/setup "
      "fetches it beside CUDA 13"};
}

}  // namespace infimum::cuda
#endif
