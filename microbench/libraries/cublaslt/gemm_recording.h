// Answers of a BLAS library about algorithms, kept as a text: written where a GPU is, read by tests where none is.
//
//   RecordingGemmLibrary recorder(lt);             // asks `lt`, and remembers
//   GemmAlgorithms(recorder, problem, tier, 1000);
//   recorder.Text();                               // {"schema":"infimum.gemm-recording/2","library":"13.0.2",...}
#pragma once

#include <memory>
#include <string>

#include "microbench/libraries/cublaslt/gemm_library.h"

namespace infimum::cuda {

class RecordingGemmLibrary : public GemmLibrary {
 public:
  explicit RecordingGemmLibrary(std::shared_ptr<GemmLibrary> library);
  ~RecordingGemmLibrary() override;

  std::string version() const override { return library_->version(); }
  std::string_view name() const override { return library_->name(); }
  Result<std::unique_ptr<cublaslt::Answers>> Ask(const GemmProblem& problem) override;
  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const cublaslt::Algorithm& algorithm) override {
    return library_->Make(problem, algorithm);
  }

  // JSON: for each problem that was asked about what was answered; of settings those that were accepted.
  std::string Text() const;

 private:
  class Kept;

  std::shared_ptr<GemmLibrary> library_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace infimum::cuda
