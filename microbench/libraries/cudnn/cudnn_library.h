// cuDNN 9, loaded when it is asked for.
//
//   Result<CudnnLibrary> cudnn = CudnnLibrary::Load();
//   cudnn->version();   // "9.19.0"
#pragma once

#include <string>

#include "infimum/base/result.h"

namespace infimum::cuda {

class CudnnLibrary {
 public:
  // Once for the whole process; later calls answer the same.
  static Result<CudnnLibrary> Load();

  // A function of the loaded library's; null where it has none of this name, or nothing was loaded.
  static void* Symbol(const char* name);

  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }

 private:
  std::string version_;
  std::string path_;
};

// For a process that asks cuDNN about devices which are not here, and for no other: cuDNN offers engines that it would
// compile at run time only where it finds a driver. Where this machine has one nothing is done, else the toolkit's
// stub of libcuda is loaded, which answers every call with an error. A program that runs kernels must never have it.
// False where there is neither: such engines are not offered then.
bool LoadDriverOrStub();

}  // namespace infimum::cuda
