#include <algorithm>

#include "microbench/gpu/device/gpu_libraries.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/kernel_program.h"

namespace infimum::cuda {
namespace {

class OwnLibrary : public GpuLibraries {
 public:
  std::map<std::string, std::string> versions() override { return {}; }
  std::vector<std::string> missing() override { return {}; }
  Result<std::vector<GpuOffer>> Offers(const Workload& workload, NumericContract, CandidateTier tier) override {
    std::vector<GpuOffer> offers = KernelOffers(BenchmarkedRegion(workload));
    if (tier == CandidateTier::kHeuristic && offers.size() > 1) offers.resize(1);
    return offers;
  }
  Result<std::optional<GpuOffer>> Find(const Workload& workload, NumericContract, const Candidate& candidate,
                                       const cpu::RegionValues& values) override {
    if (candidate.library != kOurs) return std::optional<GpuOffer>();
    for (GpuOffer& offer : KernelOffers({cpu::RegionOf(workload), values}))
      if (offer.candidate.algorithm == candidate.algorithm) return std::optional<GpuOffer>(std::move(offer));
    return std::optional<GpuOffer>();
  }
  std::vector<GpuOffer> LargeProducts(DataType, NumericContract, std::int64_t, bool) override { return {}; }
};

}  // namespace

std::unique_ptr<GpuLibraries> MakeOwnLibrary() { return std::make_unique<OwnLibrary>(); }

}  // namespace infimum::cuda
