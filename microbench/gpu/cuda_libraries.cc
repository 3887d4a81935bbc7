#include <algorithm>
#include <utility>

#include "microbench/gpu/device/gpu_libraries.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/kernel_program.h"
#include "microbench/gpu/product_offers.h"
#include "microbench/libraries/cublaslt/cublaslt.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn/cudnn_program.h"
#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "src/core/layer/small_float.h"

namespace infimum::cuda {
namespace {

// Scratch memory that a product may want; what cuBLAS recommends for Hopper.
constexpr Bytes kGemmWorkspace{std::int64_t{32} << 20};

class CudaLibraries : public GpuLibraries {
 public:
  explicit CudaLibraries(Gpu& gpu) : gpu_(gpu) {}

  std::map<std::string, std::string> versions() override {
    Load();
    return versions_;
  }
  std::vector<std::string> missing() override {
    Load();
    return missing_;
  }

  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract contract,
                                       CandidateTier tier) override {
    Load();
    const cpu::ValuedRegion problem = BenchmarkedRegion(workload);
    std::vector<GpuOffer> offers;
    const auto add = [&](std::vector<GpuOffer> more) {
      for (GpuOffer& offer : more) offers.push_back(std::move(offer));
    };
    if (handle_) {
      Result<std::vector<GpuOffer>> graph = GraphOffers(workload, problem, contract, tier);
      if (graph.ok()) {
        add(*std::move(graph));
      } else {
        offers.push_back(FailedOffer(kCudnnGraph, graph.error()));
      }
    }
    for (const std::shared_ptr<GemmLibrary>& library : products_)
      if (library->name() != kCublas || problem.region.members.size() == 1)
        add(GemmOffers(library, workload, contract, tier));
    const auto is_sparse = [&](const GemmForm& form) { return GemmOf(problem.region, contract, form).ok(); };
    if (no_sparse_ && std::ranges::any_of(GemmFormsOf(problem.region, contract, tier, true), is_sparse))
      offers.push_back(FailedOffer(kCusparseLt, *no_sparse_));
    if (handle_) {
      std::vector<GpuOffer> legacy = LegacyOffers(handle_, workload, contract);
      if (tier == CandidateTier::kHeuristic && !legacy.empty()) legacy.resize(1);
      add(std::move(legacy));
    }
    add(KernelOffers(problem));
    return offers;
  }

  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract contract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    Load();
    const cpu::ValuedRegion problem =
        values.empty() ? BenchmarkedRegion(workload) : cpu::ValuedRegion{cpu::RegionOf(workload), values};
    if (candidate.library == kCudnnGraph && handle_) {
      const std::optional<CudnnChoice> choice = FindChoice(workload, contract, candidate);
      return choice ? std::optional<GpuOffer>(GraphOffer(problem, candidate, *choice)) : std::nullopt;
    }
    for (const std::shared_ptr<GemmLibrary>& library : products_)
      if (candidate.library == library->name()) return FindGemmOffer(library, workload, contract, candidate, values);
    std::vector<GpuOffer> offers;
    if (candidate.library == kCudnnLegacy && handle_) offers = LegacyOffers(handle_, workload, contract, values);
    if (candidate.library == kOurs) offers = KernelOffers(problem);
    for (GpuOffer& offer : offers)
      if (offer.candidate.name() == candidate.name() && offer.candidate.input_layout == candidate.input_layout)
        return std::optional<GpuOffer>(std::move(offer));
    return std::optional<GpuOffer>();
  }

  std::vector<GpuOffer> LargeProducts(DataType type, NumericContract contract, std::int64_t extent,
                                      std::optional<GemmSums> sums) override {
    Load();
    if (products_.empty() || products_[0]->name() != kCublasLt) return {};
    MatMulConfig config;
    config.types = {type, type, type};
    if (type == DataType::kS8) config.types.output = DataType::kS32;
    if (IsSmallFloat(type)) config.types.output = DataType::kBF16;
    if (type == DataType::kF4E2M1) {  // as NVFP4 has its scales
      config.scales = {16, 1, DataType::kF8E4M3};
      config.a_scales = {1, 16, DataType::kF8E4M3};
    }
    config.a = config.b = Shape{{1, extent, extent}};
    // Other sums are a form beyond the library's usual one.
    const CandidateTier tier = sums ? CandidateTier::kEngine : CandidateTier::kHeuristic;
    std::vector<GpuOffer> offers = GemmOffers(products_[0], LayerConfig(config), contract, tier);
    std::erase_if(offers, [&](const GpuOffer& offer) {
      const std::size_t other = offer.candidate.algorithm.find("/acc=");
      return sums ? !offer.candidate.algorithm.ends_with(Suffix({false, sums})) : other != std::string::npos;
    });
    return offers;
  }

 private:
  void Load() {
    if (std::exchange(is_loaded_, true)) return;
    if (const Result<CudnnLibrary> cudnn = CudnnLibrary::Load(); !cudnn.ok()) {
      missing_.push_back(cudnn.error().message);
    } else if (Result<std::shared_ptr<CudnnHandle>> handle =
                   CudnnHandle::Create(gpu_.facts().name, gpu_.facts().compute_capability);
               !handle.ok()) {
      missing_.push_back(handle.error().message);
    } else {
      handle_ = *std::move(handle);
      versions_["cudnn"] = cudnn->version();
    }
    Take(OpenCublasLt(kGemmWorkspace));
    Take(OpenCublas());
    // Few models would miss it.
    if (Result<std::shared_ptr<GemmLibrary>> sparse = OpenCusparseLt(kGemmWorkspace); sparse.ok()) {
      Take(std::move(sparse));
    } else {
      no_sparse_ = sparse.error();
    }
  }

  void Take(Result<std::shared_ptr<GemmLibrary>> opened) {
    if (!opened.ok()) {
      missing_.push_back(opened.error().message);
      return;
    }
    versions_[std::string((*opened)->name())] = (*opened)->version();
    products_.push_back(*std::move(opened));
  }

  GpuOffer GraphOffer(const cpu::ValuedRegion& problem, Candidate candidate, const CudnnChoice& choice) {
    return {std::move(candidate),
            [handle = handle_, problem, choice](Gpu& gpu) { return MakeCudnnProgram(gpu, handle, problem, choice); }};
  }

  Result<std::vector<GpuOffer>> GraphOffers(const Workload& workload, const cpu::ValuedRegion& problem,
                                            NumericContract contract, CandidateTier tier) {
    INFIMUM_ASSIGN_OR_RETURN(const CandidateList list,
                             CudnnCandidates(workload, contract, tier, CudnnTarget::Of(gpu_.facts().name, handle_)));
    std::vector<GpuOffer> offers;
    for (const OfferedCandidate& offered : list.candidates) {
      const std::optional<CudnnChoice> choice = FindChoice(workload, contract, offered.candidate);
      if (choice) offers.push_back(GraphOffer(problem, offered.candidate, *choice));
    }
    return offers;
  }

  Gpu& gpu_;
  bool is_loaded_ = false;
  std::shared_ptr<CudnnHandle> handle_;
  std::vector<std::shared_ptr<GemmLibrary>> products_;  // cuBLASLt first, where it is
  std::optional<Error> no_sparse_;                      // why there is no cuSPARSELt
  std::map<std::string, std::string> versions_;
  std::vector<std::string> missing_;
};

}  // namespace

std::unique_ptr<GpuLibraries> MakeCudaLibraries(Gpu& gpu) {
  return WithDerivedProducts(std::make_unique<CudaLibraries>(gpu));
}

}  // namespace infimum::cuda
