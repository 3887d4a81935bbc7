#include "microbench/gpu/device/kernel_compiler.h"

#include <algorithm>
#include <vector>

#include "infimum/base/sha256.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/kernels/cuda/kernel_launch.h"

namespace infimum::cuda {
namespace {

// Of nvrtc.h, whose functions have been as they are since CUDA 11.2.
using Program = void*;
constexpr std::size_t kMostSaid = 600;

std::string HashOfTexts() {
  Sha256Hash hash;
  for (const DeviceText& text : DeviceTexts()) hash.Add(std::as_bytes(std::span(text.text)));
  return hash.Text();
}

}  // namespace

struct KernelCompiler::Functions {
  int (*version)(int*, int*) = nullptr;
  int (*count_architectures)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*lowered_name)(Program, const char*, const char**) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;

  // False where one is missing.
  bool Find(const SharedLibrary& library) {
    return library.Find("nvrtcVersion", version) && library.Find("nvrtcGetNumSupportedArchs", count_architectures) &&
           library.Find("nvrtcGetSupportedArchs", architectures) && library.Find("nvrtcCreateProgram", create) &&
           library.Find("nvrtcDestroyProgram", destroy) && library.Find("nvrtcAddNameExpression", add_name) &&
           library.Find("nvrtcCompileProgram", compile) && library.Find("nvrtcGetProgramLogSize", log_size) &&
           library.Find("nvrtcGetProgramLog", log) && library.Find("nvrtcGetLoweredName", lowered_name) &&
           library.Find("nvrtcGetCUBINSize", cubin_size) && library.Find("nvrtcGetCUBIN", cubin) &&
           library.Find("nvrtcGetPTXSize", ptx_size) && library.Find("nvrtcGetPTX", ptx);
  }

  // "sm_90"; of a device that this version does not know the newest before it, as PTX.
  std::string ArchitectureFor(std::int64_t compute_capability) const {
    int count = 0;
    if (count_architectures(&count) != 0 || count <= 0) return "";
    std::vector<int> known(static_cast<std::size_t>(count));
    if (architectures(known.data()) != 0) return "";
    const auto wanted = static_cast<int>(compute_capability / 10);
    if (std::ranges::count(known, wanted) > 0) return "sm_" + std::to_string(wanted);
    std::erase_if(known, [&](int one) { return one > wanted; });
    return known.empty() ? "" : "compute_" + std::to_string(std::ranges::max(known));
  }

  static std::string Text(int (*size)(Program, std::size_t*), int (*text)(Program, char*), Program program) {
    std::size_t bytes = 0;
    if (size(program, &bytes) != 0) return "";
    std::string all(bytes, '\0');
    return text(program, all.data()) == 0 ? all : "";
  }
};

KernelCompiler::KernelCompiler(std::unique_ptr<Functions> functions, std::string version, std::string architecture,
                               CodeCache cache)
    : functions_(std::move(functions)),
      version_(std::move(version)),
      architecture_(std::move(architecture)),
      cache_(std::move(cache)),
      texts_hash_(HashOfTexts()) {}

KernelCompiler::~KernelCompiler() = default;

Result<std::unique_ptr<KernelCompiler>> KernelCompiler::Open(std::int64_t compute_capability, CodeCache cache,
                                                             int driver) {
  LoadNvrtcBuiltins();
  INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                           SharedLibrary::Open(NamesForDriver("libnvrtc", driver), "cuda_nvrtc",
                                               "NVRTC, which compiles infimum's kernels,"));
  auto functions = std::make_unique<Functions>();
  int major = 0, minor = 0;
  if (!functions->Find(library) || functions->version(&major, &minor) != 0)
    return Error{library.path().string() + " is no NVRTC of CUDA 12 or newer"};
  std::string architecture = functions->ArchitectureFor(compute_capability);
  if (architecture.empty())
    return Error{"NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " compiles for no device as old as " +
                 std::to_string(compute_capability / 100) + "." + std::to_string(compute_capability / 10 % 10)};
  return std::unique_ptr<KernelCompiler>(new KernelCompiler(std::move(functions),
                                                            std::to_string(major) + "." + std::to_string(minor),
                                                            std::move(architecture), std::move(cache)));
}

Result<CompiledKernel> KernelCompiler::Compile(const std::string& source, const std::string& name) const {
  const std::string made_of = version_ + "\n" + architecture_ + "\n" + texts_hash_ + "\n" + name + "\n" + source;
  if (const std::optional<std::string> kept = cache_.Find(made_of))
    if (const std::size_t line = kept->find('\n'); line != std::string::npos)
      return CompiledKernel{kept->substr(0, line), kept->substr(line + 1)};
  Result<CompiledKernel> made = CompileAnew(source, name);
  if (made.ok()) cache_.Keep(made_of, made->entry + "\n" + made->code);
  return made;
}

Result<CompiledKernel> KernelCompiler::CompileAnew(const std::string& source, const std::string& name) const {
  std::vector<std::string> names, texts;
  for (const DeviceText& text : DeviceTexts()) {
    names.emplace_back(text.name);
    texts.emplace_back(text.text);
  }
  std::vector<const char*> name_pointers, text_pointers;
  for (const std::string& one : names) name_pointers.push_back(one.c_str());
  for (const std::string& one : texts) text_pointers.push_back(one.c_str());
  Program program = nullptr;
  if (functions_->create(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()), text_pointers.data(),
                         name_pointers.data()) != 0)
    return Error{"NVRTC takes no program"};
  const auto destroy = [this](void* made) {
    Program of = made;
    functions_->destroy(&of);
  };
  const std::unique_ptr<void, decltype(destroy)> owned(program, destroy);
  const bool is_code = architecture_.starts_with("sm_");
  const std::string architecture = "--gpu-architecture=" + architecture_;
  // What says nothing is for the device, in texts that are written for both sides.
  const char* const options[] = {architecture.c_str(), "--std=c++20", "--device-as-default-execution-space"};
  const bool compiles = functions_->add_name(program, name.c_str()) == 0 &&
                        functions_->compile(program, static_cast<int>(std::size(options)), options) == 0;
  const char* entry = nullptr;
  if (!compiles || functions_->lowered_name(program, name.c_str(), &entry) != 0) {
    const std::string said = Functions::Text(functions_->log_size, functions_->log, program);
    return Error{"NVRTC " + version_ + " does not compile " + name + " for " + architecture_ + ": " +
                 said.substr(0, std::min(kMostSaid, std::min(said.find('\0'), said.size())))};
  }
  CompiledKernel kernel;
  kernel.entry = entry;
  kernel.code = is_code ? Functions::Text(functions_->cubin_size, functions_->cubin, program)
                        : Functions::Text(functions_->ptx_size, functions_->ptx, program);
  if (kernel.code.empty()) return Error{"NVRTC " + version_ + " has no code of " + name + " for " + architecture_};
  return kernel;
}

}  // namespace infimum::cuda
