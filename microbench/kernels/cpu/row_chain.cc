// Regions of element-wise members and then a normalization or softmax of rows, by one kernel of ours: each row goes
// through all of them while it is in the nearest cache. Residual sums that go on are written on the way.
#include <algorithm>
#include <optional>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/pointwise_chain.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {
namespace {

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
