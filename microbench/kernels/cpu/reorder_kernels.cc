// Changes of layout as candidates.
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

class ReorderProgram : public Program {
 public:
  Status Prepare(const Problem& problem, const OrderOf& from, const OrderOf& to, const MemoryCopy& copy) {
    copy_ = copy;
    footprint_ = FootprintOf(problem);
    INFIMUM_RETURN_IF_ERROR(input_.Prepare(*problem.operands[0], from));
    INFIMUM_RETURN_IF_ERROR(output_.Prepare(*problem.outputs[0], to));
    return Pack();
  }
  Status Run() override {
    copy_(input_.data(), output_.data());
    return {};
  }
  Status Pack() override { return input_.Pack(); }
  Status Unpack() override { return output_.Unpack(); }
  bool in_place() const override { return !input_.is_copy() && !output_.is_copy(); }
  Bytes footprint() const override { return footprint_; }

 private:
  MemoryCopy copy_;
  PlacedTensor input_, output_;
  Bytes footprint_;
};

}  // namespace

std::vector<Offer> ReorderKernelOffers(const ReorderConfig& config) {
  const std::optional<ElementOrder> from = ParseLayout(config.from, config.input),
                                    to = ParseLayout(config.to, config.input);
  const int bytes = BytesPerElement(config.types.input);
  if (!from || !to || !from->is_dense() || !to->is_dense() || bytes == 0 || config.types.output != config.types.input)
    return {};
  const std::optional<CommonDimensions> dimensions = OverCommonDimensions(from->runs, to->runs);
  if (!dimensions) return {};
  const OrderOf source = OrderOfRuns(from->runs), target = OrderOfRuns(to->runs);
  Offer offer = KernelOffer(
      "reorder", [source, target, copy = MakeMemoryCopy(*dimensions, bytes)](const Problem& problem) -> MadeProgram {
        return Prepared<Program>(std::make_unique<ReorderProgram>(), problem, source, target, copy);
      });
  offer.candidate.input_layout = config.from;
  offer.candidate.output_layout = config.to;
  offer.place = [source, target](const Problem& problem) -> Result<std::vector<Placement>> {
    return std::vector<Placement>{{problem.operands[0], source}, {problem.outputs[0], target}};
  };
  return {offer};
}

}  // namespace infimum::cpu
