// NVRTC, NVIDIA's compiler as a library: makes code for a device of a text, in some 0.3 s, once; what the same version
// made of the same text is kept (code_cache.h).
//
//   Result<std::unique_ptr<KernelCompiler>> compiler = KernelCompiler::Open(900);
//   (*compiler)->Compile(SourceOf(launch), launch.name)   // {"_ZN7infimum4cuda...", cubin}
#pragma once

#include <memory>
#include <string>

#include "infimum/base/result.h"
#include "microbench/gpu/device/code_cache.h"

namespace infimum::cuda {

struct CompiledKernel {
  std::string entry;  // the kernel's name in the code
  std::string code;   // of the device, or PTX where the compiler does not know it
};

class KernelCompiler {
 public:
  // `compute_capability`: 900 is 9.0. `driver`: the CUDA that it knows, 12040 is 12.4; one before 13 loads no code of
  // NVRTC 13, which is taken only where there is no other. An error says what is missing and how to get it.
  static Result<std::unique_ptr<KernelCompiler>> Open(std::int64_t compute_capability, CodeCache cache = CodeCache(),
                                                      int driver = 13000);
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;
  ~KernelCompiler();

  const std::string& version() const { return version_; }            // "13.0"
  const std::string& architecture() const { return architecture_; }  // "sm_90"; "compute_90": newer devices take it
  // Of a text that may include DeviceTexts() the kernel of that name. Errors hold the compiler's first words.
  Result<CompiledKernel> Compile(const std::string& source, const std::string& name) const;

 private:
  struct Functions;
  KernelCompiler(std::unique_ptr<Functions> functions, std::string version, std::string architecture, CodeCache cache);
  Result<CompiledKernel> CompileAnew(const std::string& source, const std::string& name) const;

  std::unique_ptr<Functions> functions_;
  std::string version_, architecture_;
  CodeCache cache_;
  std::string texts_hash_;
};

}  // namespace infimum::cuda
