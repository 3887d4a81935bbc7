// infimum-gpu-checklist: what a first visit to a GPU has to find out before its times are believed.
//
//   infimum-gpu-checklist -o results        every check in a process of its own; findings in results/checklist.jsonl
//   infimum-gpu-checklist --check cupti -o results
//
// Exit code 0 when all that was expected holds.
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "microbench/gpu/checklist/nvidia_checks.h"
#include "microbench/gpu/device/cuda_gpu.h"
#include "microbench/gpu/gpu_backend.h"

extern char** environ;

namespace infimum::cuda {
namespace {

std::vector<Check> AllChecks() {
  std::vector<Check> checks = NvidiaChecks();
  for (Check& check : BackendChecks()) checks.push_back(std::move(check));
  return checks;
}

// A lost context takes its process with it, and with it this check alone.
int RunApart(const std::string& program, const std::string& name, const std::string& folder, int device) {
  std::vector<std::string> words{program, "--check", name, "-o", folder, "--device", std::to_string(device)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// 0: all holds, 1: it does not, as the line says.
int RunOne(const Check& check, const std::string& folder, int device) {
  BackendOptions options;
  options.settings["device"] = std::to_string(device);
  GpuBackend backend(options, GpuParts{OpenCudaGpu, MakeCudaLibraries});
  const Result<Finding> finding = check.run({backend, folder, ChecklistLayers(), device});
  const std::string line = FormatFinding(check.name, finding);
  std::printf("%s\n", line.c_str());
  std::ofstream(folder + "/checklist.jsonl", std::ios::app) << line << "\n";
  return finding.ok() && finding->holds ? 0 : 1;
}

}  // namespace
}  // namespace infimum::cuda

int main(int argc, char** argv) {
  using namespace infimum::cuda;
  CLI::App app{"Finds out what has to be known of a GPU before its times are believed"};
  std::string folder, only;
  bool lists = false;
  int device = 0;
  app.add_option("-o,--output", folder, "folder for findings, properties and recordings");
  app.add_option("--check", only, "this one alone, in this process");
  app.add_option("--device", device, "another GPU, by CUDA's number")->check(CLI::NonNegativeNumber);
  app.add_flag("--list", lists, "names and purposes of the checks");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "infimum: error: %s\n", error.what());
    return 2;
  }
  const std::vector<Check> checks = AllChecks();
  if (lists) {
    for (const Check& check : checks) std::printf("%-12s %s\n", check.name.c_str(), check.what.c_str());
    return 0;
  }
  if (folder.empty()) {
    std::fprintf(stderr, "infimum: error: -o DIR is needed: findings, properties and recordings are kept there\n");
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    std::fprintf(stderr, "infimum: error: %s: the folder cannot be made: %s\n", folder.c_str(),
                 error.message().c_str());
    return 2;
  }
  int failed = 0, known = 0;
  for (const Check& check : checks) {
    if (!only.empty() && check.name != only) continue;
    ++known;
    if (!only.empty()) {
      failed += RunOne(check, folder, device);
      continue;
    }
    std::fflush(stdout);
    const int code = RunApart(argv[0], check.name, folder, device);
    if (code == 0) continue;
    ++failed;
    // What a lost process could not write itself.
    if (code != 1) {
      std::ofstream(folder + "/checklist.jsonl", std::ios::app)
          << FormatFinding(check.name, infimum::Error{"the check's process ended before it was done"}) << "\n";
    }
  }
  if (known == 0) {
    std::fprintf(stderr, "infimum: error: --check %s: there is none of this name; --list names them\n", only.c_str());
    return 2;
  }
  if (only.empty()) std::fprintf(stderr, "infimum: %d of %zu checks hold\n", known - failed, checks.size());
  return failed == 0 ? 0 : 1;
}
