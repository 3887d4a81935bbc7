#include "tests/emit/emitted_program.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace infimum::testing {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Where CMake is to look for them.
const std::string kLibraries = "-Ddnnl_DIR='" INFIMUM_DNNL_DIR
                               "'"
#ifdef INFIMUM_CUDNN_FRONTEND_INCLUDE_DIR
                               " -DCUDNN_FRONTEND_INCLUDE_DIR='" INFIMUM_CUDNN_FRONTEND_INCLUDE_DIR
                               "' -DCUDNN_INCLUDE_DIR='" INFIMUM_CUDNN_INCLUDE_DIR
                               "'"
#endif
#ifdef INFIMUM_CUSPARSELT_ROOT
                               " -DCUSPARSELT_ROOT='" INFIMUM_CUSPARSELT_ROOT "'"
#endif
    ;

}  // namespace

std::optional<std::string> WhyNoEmittedProgram([[maybe_unused]] const std::string& library) {
#ifdef __SANITIZE_ADDRESS__
  return "what is emitted is compiled without sanitizers, here as in the other build, and for minutes";
#endif
#ifndef INFIMUM_BENCHMARK_DIR
  return "Google Benchmark is not installed (Debian: libbenchmark-dev), which emitted sources need";
#endif
#ifndef INFIMUM_HAS_CUDA_TOOLKIT
  if (library != "onednn") return "the CUDA toolkit is not installed, which sources for NVIDIA's libraries need";
#endif
#ifndef INFIMUM_CUDNN_FRONTEND_INCLUDE_DIR
  if (library == "cudnn") return "cuDNN or NVIDIA's frontend is not installed";
#endif
  return std::nullopt;
}

EmittedProgram::EmittedProgram(const Plan& plan, const EmitOptions& options) : name_(options.library + "_benchmarks") {
  const Result<EmittedProject> project = EmitProject(plan, options);
  const Status written = project.ok() ? WriteProject(*project, folder_ / "source") : Status(project.error());
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.error().message.c_str());
}

std::string EmittedProgram::Build(const std::string& flags) {
#ifdef INFIMUM_BENCHMARK_DIR
  const std::string source = (folder_ / "source").string(), build = (folder_ / "build").string();
  const std::string log = (folder_ / "log.txt").string();
  std::string configure = "'" INFIMUM_CMAKE "' -G '" INFIMUM_GENERATOR "' -DCMAKE_MAKE_PROGRAM='" INFIMUM_MAKE_PROGRAM
                          "' -DCMAKE_CXX_COMPILER='" INFIMUM_CXX_COMPILER "' -Dbenchmark_DIR='" INFIMUM_BENCHMARK_DIR
                          "' " +
                          kLibraries + " '-DCMAKE_CXX_FLAGS=" + flags + "' -S '" + source + "' -B '" + build + "'";
  // Flags that are given are all: those of a release would come behind them.
  if (!flags.empty()) configure += " -DCMAKE_CXX_FLAGS_RELEASE=";
  const std::string command =
      "(" + configure + " && '" INFIMUM_CMAKE "' --build '" + build + "' -j 2) > '" + log + "' 2>&1";
  return std::system(command.c_str()) == 0 ? "" : ReadFile(log) + " ";
#else
  return flags + "Google Benchmark is missing";
#endif
}

std::string EmittedProgram::Run(const std::string& filter) const {
  const std::string out = (folder_ / "results.json").string();
  const std::string command = "'" + (folder_ / "build" / name_).string() + "' '--benchmark_filter=" + filter +
                              "' '--benchmark_out=" + out + "' --benchmark_out_format=json > '" +
                              (folder_ / "run.txt").string() + "' 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "%s\n", ReadFile(folder_ / "run.txt").c_str());
    return "";
  }
  return ReadFile(out);
}

EmittedProgram::Said EmittedProgram::Say(const std::string& arguments, const std::string& environment) const {
  const std::string output = (folder_ / "output.txt").string(), error = (folder_ / "error.txt").string();
  const std::string command = "env " + environment + " '" + (folder_ / "build" / name_).string() + "' " + arguments +
                              " > '" + output + "' 2> '" + error + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(output), ReadFile(error)};
}

}  // namespace infimum::testing
