// Plain cuBLAS as a library of the runner.
#include <cuda_runtime_api.h>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublas/calls/cublas_gemm.h"
#include "microbench/libraries/cublaslt/cublaslt.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cublaslt/library_gemm.h"

namespace infimum::cuda {
namespace {

class Call : public GemmCall {
 public:
  Call(const cublas::Functions& cublas, cublasHandle_t handle, const cublaslt::Gemm& gemm)
      : gemm_(cublas, handle, gemm) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(cublas::kWorkspace)}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    return Caught(
        [&] { gemm_.Run(tensors[0], tensors[1], tensors.back(), workspace, static_cast<cudaStream_t>(stream)); });
  }

 private:
  cublas::Gemm gemm_;
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
    if (handle_ != nullptr) cublas_.Destroy(handle_);
  }

  Status Open() {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                             SharedLibrary::Open(NamesForDriver("libcublas", driver), "cublas", "cuBLAS"));
#define INFIMUM_FIND(name, symbol) \
  if (!library.Find(#symbol, cublas_.name)) return Error{library.path().string() + ": it has no " #symbol};
    CUBLAS_FUNCTIONS(INFIMUM_FIND)
    INFIMUM_FIND(GemmStridedBatchedEx, cublasGemmStridedBatchedEx)
#undef INFIMUM_FIND
    int version = 0;
    INFIMUM_RETURN_IF_ERROR(Caught([&] {
      cublas::Check(cublas_, cublas_.Create(&handle_));
      cublas::Check(cublas_, cublas_.GetVersion(handle_, &version));
    }));
    version_ = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
               std::to_string(version % 100);
    return {};
  }

  std::string version() const override { return version_; }
  std::string_view name() const override { return kCublas; }
  std::string NameOf(const cublaslt::Algorithm&) const override { return "gemm"; }
  std::optional<cublaslt::Algorithm> Named(const std::string& name) const override {
    return name == "gemm" ? std::optional(cublaslt::Algorithm()) : std::nullopt;
  }
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem&) override {
    return std::unique_ptr<cublaslt::Answers>(std::make_unique<OneAlgorithm>());
  }
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm&) override {
    return Caught(
        [&]() -> std::unique_ptr<GemmCall> { return std::make_unique<Call>(cublas_, handle_, LibraryGemm(problem)); });
  }

 private:
  cublas::Functions cublas_;
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
