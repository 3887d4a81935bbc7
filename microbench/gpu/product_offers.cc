#include "microbench/gpu/product_offers.h"

#include <string>
#include <utility>
#include <vector>

#include "microbench/kernels/cuda/kernel_offers.h"
#include "microbench/reference/statistic_product.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {
namespace {

constexpr std::string_view kDequantized = "dequantized/";

Error OfOwnLayout() { return Error{"unsupported: the product's layout is its own"}; }

// The product's program, whose constant is memory of its own.
class StatisticProgram : public GpuProgram {
 public:
  StatisticProgram(std::unique_ptr<GpuProgram> product, const cpu::StatisticProduct& statistic)
      : product_(std::move(product)), constant_(static_cast<std::int64_t>(statistic.constant)) {
    for (GpuBinding binding : product_->bindings()) {
      if (IsConstant(binding)) continue;
      binding.tensor.index = 0;
      bindings_.push_back(std::move(binding));
    }
  }

  Status Upload(Gpu& gpu, const cpu::StatisticProduct& statistic) {
    INFIMUM_ASSIGN_OR_RETURN(const cpu::HostTensor values, statistic.Constant());
    for (const GpuBinding& binding : product_->bindings()) {
      if (!IsConstant(binding)) continue;
      const std::vector<std::byte> packed = Packed(values, binding.placement, binding.type);
      INFIMUM_ASSIGN_OR_RETURN(memory_, DeviceMemory::Allocate(gpu, binding.placement.bytes(binding.type)));
      INFIMUM_RETURN_IF_ERROR(gpu.Upload(memory_.data(), packed.data(), memory_.size()));
    }
    return {};
  }

  Bytes workspace() const override { return product_->workspace(); }
  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    std::vector<void*> all;
    auto next = addresses.begin();
    for (const GpuBinding& binding : product_->bindings())
      all.push_back(IsConstant(binding) ? memory_.data() : *next++);
    return product_->Bind(all, workspace);
  }
  Status Prepare() override { return product_->Prepare(); }
  Status Enqueue(Gpu::Stream stream) override { return product_->Enqueue(stream); }

 private:
  bool IsConstant(const GpuBinding& binding) const {
    return !binding.is_written() && binding.tensor.index == constant_;
  }

  std::unique_ptr<GpuProgram> product_;
  std::int64_t constant_;
  DeviceMemory memory_;
};

GpuOffer OfferOfSum(const cpu::StatisticProduct& statistic, Candidate candidate, GpuOffer product) {
  const auto make = [statistic, make = std::move(product.make)](Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> inner, make(gpu));
    auto program = std::make_unique<StatisticProgram>(std::move(inner), statistic);
    for (const GpuBinding& binding : program->bindings())
      if (!binding.placement.is_row_major()) return OfOwnLayout();
    INFIMUM_RETURN_IF_ERROR(program->Upload(gpu, statistic));
    return std::unique_ptr<GpuProgram>(std::move(program));
  };
  return {std::move(candidate), make};
}

std::optional<DerivedProduct> SumAsProduct(const LayerConfig& layer, CandidateTier tier) {
  std::optional<cpu::StatisticProduct> statistic = cpu::StatisticProductOf(layer);
  if (!statistic || tier == CandidateTier::kHeuristic) return std::nullopt;
  const bool two_vary = statistic->product.weights == Constness::kVariable;
  return DerivedProduct{Workload(LayerConfig(statistic->product)),
                        tier == CandidateTier::kEngine ? CandidateTier::kHeuristic : CandidateTier::kEngine,
                        cpu::StatisticCandidate,
                        [two_vary](Candidate candidate) {
                          candidate.algorithm.erase(0, cpu::kAsMatMul.size());
                          candidate.input_layout = two_vary ? "abc,abc" : "abc";
                          candidate.output_layout = "abc";
                          return candidate;
                        },
                        [statistic = *std::move(statistic)](Candidate candidate, GpuOffer product) {
                          return OfferOfSum(statistic, std::move(candidate), std::move(product));
                        }};
}

// The kernel that writes the weights as numbers into scratch memory, then the product's program, which reads them
// there.
class DequantizedProgram : public GpuProgram {
 public:
  DequantizedProgram(Gpu& gpu, std::unique_ptr<GpuProgram> product, KernelOffer expansion, const MatMulConfig& stored)
      : gpu_(gpu), product_(std::move(product)), expansion_(std::move(expansion)) {
    const std::vector<Operand> operands = OperandsOf(LayerConfig(stored));
    const std::size_t scales = stored.bias == MatMulBias::kNone ? 2 : 3;
    for (const GpuBinding& binding : product_->bindings())
      if (!IsWeights(binding)) bindings_.push_back(binding);
    for (std::size_t i = 1; i < operands.size(); i = i == 1 ? scales : i + 1)
      bindings_.push_back({{RegionOperand::Source::kInput, static_cast<std::int64_t>(i)},
                           0,
                           operands[i].type,
                           TensorPlacement::RowMajor(operands[i].shape)});
  }

  // Where the product wants its weights as they are written.
  bool CanBe() const {
    for (const GpuBinding& binding : product_->bindings())
      if (!binding.placement.is_row_major()) return false;
    return true;
  }

