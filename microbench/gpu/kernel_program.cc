#include "microbench/gpu/kernel_program.h"

#include <utility>

#include "microbench/kernels/cuda/kernel_offers.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {
namespace {

class KernelProgram : public GpuProgram {
 public:
  KernelProgram(Gpu& gpu, KernelOffer offer, std::vector<GpuBinding> bindings, std::size_t operands)
      : GpuProgram(std::move(bindings)), gpu_(gpu), offer_(std::move(offer)), operands_(operands) {}

  Bytes workspace() const override { return Bytes{offer_.scratch_bytes}; }

  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    const auto first_output = addresses.begin() + static_cast<std::ptrdiff_t>(operands_);
    KernelBuffers buffers;
    buffers.operands.assign(addresses.begin(), first_output);
    buffers.outputs.assign(first_output, addresses.end());
    buffers.scratch = workspace;
    calls_ = offer_.make(buffers);
    return {};
  }

  Status Enqueue(Gpu::Stream stream) override {
    for (const KernelCall& call : calls_) INFIMUM_RETURN_IF_ERROR(gpu_.Launch(call, stream));
    return {};
  }

 private:
  Gpu& gpu_;
  KernelOffer offer_;
  std::size_t operands_;
  std::vector<KernelCall> calls_;
};

// Tensors from outside in the order in0, in1 ..., w0, w1 ..., each once, then the results. For a layer alone that is
// the order of its operands.
std::vector<GpuBinding> BindingsOf(const Region& region, bool channels_last, std::size_t& operands) {
  const auto place = [&](const Shape& shape) {
    return channels_last ? TensorPlacement::WithChannels(shape, true) : TensorPlacement::RowMajor(shape);
  };
  std::vector<GpuBinding> inputs, weights;
  for (const RegionMember& member : region.members) {
    const std::vector<Operand> of = OperandsOf(member.config);
    for (std::size_t i = 0; i < of.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kMember) continue;
      std::vector<GpuBinding>& list = operand.source == RegionOperand::Source::kInput ? inputs : weights;
      if (static_cast<std::size_t>(operand.index) < list.size()) continue;
      list.push_back({operand, 0, of[i].type, place(of[i].shape)});
    }
  }
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  operands = inputs.size();
  for (const std::int64_t output : region.outputs) {
    const std::vector<Operand> of = OutputsOf(region.members[static_cast<std::size_t>(output)].config);
    for (std::size_t i = 0; i < of.size(); ++i) {
      inputs.push_back({{RegionOperand::Source::kMember, output}, i, of[i].type, place(of[i].shape)});
    }
  }
  return inputs;
}

}  // namespace

std::vector<GpuOffer> KernelOffers(const cpu::ValuedRegion& problem) {
  const Region& region = problem.region;
  const bool is_layer = region.members.size() == 1;
  std::vector<GpuOffer> offers;
  for (KernelOffer& kernel : is_layer
                                 ? KernelsFor(region.members.front().config, cpu::ValuesOfMember(problem.values, 0))
                                 : KernelsFor(region, problem.values)) {
    Candidate candidate = {std::string(kOurs), kernel.algorithm, "plain", "plain", false};
    if (kernel.channels_last) {
      const Workload layer(region.members.front().config);
      const CudnnForm form{.channels_last = true};
      candidate.input_layout = InputLayouts(layer, form);
      candidate.output_layout = OutputLayout(layer, form);
    }
    const auto make = [kernel = std::move(kernel), region](Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
      std::size_t operands = 0;
      std::vector<GpuBinding> bindings = BindingsOf(region, kernel.channels_last, operands);
      return std::unique_ptr<GpuProgram>(std::make_unique<KernelProgram>(gpu, kernel, std::move(bindings), operands));
    };
    offers.push_back({candidate, make});
  }
  return offers;
}

}  // namespace infimum::cuda
