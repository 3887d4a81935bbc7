#include "tests/emit/emitted_program.h"

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

}  // namespace

std::optional<std::string> WhyNoEmittedProgram() {
#ifdef INFIMUM_BENCHMARK_DIR
  return std::nullopt;
#else
  return "Google Benchmark is not installed (Debian: libbenchmark-dev), which emitted sources need";
#endif
}

EmittedProgram::EmittedProgram(const Plan& plan, const EmitOptions& options) {
  std::string pattern = (std::filesystem::temp_directory_path() / "infimum-emitted-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  folder_ = pattern;
  const Result<EmittedProject> project = EmitProject(plan, options);
  const Status written = project.ok() ? WriteProject(*project, folder_ / "source") : Status(project.error());
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.error().message.c_str());
}

EmittedProgram::~EmittedProgram() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string EmittedProgram::Build(const std::string& flags) {
#ifdef INFIMUM_BENCHMARK_DIR
  const std::string source = (folder_ / "source").string(), build = (folder_ / "build").string();
  const std::string log = (folder_ / "log.txt").string();
  const std::string configure = "'" INFIMUM_CMAKE "' -G '" INFIMUM_GENERATOR
                                "' -DCMAKE_MAKE_PROGRAM='" INFIMUM_MAKE_PROGRAM
                                "' -DCMAKE_CXX_COMPILER='" INFIMUM_CXX_COMPILER "' -Ddnnl_DIR='" INFIMUM_DNNL_DIR
                                "' -Dbenchmark_DIR='" INFIMUM_BENCHMARK_DIR "' '-DCMAKE_CXX_FLAGS=" +
                                flags + "' -S '" + source + "' -B '" + build + "'";
  const std::string command =
      "(" + configure + " && '" INFIMUM_CMAKE "' --build '" + build + "' -j 2) > '" + log + "' 2>&1";
  return std::system(command.c_str()) == 0 ? "" : ReadFile(log) + " ";
#else
  return flags + "Google Benchmark is missing";
#endif
}

std::string EmittedProgram::Run(const std::string& filter) const {
  const std::string out = (folder_ / "results.json").string();
  const std::string command = "'" + (folder_ / "build/onednn_benchmarks").string() + "' '--benchmark_filter=" + filter +
                              "' '--benchmark_out=" + out + "' --benchmark_out_format=json > '" +
                              (folder_ / "run.txt").string() + "' 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "%s\n", ReadFile(folder_ / "run.txt").c_str());
    return "";
  }
  return ReadFile(out);
}

}  // namespace infimum::testing
