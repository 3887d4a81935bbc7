// cuBLASLt's algorithms for one GEMM: their names, which have all settings, and the walk over them.
//
//   algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0
//
// Each list holds the one before it:
//
//   Heuristic(answers)               what cuBLASLt would choose, and its 15 next best
//   BestOfEach(answers, depth, most) also of each further algorithm a setting
//   Exhaustive(answers, depth, most) every setting that cuBLASLt accepts, the heuristic's first, at most `most`
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cublaslt {

// One algorithm with all its settings, by cuBLASLt's numbers.
struct Algorithm {
  std::int32_t id = 0;
  std::int32_t tile = 0;
  std::int32_t stages = 0;
  std::int32_t split_k = 1;
  std::int32_t reduction = 0;  // how the parts of a split depth are added up
  std::int32_t swizzle = 0;
  std::int32_t custom = 0;
  std::int32_t inner_shape = 0;
  std::int32_t cluster_shape = 0;

  friend auto operator<=>(const Algorithm&, const Algorithm&) = default;
};

// `sparse`: of cuSPARSELt, whose algorithms have four settings, the last two of a split depth:
// alg=2_splitk=4_mode=1_buffers=2.
std::string Format(const Algorithm& algorithm, bool sparse = false);
// nullopt where it names no algorithm.
std::optional<Algorithm> ParseAlgorithm(const std::string& text, bool sparse = false);

// The settings that an algorithm may be given; the list of tiles or stages is {0} where it takes none. Shapes of
// instructions and clusters are left to the library.
struct Capabilities {
  std::vector<std::int32_t> tiles{0};
  std::vector<std::int32_t> stages{0};
  bool splits_k = false;
  std::int32_t unsplit = 1;                // the split of a depth that is whole, or is cut as the library likes
  std::vector<std::int32_t> reductions{};  // the schemes that it has
  std::int32_t most_swizzles = 0;          // 0 to this
  std::int32_t most_custom = 0;

  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

// What the library answers about one GEMM on the current device; throws std::runtime_error with its words.
class Answers {
 public:
  virtual ~Answers() = default;
  // In its order of preference.
  virtual std::vector<Algorithm> Suggestions() = 0;
  virtual std::vector<std::int32_t> Ids() = 0;
  // nullopt of an algorithm that this device does not have.
  virtual std::optional<Capabilities> CapabilitiesOf(std::int32_t id) = 0;
  virtual bool Accepts(const Algorithm& algorithm) = 0;
};

std::vector<Algorithm> Heuristic(Answers& answers);
std::vector<Algorithm> BestOfEach(Answers& answers, std::int64_t depth, std::size_t most);
std::vector<Algorithm> Exhaustive(Answers& answers, std::int64_t depth, std::size_t most);

}  // namespace cublaslt
