// What is asked of a BLAS library for GPUs about one product: which algorithms it has, with which settings, and to run
// one. CublasLt (cublaslt.h) is the real one, which answers nothing without a GPU; a recording of its answers
// (gemm_recording.h) stands for it where there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "microbench/libraries/cublaslt/gemm_problem.h"

namespace infimum::cuda {

// One algorithm with all its settings, by cuBLASLt's numbers.
struct GemmAlgorithm {
  std::int32_t id = 0;
  std::int32_t tile = 0;
  std::int32_t stages = 0;
  std::int32_t split_k = 1;
  std::int32_t reduction = 0;  // how the parts of a split depth are added up
  std::int32_t swizzle = 0;
  std::int32_t custom = 0;
  std::int32_t inner_shape = 0;
  std::int32_t cluster_shape = 0;

  friend auto operator<=>(const GemmAlgorithm&, const GemmAlgorithm&) = default;
};

// "algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0", and back.
std::string Format(const GemmAlgorithm& algorithm);
std::optional<GemmAlgorithm> ParseGemmAlgorithm(const std::string& text);

// The settings that an algorithm may be given; the list of tiles or stages has 0 where it takes none.
struct GemmCapabilities {
  std::vector<std::int32_t> tiles{0};
  std::vector<std::int32_t> stages{0};
  bool splits_k = false;
  std::int32_t reductions = 0;     // bits of the ways that it knows
  std::int32_t most_swizzles = 0;  // 0 to this
  std::int32_t most_custom = 0;

  friend bool operator==(const GemmCapabilities&, const GemmCapabilities&) = default;
};

// Its memory is that of the problem's tensors in the order of BoundGemm.
class GemmCall {
 public:
  virtual ~GemmCall() = default;
  virtual Bytes workspace() const = 0;
  virtual Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) = 0;
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;

  virtual std::string version() const = 0;
  // What it would choose, and its next best.
  virtual Result<std::vector<GemmAlgorithm>> Heuristic(const GemmProblem& problem) = 0;
  virtual Result<std::vector<std::int32_t>> Ids(const GemmProblem& problem) = 0;
  virtual Result<GemmCapabilities> Capabilities(const GemmProblem& problem, std::int32_t id) = 0;
  // Whether it takes the problem so on this device.
  virtual Result<bool> Accepts(const GemmProblem& problem, const GemmAlgorithm& algorithm) = 0;
  virtual Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const GemmAlgorithm& algorithm) = 0;
};

// In the library's order of preference: `heuristic` what it would choose; `engine` the best of each algorithm, its
// first accepted settings where the heuristic does not have it; `exhaustive` all that it accepts, at most `most`.
Result<std::vector<GemmAlgorithm>> GemmAlgorithms(GemmLibrary& library, const GemmProblem& problem, CandidateTier tier,
                                                  std::size_t most);

}  // namespace infimum::cuda
