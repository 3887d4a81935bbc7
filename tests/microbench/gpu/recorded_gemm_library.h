// A BLAS library by its recorded answers (gemm_recording.h), so that candidates are listed where no GPU is. It runs
// nothing.
//
//   Result<std::shared_ptr<GemmLibrary>> replayed = ReadGemmRecording(text, "h200-cublaslt.json");
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "microbench/libraries/cublaslt/gemm_library.h"

namespace infimum::cuda {

// A problem that was not asked about is an error; so is running. Errors name `source`.
Result<std::shared_ptr<GemmLibrary>> ReadGemmRecording(std::string_view text, const std::string& source);

}  // namespace infimum::cuda
