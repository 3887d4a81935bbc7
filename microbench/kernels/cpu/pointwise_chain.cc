#include "microbench/kernels/cpu/pointwise_chain.h"

#include <algorithm>
#include <array>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kMostMembers = 24;
// Shorter rows would pay more for their starts than for their elements.
constexpr std::int64_t kLeastRow = 16;

bool IsFloat(DataType type) { return type == DataType::kF32 || type == DataType::kF16 || type == DataType::kBF16; }

class ChainProgram : public Program {
 public:
  ChainProgram(PointwiseChain chain, const RegionProblem& problem) : bound_(std::move(chain), problem) {}

  Status Run() override {
    const std::int64_t row = bound_.chain().row, piece = std::min(PointwiseChain::kBlock, row);
    const std::int64_t pieces = (row + piece - 1) / piece;
    ParallelEach(bound_.chain().count / row * pieces, 16384, piece, [&](std::int64_t i) {
      std::array<float, PointwiseChain::kBlock> buffer;
      const std::int64_t within = i % pieces * piece, begin = i / pieces * row + within;
      bound_.Run(begin, std::min(piece, row - within), bound_.Target(begin, buffer.data()));
    });
    return {};
  }

  Bytes footprint() const override { return bound_.footprint(); }
  std::vector<ConstantBlock> Constants() override { return bound_.constants(); }

 private:
  BoundChain bound_;
};

}  // namespace

std::optional<PointwiseChain> PointwiseChain::Of(const Region& region, const RegionValues& values,
                                                 std::size_t members) {
  if (members == 0 || members > region.members.size() || members > kMostMembers) return std::nullopt;
  PointwiseChain chain;
  for (std::size_t number = 0; number < members; ++number) {
    const RegionMember& member = region.members[number];
    const auto* config = std::get_if<PointwiseConfig>(&member.config);
    if (config == nullptr || member.operands.size() > 2) return std::nullopt;
    const LayerValues own = ValuesOfMember(values, number);
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

BoundChain::BoundChain(PointwiseChain chain, const RegionProblem& problem) : chain_(std::move(chain)) {
  for (const PointwiseChain::Link& link : chain_.links) {
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
    const auto member = static_cast<std::size_t>(output);
    if (member >= targets_.size()) continue;
    const HostTensor& tensor = *problem.members[member][0];
    targets_[member].emplace(tensor);
    footprint_ += Bytes{static_cast<std::int64_t>(tensor.bytes())};
  }
}

void BoundChain::Run(std::int64_t begin, std::int64_t count, float* last) const {
  using Block = std::array<float, PointwiseChain::kBlock>;
  std::array<Block, kMostMembers> blocks;
  std::array<Block, 2> loaded;
  std::array<const float*, kMostMembers> results;
  for (std::size_t member = 0; member < chain_.links.size(); ++member) {
    const PointwiseChain::Link& link = chain_.links[member];
    const std::int64_t row = begin / link.rows.length(), within = begin % link.rows.length();
    const float* data[2] = {};
    int steps[2] = {1, 1};
    for (std::size_t i = 0; i < link.operands.size(); ++i) {
      const std::optional<FloatRows>& source = sources_[member][i];
      if (!source) {
        data[i] = results[static_cast<std::size_t>(link.operands[i].index)];
        continue;
      }
      steps[i] = link.rows.step(i);
      const std::int64_t at = link.rows.Offset(i, row) + (steps[i] == 1 ? within : 0);
      data[i] = source->Read(at, steps[i] == 1 ? count : 1, loaded[i].data());
    }
    const std::optional<FloatRows>& target = targets_[member];
    float* to = last;
    if (member + 1 < chain_.links.size())
      to = target ? target->Target(begin, blocks[member].data()) : blocks[member].data();
    if (link.unary != nullptr) {
      link.unary(data[0], to, count);
    } else {
      link.binary(data[0], steps[0], data[1], steps[1], to, count);
    }
    if (target) target->Store(to, begin, count);
    results[member] = to;
  }
}

std::vector<RegionOffer> PointwiseChainOffers(const Region& region, const RegionValues& values) {
  if (region.members.size() < 2) return {};
  const std::optional<PointwiseChain> chain = PointwiseChain::Of(region, values, region.members.size());
  if (!chain) return {};
  const auto make = [chain = *chain](const RegionProblem& problem) -> MadeProgram {
    return std::unique_ptr<Program>(std::make_unique<ChainProgram>(chain, problem));
  };
  return {{KernelOffer("pointwise-chain", nullptr).candidate, make}};
}

}  // namespace infimum::cpu
