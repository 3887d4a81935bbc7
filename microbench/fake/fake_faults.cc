#include "microbench/fake/fake_faults.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

constexpr EnumNames<FakeFault::kCrashPeaks> kFaults = {"crash",         "abort",         "exit",       "hang",
                                                       "out-of-memory", "leak",          "fail",       "wrong",
                                                       "compile",       "crash-listing", "crash-peaks"};

constexpr std::size_t kChunk = std::size_t{8} << 20;

// Sanitizers turn SIGSEGV into an exit; the test of a crash wants the signal itself.
void Crash(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Hang() {
  while (true) pause();
}

void Compile() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
  }
}

void AllocateWithoutEnd() {
  std::vector<std::unique_ptr<char[]>> kept;
  while (true) {
    kept.push_back(std::make_unique<char[]>(kChunk));
    std::memset(kept.back().get(), 1, kChunk);
  }
}

void TouchSharedMemoryWithoutEnd() {
  while (true) {
    void* chunk = mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) Hang();
    std::memset(chunk, 1, kChunk);
    usleep(2000);  // leaves the supervisor time to look before the machine suffers
  }
}

}  // namespace

std::optional<FakeFault> FindFakeFault(std::string_view name) { return kFaults.Find(name); }

bool FakeFaults::Has(FakeFault fault, std::string_view workload, const Candidate& candidate) const {
  const auto found = patterns_.find(fault);
  if (found == patterns_.end()) return false;
  const std::string_view pattern = found->second;
  const std::size_t at = pattern.find('@');
  const std::string_view algorithm = pattern.substr(0, at);
  return (algorithm.empty() || algorithm == candidate.algorithm || algorithm == candidate.name()) &&
         (at == std::string_view::npos || workload.find(pattern.substr(at + 1)) != std::string_view::npos);
}

Status FakeFaults::Strike(std::string_view workload, const Candidate& candidate) const {
  const auto has = [&](FakeFault fault) { return Has(fault, workload, candidate); };
  if (has(FakeFault::kCrash)) Crash(SIGSEGV);
  if (has(FakeFault::kAbort)) Crash(SIGABRT);
  if (has(FakeFault::kExit)) _exit(3);
  if (has(FakeFault::kHang)) Hang();
  if (has(FakeFault::kCompile)) Compile();
  if (has(FakeFault::kOutOfMemory)) AllocateWithoutEnd();
  if (has(FakeFault::kLeak)) TouchSharedMemoryWithoutEnd();
  if (has(FakeFault::kFail)) return Error{"this candidate is set to fail"};
  return {};
}

void FakeFaults::Strike(FakeFault fault, std::string_view text) const {
  const auto found = patterns_.find(fault);
  if (found != patterns_.end() && text.find(found->second) != std::string_view::npos) Crash(SIGSEGV);
}

}  // namespace infimum
