// Regions of element-wise members only, by one kernel of ours: a block of elements goes through all
// members while it is in the nearest caches (4 KiB for each member), so that memory sees operands and outputs
// only.
#include <algorithm>
#include <array>
#include <optional>

#include "microbench/onednn/broadcast_rows.h"
#include "microbench/onednn/float_rows.h"
#include "microbench/onednn/parallel.h"
#include "microbench/onednn/pointwise_kernels.h"
#include "microbench/onednn/region_problem.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;
constexpr std::size_t kMostMembers = 24;
// Shorter rows would pay more for their starts than for their elements.
constexpr std::int64_t kLeastRow = 16;

bool IsFloat(DataType type) { return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16; }

struct Link {
  UnaryRow unary = nullptr;
  BinaryRow binary = nullptr;
  BroadcastRows rows;
  std::vector<RegionOperand> operands;
};

struct Chain {
  std::vector<Link> links;
  std::int64_t count = 0;
  std::int64_t row = 0;  // divides the rows of all links
};

std::optional<Chain> ChainOf(const Region& region, const RegionValues& values) {
  if (region.members.size() < 2 || region.members.size() > kMostMembers) return std::nullopt;
  Chain chain;
  for (const RegionMember& member : region.members) {
    const auto* config = std::get_if<PointwiseConfig>(&member.config);
    if (config == nullptr || member.operands.size() > 2) return std::nullopt;
    const LayerValues own = ValuesOfMember(values, chain.links.size());
    if (own.quantized() || !AreUsual(config->kind, own)) return std::nullopt;
    if (!IsFloat(config->types.input) || !IsFloat(config->types.output)) return std::nullopt;
    if (config->types.weights != DataType::kNone && !IsFloat(config->types.weights)) return std::nullopt;
    // A change of type on the way rounds, which f32 blocks would not.
    if (config->types.input != config->types.output) return std::nullopt;
    const Shape output = OutputShape(*config);
    Link link{nullptr, nullptr, BroadcastRows(output, config->inputs), member.operands};
    if (member.operands.size() == 1) link.unary = Kernels().find_unary(config->kind, ComputeType::kF32);
    if (member.operands.size() == 2) link.binary = Kernels().find_binary(config->kind, ComputeType::kF32);
    if (link.unary == nullptr && link.binary == nullptr) return std::nullopt;
    const std::int64_t count = ElementCount(output);
    if (chain.links.empty()) {
      chain.count = count;
      chain.row = link.rows.length();
    }
    chain.row = std::min(chain.row, link.rows.length());
    if (count != chain.count || link.rows.length() % chain.row != 0) return std::nullopt;
    for (std::size_t i = 0; i < member.operands.size(); ++i) {
      // Another member's block is used as it is: element for element.
      const bool inner = member.operands[i].source == RegionOperand::Source::kMember;
      if (inner && ElementCount(config->inputs[i]) != count) return std::nullopt;
    }
    chain.links.push_back(std::move(link));
  }
  for (const Link& link : chain.links) {
    if (link.rows.length() % chain.row != 0) return std::nullopt;
  }
  if (chain.row < std::min(kLeastRow, chain.count)) return std::nullopt;
  return chain;
}

