#include "microbench/libraries/cublaslt/gemm_program.h"

#include <utility>

#include "microbench/gpu/device/symmetric_values.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {
namespace {

constexpr std::string_view kPlainGemm = "gemm";

class GemmProgram : public GpuProgram {
 public:
  // The library lives as long as its call.
  GemmProgram(std::shared_ptr<GemmLibrary> library, std::vector<GpuBinding> bindings, std::unique_ptr<GemmCall> call)
      : library_(std::move(library)), bindings_(std::move(bindings)), call_(std::move(call)) {}

  const std::vector<GpuBinding>& bindings() const override { return bindings_; }
  Bytes workspace() const override { return call_->workspace(); }
  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    addresses_ = addresses;
    workspace_ = workspace;
    return {};
  }
  Status Enqueue(Gpu::Stream stream) override { return call_->Enqueue(addresses_, workspace_, stream); }

 private:
  std::shared_ptr<GemmLibrary> library_;
  std::vector<GpuBinding> bindings_;
  std::unique_ptr<GemmCall> call_;
  std::vector<void*> addresses_;
  void* workspace_ = nullptr;
};

std::string AlgorithmName(std::string_view library, const GemmAlgorithm& algorithm, const GemmForm& form) {
  return (library == kCublas ? std::string(kPlainGemm) : Format(algorithm)) + Suffix(form);
}

GpuOffer OfferOf(const std::shared_ptr<GemmLibrary>& library, std::string_view name, const Workload& workload,
                 const BoundGemm& gemm, const GemmAlgorithm& algorithm, const GemmForm& form) {
  GpuOffer offer;
  // Rows of all operands lie as they are named: how a constant one is kept stands in the algorithm's name.
  offer.candidate = {std::string(name), AlgorithmName(name, algorithm, form), InputLayouts(workload, {}),
                     OutputLayout(workload, {}), false};
  offer.make = [library, gemm, algorithm](Gpu&) -> Result<std::unique_ptr<GpuProgram>> {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GemmCall> call, library->Make(gemm.problem, algorithm));
    return std::unique_ptr<GpuProgram>(std::make_unique<GemmProgram>(library, gemm.bindings, std::move(call)));
  };
  return offer;
}

}  // namespace

std::vector<GpuOffer> GemmOffers(const std::shared_ptr<GemmLibrary>& library, std::string_view name,
                                 const Workload& workload, NumericContract contract, CandidateTier tier) {
  const cpu::ValuedRegion problem = BenchmarkedRegion(workload);
  std::vector<GpuOffer> offers;
  for (const GemmForm& form : GemmFormsOf(problem.region, contract, tier)) {
    const Result<BoundGemm> gemm = GemmOf(problem, contract, form);
    if (!gemm.ok()) continue;
    const Result<std::vector<GemmAlgorithm>> algorithms =
        GemmAlgorithms(*library, gemm->problem, tier, kMostGemmsOfAForm);
    if (!algorithms.ok()) continue;
    for (const GemmAlgorithm& algorithm : *algorithms)
      offers.push_back(OfferOf(library, name, workload, *gemm, algorithm, form));
  }
  if (!offers.empty()) offers.front().candidate.library_choice = true;
  return offers;
}

std::optional<GpuOffer> FindGemmOffer(const std::shared_ptr<GemmLibrary>& library, std::string_view name,
                                      const Workload& workload, NumericContract contract, const Candidate& candidate,
                                      const cpu::RegionValues& values) {
  if (candidate.library != name) return std::nullopt;
  const std::size_t end = std::min(candidate.algorithm.find('/'), candidate.algorithm.size());
  const std::string first = candidate.algorithm.substr(0, end);
  const std::optional<GemmAlgorithm> algorithm =
      name == kCublas ? (first == kPlainGemm ? std::optional(GemmAlgorithm()) : std::nullopt)
                      : ParseGemmAlgorithm(first);
  if (!algorithm) return std::nullopt;
  const cpu::ValuedRegion problem =
      values.empty() ? BenchmarkedRegion(workload) : cpu::ValuedRegion{cpu::RegionOf(workload), values};
  for (const GemmForm& form : GemmFormsOf(problem.region, contract, CandidateTier::kExhaustive)) {
    if (Suffix(form) != candidate.algorithm.substr(end)) continue;
    const Result<BoundGemm> gemm = GemmOf(problem, contract, form);
    if (gemm.ok()) return OfferOf(library, name, workload, *gemm, *algorithm, form);
  }
  return std::nullopt;
}

}  // namespace infimum::cuda