  Bytes workspace() const override { return Bytes{WeightBytes() + product_->workspace().value}; }
  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    std::vector<void*> all;
    auto next = addresses.begin();
    for (const GpuBinding& binding : product_->bindings()) all.push_back(IsWeights(binding) ? workspace : *next++);
    KernelBuffers buffers;
    buffers.operands.assign(next, addresses.end());
    buffers.outputs = {workspace};
    calls_ = expansion_.make(buffers);
    return product_->Bind(all, static_cast<std::byte*>(workspace) + WeightBytes());
  }
  Status Prepare() override { return product_->Prepare(); }
  Status Enqueue(Gpu::Stream stream) override {
    for (const KernelCall& call : calls_) INFIMUM_RETURN_IF_ERROR(gpu_.Launch(call, stream));
    return product_->Enqueue(stream);
  }

 private:
  static bool IsWeights(const GpuBinding& binding) { return !binding.is_written() && binding.tensor.index == 1; }
  // As allocations are aligned.
  std::int64_t WeightBytes() const {
    for (const GpuBinding& binding : product_->bindings())
      if (IsWeights(binding)) return Divided(binding.placement.bytes(binding.type).value, 256) * 256;
    return 0;
  }

  Gpu& gpu_;
  std::unique_ptr<GpuProgram> product_;
  KernelOffer expansion_;
  std::vector<KernelCall> calls_;
};

std::optional<DerivedProduct> DequantizedProduct(const LayerConfig& layer, CandidateTier tier) {
  const auto* config = std::get_if<MatMulConfig>(&layer);
  if (config == nullptr) return std::nullopt;
  const std::optional<KernelOffer> expansion = DequantizationOf(*config);
  if (!expansion) return std::nullopt;
  MatMulConfig product = *config;
  product.types.weights = product.types.input;
  product.scales = {};
  product.activations = DataType::kNone;
  product.weights = Constness::kVariable;
  product.sparsity = Sparsity::kNone;
  const Workload workload{LayerConfig(product)};
  const std::string reads = InputLayouts(workload, {}), writes = OutputLayout(workload, {});
  return DerivedProduct{workload, tier,
                        [reads, writes](Candidate candidate) -> std::optional<Candidate> {
                          if (candidate.input_layout != reads || candidate.output_layout != writes) return std::nullopt;
                          candidate.algorithm.insert(0, kDequantized);
                          candidate.input_layout = candidate.output_layout = "plain";
                          candidate.library_choice = false;
                          return candidate;
                        },
                        [reads, writes](Candidate candidate) {
                          candidate.algorithm.erase(0, kDequantized.size());
                          candidate.input_layout = reads;
                          candidate.output_layout = writes;
                          return candidate;
                        },
                        [expansion, stored = *config](Candidate candidate, GpuOffer inner) {
                          const auto make = [expansion, stored, make = std::move(inner.make)](
                                                Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
                            INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> made, make(gpu));
                            auto program =
                                std::make_unique<DequantizedProgram>(gpu, std::move(made), *expansion, stored);
                            if (!program->CanBe()) return OfOwnLayout();
                            return std::unique_ptr<GpuProgram>(std::move(program));
                          };
                          return GpuOffer{std::move(candidate), make};
                        }};
}

class LibrariesWithDerived : public GpuLibraries {
 public:
  explicit LibrariesWithDerived(std::unique_ptr<GpuLibraries> libraries) : libraries_(std::move(libraries)) {}

  std::map<std::string, std::string> versions() override { return libraries_->versions(); }
  std::vector<std::string> missing() override { return libraries_->missing(); }

  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                       CandidateTier tier) override {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> offers, libraries_->Offers(workload, contract, tier));
    const std::optional<DerivedProduct> derived = DerivedProductOf(workload, tier);
    if (!derived) return offers;
    INFIMUM_ASSIGN_OR_RETURN(std::vector<GpuOffer> products,
                             libraries_->Offers(derived->product, contract, derived->tier));
    for (GpuOffer& product : products)
      if (std::optional<Candidate> candidate = derived->candidate(product.candidate))
        offers.push_back(derived->offer(*std::move(candidate), std::move(product)));
    return offers;
  }

  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    const bool is_derived =
        candidate.algorithm.starts_with(cpu::kAsMatMul) || candidate.algorithm.starts_with(kDequantized);
    const std::optional<DerivedProduct> derived =
        is_derived ? DerivedProductOf(workload, CandidateTier::kExhaustive) : std::nullopt;
    if (!derived) return libraries_->Find(workload, contract, candidate, values);
    INFIMUM_ASSIGN_OR_RETURN(std::optional<GpuOffer> product,
                             libraries_->Find(derived->product, contract, derived->of_product(candidate)));
    if (!product) return product;
    return std::optional<GpuOffer>(derived->offer(candidate, *std::move(product)));
  }

  std::vector<GpuOffer> LargeProducts(DataType type, NumericContract contract, std::int64_t extent,
                                      std::optional<GemmSums> sums) override {
    return libraries_->LargeProducts(type, contract, extent, sums);
  }

 private:
  std::unique_ptr<GpuLibraries> libraries_;
};

}  // namespace

std::optional<DerivedProduct> DerivedProductOf(const Workload& workload, CandidateTier tier) {
  const auto* layer = std::get_if<LayerConfig>(&workload);
  if (layer == nullptr) return std::nullopt;
  std::optional<DerivedProduct> sum = SumAsProduct(*layer, tier);
  return sum ? std::move(sum) : DequantizedProduct(*layer, tier);
}

std::unique_ptr<GpuLibraries> WithDerivedProducts(std::unique_ptr<GpuLibraries> libraries) {
  return std::make_unique<LibrariesWithDerived>(std::move(libraries));
}

}  // namespace infimum::cuda