class ChainProgram : public Program {
 public:
  ChainProgram(Chain chain, const RegionProblem& problem) : chain_(std::move(chain)) {
    for (const Link& link : chain_.links) {
      std::vector<std::optional<FloatRows>> sources;
      for (const RegionOperand& operand : link.operands) {
        if (operand.source == RegionOperand::Source::kMember) {
          sources.emplace_back();
        } else {
          sources.emplace_back(*problem.Find(operand));
          footprint_ += Bytes{static_cast<std::int64_t>(problem.Find(operand)->bytes())};
        }
      }
      sources_.push_back(std::move(sources));
    }
    // Only now do the rows stay where they are.
    for (std::size_t member = 0; member < sources_.size(); ++member) {
      for (std::size_t i = 0; i < sources_[member].size(); ++i) {
        const RegionOperand& operand = chain_.links[member].operands[i];
        if (operand.source != RegionOperand::Source::kWeight) continue;
        const HostTensor& tensor = *problem.Find(operand);
        FloatRows& rows = *sources_[member][i];
        constants_.push_back({tensor.data(), tensor.bytes(), [&rows](void* there) { rows.MoveTo(there); }});
      }
    }
    targets_.resize(chain_.links.size());
    for (const std::int64_t output : problem.region.outputs) {
      const HostTensor& tensor = *problem.members[static_cast<std::size_t>(output)][0];
      targets_[static_cast<std::size_t>(output)].emplace(tensor);
      footprint_ += Bytes{static_cast<std::int64_t>(tensor.bytes())};
    }
  }

  Status Run() override {
    const std::int64_t piece = std::min(kBlock, chain_.row);
    const std::int64_t pieces = (chain_.row + piece - 1) / piece;
    ParallelRanges(chain_.count / chain_.row * pieces, std::max<std::int64_t>(1, 16384 / piece),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t i = first; i < last; ++i) {
                       const std::int64_t begin = i % pieces * piece;
                       RunPiece(i / pieces * chain_.row + begin, std::min(piece, chain_.row - begin));
                     }
                   });
    return {};
  }

  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override { return constants_; }

 private:
  using Block = std::array<float, kBlock>;

  void RunPiece(std::int64_t begin, std::int64_t count) const {
    std::array<Block, kMostMembers> blocks;
    std::array<Block, 2> loaded;
    for (std::size_t member = 0; member < chain_.links.size(); ++member) {
      const Link& link = chain_.links[member];
      const std::int64_t row = begin / link.rows.length(), within = begin % link.rows.length();
      const float* data[2] = {};
      int steps[2] = {1, 1};
      for (std::size_t i = 0; i < link.operands.size(); ++i) {
        const std::optional<FloatRows>& source = sources_[member][i];
        if (!source) {
          data[i] = blocks[static_cast<std::size_t>(link.operands[i].index)].data();
          continue;
        }
        steps[i] = link.rows.step(i);
        const std::int64_t at = link.rows.Offset(i, row) + (steps[i] == 1 ? within : 0);
        data[i] = source->Read(at, steps[i] == 1 ? count : 1, loaded[i].data());
      }
      const std::optional<FloatRows>& target = targets_[member];
      const bool last = member + 1 == chain_.links.size();
      float* const to = last && target ? target->Target(begin, blocks[member].data()) : blocks[member].data();
      if (link.unary != nullptr) {
        link.unary(data[0], to, count);
      } else {
        link.binary(data[0], steps[0], data[1], steps[1], to, count);
      }
      if (!target) continue;
      if (last) {
        target->Store(to, begin, count);
      } else {
        float* const kept = target->Target(begin, blocks[member].data());
        if (kept != to) std::copy_n(to, count, kept);
        target->Store(to, begin, count);
      }
    }
  }

  Chain chain_;
  std::vector<std::vector<std::optional<FloatRows>>> sources_;
  std::vector<std::optional<FloatRows>> targets_;
  std::vector<ConstantBlock> constants_;
  Bytes footprint_;
};

}  // namespace

std::vector<RegionOffer> PointwiseChainOffers(const Region& region, const RegionValues& values) {
  const std::optional<Chain> chain = ChainOf(region, values);
  if (!chain) return {};
  RegionOffer offer;
  offer.candidate = KernelOffer("pointwise-chain", nullptr).candidate;
  offer.make = [chain = *chain](const RegionProblem& problem) -> Result<std::unique_ptr<Program>> {
    return std::unique_ptr<Program>(std::make_unique<ChainProgram>(chain, problem));
  };
  return {offer};
}

}  // namespace infimum::cpu
