// Regions of element-wise members, the first of which may be a batch normalization, and regions of such members and
// then a normalization or softmax of rows, by one kernel of ours: each row goes through all of them while it is in the
// nearest cache. Residual sums that go on are written on the way.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "microbench/kernels/cpu/broadcast_rows.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {
namespace {

// Element-wise members of a region, and a batch normalization before them, as one kernel of ours: a block of elements
// goes through all of them while it is in the nearest caches (4 KiB for each member), so that memory sees operands and
// outputs only.
//
//   std::optional<PointwiseChain> chain = PointwiseChain::Of(region, values, region.members.size());
//   BoundChain bound(*chain, problem);
//   bound.Run(0, 1024, bound.Target(0, buffer));      the first 1024 elements

struct PointwiseChain {
  static constexpr std::int64_t kBlock = 1024;

  struct Link {
    UnaryRow unary = nullptr;
    BinaryRow binary = nullptr;
    std::optional<NormalizationConfig> normalization;  // of channels, in place of a kernel of rows
    BroadcastRows rows;
    std::vector<RegionOperand> operands;
  };

  // The first members of a region; nullopt where one of them is no element-wise layer on as many elements as the
  // others (the first: nor a batch normalization), has no row kernel for its kind, types and values, or has rows of a
  // few elements only.
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
  ChannelFactors factors_;  // of the first link, where it is a normalization
  Bytes footprint_;
};

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

// A batch normalization of f32 or shorter floats as the first link.
std::optional<PointwiseChain::Link> LinkOf(const NormalizationConfig& config, const RegionMember& member) {
  if (config.kind != NormalizationKind::kBatch || config.axis != 1 || config.input.rank() < 2) return std::nullopt;
  if (!IsFloat(config.types.input) || config.types.output != config.types.input) return std::nullopt;
  // Its factors are made once.
  for (std::size_t i = 1; i < member.operands.size(); ++i)
    if (member.operands[i].source != RegionOperand::Source::kWeight) return std::nullopt;
  const Shape all{{ElementCount(config.input)}};
  return PointwiseChain::Link{nullptr, nullptr, config, BroadcastRows(all, {all}), member.operands};
}

std::int64_t PixelsOf(const NormalizationConfig& config) {
  return ElementsBetween(config.input, 2, config.input.rank());
}

std::optional<PointwiseChain> PointwiseChain::Of(const Region& region, const RegionValues& values,
                                                 std::size_t members) {
  if (members == 0 || members > region.members.size() || members > kMostMembers) return std::nullopt;
  PointwiseChain chain;
  for (std::size_t number = 0; number < members; ++number) {
    const RegionMember& member = region.members[number];
    if (const auto* normalization = std::get_if<NormalizationConfig>(&member.config)) {
      std::optional<Link> link = number == 0 ? LinkOf(*normalization, member) : std::nullopt;
      if (!link) return std::nullopt;
      chain.count = ElementCount(normalization->input);
      chain.row = PixelsOf(*normalization);
      chain.links.push_back(*std::move(link));
      continue;
    }
    const auto* config = std::get_if<PointwiseConfig>(&member.config);
    if (config == nullptr || member.operands.size() > 2) return std::nullopt;
    const LayerValues own = ValuesOfMember(values, number);
    if (own.quantized() || !AreUsual(config->kind, own)) return std::nullopt;
    if (!IsFloat(config->types.input) || !IsFloat(config->types.output)) return std::nullopt;
    if (config->types.weights != DataType::kNone && !IsFloat(config->types.weights)) return std::nullopt;
    // A change of type on the way rounds, which f32 blocks would not.
    if (config->types.input != config->types.output) return std::nullopt;
    const Shape output = OutputShape(*config);
    Link link{nullptr, nullptr, {}, BroadcastRows(output, config->inputs), member.operands};
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
  if (const std::optional<NormalizationConfig>& normalization = chain_.links.front().normalization) {
    std::vector<const HostTensor*> operands;
    for (const RegionOperand& operand : chain_.links.front().operands) operands.push_back(problem.Find(operand));
    factors_ = FactorsOf(*normalization, ValuesOfMember(problem.values, 0), operands);
  }
  // Only now do the rows stay where they are.
  for (std::size_t member = 0; member < sources_.size(); ++member) {
    if (chain_.links[member].normalization) continue;
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
    const std::size_t varying = link.normalization ? 1 : link.operands.size();
    for (std::size_t i = 0; i < varying; ++i) {
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
    if (link.normalization) {
      const auto channel = static_cast<std::size_t>(begin / PixelsOf(*link.normalization)) % factors_.scale.size();
      Kernels().affine_row(data[0], factors_.scale[channel], factors_.shift[channel], to, count);
    } else if (link.unary != nullptr) {
      link.unary(data[0], to, count);
    } else {
      link.binary(data[0], steps[0], data[1], steps[1], to, count);
    }
    if (target) target->Store(to, begin, count);
    results[member] = to;
  }
}

constexpr std::int64_t kLeastChainWork = 16384;

// Short rows go through the chain together, as many as fill a block.
std::int64_t RowsAtOnce(std::int64_t length) { return std::max<std::int64_t>(1, PointwiseChain::kBlock / length); }

// The last member as a function of rows.
struct Ending {
  std::int64_t length = 0;  // of a row
  std::int64_t count = 0;   // elements
  OperandTypes types;
};

std::optional<Ending> EndingOf(const LayerConfig& config) {
  Ending ending;
  const Shape* input = nullptr;
  std::int64_t axis = 0;
  if (const auto* normalization = std::get_if<NormalizationConfig>(&config)) {
    if (!IsRowwise(*normalization)) return std::nullopt;
    input = &normalization->input;
    axis = normalization->axis;
    ending.types = normalization->types;
  } else if (const auto* softmax = std::get_if<SoftmaxConfig>(&config)) {
    input = &softmax->input;
    axis = softmax->axis;
    ending.types = softmax->types;
    // A row is contiguous.
    for (auto i = static_cast<std::size_t>(axis) + 1; i < input->rank(); ++i)
      if (input->dims[i] != 1) return std::nullopt;
  } else {
    return std::nullopt;
  }
  ending.count = ElementCount(*input);
  ending.length = ElementsBetween(*input, static_cast<std::size_t>(axis), input->rank());
  return ending;
}

RowFunction FunctionOf(const RegionMember& member, const LayerValues& values, const RegionProblem& problem,
                       std::int64_t length) {
  if (const auto* softmax = std::get_if<SoftmaxConfig>(&member.config)) return SoftmaxRow(softmax->kind, length);
  std::vector<const HostTensor*> operands;
  for (const RegionOperand& operand : member.operands) operands.push_back(problem.Find(operand));
  return NormalizationRow(std::get<NormalizationConfig>(member.config), values, operands);
}

class RowChainProgram : public Program {
 public:
  RowChainProgram(PointwiseChain chain, const Ending& ending, const RegionProblem& problem,
                  std::shared_ptr<ThreadScratch> scratch)
      : bound_(std::move(chain), problem),
        length_(ending.length),
        finish_(FunctionOf(problem.region.members.back(),
                           ValuesOfMember(problem.values, problem.region.members.size() - 1), problem, ending.length)),
        output_(*problem.members.back()[0]),
        scratch_(std::move(scratch)),
        footprint_(bound_.footprint() + Bytes{static_cast<std::int64_t>(problem.members.back()[0]->bytes())}) {}

  Status Run() override {
    const std::int64_t rows = bound_.chain().count / length_, batch = RowsAtOnce(length_);
    const std::int64_t batches = (rows + batch - 1) / batch;
    ParallelEach(batches, kLeastChainWork, batch * length_,
                 [&](std::int64_t i) { RunRows(i * batch, std::min(rows, (i + 1) * batch)); });
    return {};
  }

  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override { return bound_.constants(); }

 private:
  void RunRows(std::int64_t first, std::int64_t last) const {
    float* const buffer = scratch_->Row(0);
    const std::int64_t begin = first * length_, end = last * length_, chain_row = bound_.chain().row;
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t piece = std::min({PointwiseChain::kBlock, end - at, chain_row - at % chain_row});
      bound_.Run(at, piece, bound_.Target(at, buffer + (at - begin)));
      at += piece;
    }
    const float* const x = bound_.Target(begin, buffer);
    float* const y = output_.Target(begin, scratch_->Row(1));
    for (std::int64_t at = 0; at < end - begin; at += length_) finish_(x + at, y + at);
    output_.Store(y, begin, end - begin);
  }

  BoundChain bound_;
  std::int64_t length_;
  RowFunction finish_;
  FloatRows output_;
  std::shared_ptr<ThreadScratch> scratch_;
  Bytes footprint_;
};

}  // namespace

std::vector<RegionOffer> PointwiseChainOffers(const Region& region, const RegionValues& values) {
  if (region.members.size() < 2) return {};
  const std::optional<PointwiseChain> chain = PointwiseChain::Of(region, values, region.members.size());
  if (!chain) return {};
  const auto make = [chain = *chain](const RegionProblem& problem) -> MadeProgram {
    return std::unique_ptr<Program>(std::make_unique<ChainProgram>(chain, problem));
  };
  return {{KernelOffer("pointwise-chain", nullptr).candidate, make}};
}

std::vector<RegionOffer> RowChainOffers(const Region& region, const RegionValues& values) {
  const std::size_t members = region.members.size();
  if (members < 2) return {};
  const RegionMember& last = region.members.back();
  const std::optional<Ending> ending = EndingOf(last.config);
  const RegionOperand chained{RegionOperand::Source::kMember, static_cast<std::int64_t>(members) - 2};
  // The last element-wise member is what is normalized, and nothing else of the ending comes out of the chain.
  if (!ending || last.operands.empty() || !(last.operands[0] == chained)) return {};
  for (std::size_t i = 1; i < last.operands.size(); ++i)
    if (last.operands[i].source == RegionOperand::Source::kMember) return {};
  const std::optional<PointwiseChain> chain = PointwiseChain::Of(region, values, members - 1);
  if (!chain || chain->count != ending->count || ValuesOfMember(values, members - 1).quantized()) return {};
  const auto* previous = std::get_if<PointwiseConfig>(&region.members[members - 2].config);
  if (previous == nullptr || previous->types.output != ending->types.input || !FitsFloat(ending->types.output))
    return {};
  const auto make = [chain = *chain, ending = *ending](const RegionProblem& problem) -> MadeProgram {
    INFIMUM_ASSIGN_OR_RETURN(std::shared_ptr<ThreadScratch> scratch,
                             ThreadScratch::Make(ending.length * RowsAtOnce(ending.length)));
    return std::unique_ptr<Program>(std::make_unique<RowChainProgram>(chain, ending, problem, std::move(scratch)));
  };
  return {{KernelOffer("row-chain", nullptr).candidate, make}};
}

}  // namespace infimum::cpu
