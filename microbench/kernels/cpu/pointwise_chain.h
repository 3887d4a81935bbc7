// Element-wise members of a region as one kernel of ours: a block of elements goes through all of them while it is in
// the nearest caches (4 KiB for each member), so that memory sees operands and outputs only.
//
//   std::optional<PointwiseChain> chain = PointwiseChain::Of(region, values, region.members.size());
//   BoundChain bound(*chain, problem);
//   bound.Run(0, 1024, bound.Target(0, buffer));      the first 1024 elements
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "microbench/kernels/cpu/broadcast_rows.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/libraries/onednn/program/region_problem.h"

namespace infimum::cpu {

struct PointwiseChain {
  static constexpr std::int64_t kBlock = 1024;

  struct Link {
    UnaryRow unary = nullptr;
    BinaryRow binary = nullptr;
    BroadcastRows rows;
    std::vector<RegionOperand> operands;
  };

  // The first members of a region; nullopt where one of them is no element-wise layer on as many elements as the
  // others, has no row kernel for its kind, types and values, or has rows of a few elements only.
  static std::optional<PointwiseChain> Of(const Region& region, const RegionValues& values, std::size_t members);

  std::vector<Link> links;
  std::int64_t count = 0;  // elements
  std::int64_t row = 0;    // divides the rows of all links
};

// A chain with its tensors. Stays where it is: its constants are bound to it.
class BoundChain {
 public:
  BoundChain(PointwiseChain chain, const RegionProblem& problem);
  BoundChain(const BoundChain&) = delete;
  BoundChain& operator=(const BoundChain&) = delete;

  const PointwiseChain& chain() const { return chain_; }
  Bytes footprint() const { return footprint_; }
  const std::vector<ConstantBlock>& constants() const { return constants_; }

  // Where the last link's results from `begin` on are to be computed: the output itself where it is one of f32.
  float* Target(std::int64_t begin, float* buffer) const {
    return targets_.back() ? targets_.back()->Target(begin, buffer) : buffer;
  }
  // At most kBlock elements, all in one of the chain's rows; the last link's results go to `last`, Target's answer.
  void Run(std::int64_t begin, std::int64_t count, float* last) const;

 private:
  PointwiseChain chain_;
  std::vector<std::vector<std::optional<FloatRows>>> sources_;
  std::vector<std::optional<FloatRows>> targets_;  // by link; of those that the region hands on
  std::vector<ConstantBlock> constants_;
  Bytes footprint_;
};

}  // namespace infimum::cpu
