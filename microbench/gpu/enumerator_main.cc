// infimum-candidates-cuda: which algorithms a workload has on a GPU that need not be here: those of cuDNN's graph, its
// older calls and kernels of ours.
//
//   infimum-candidates-cuda --device-properties h200.json --layer 'matmul dtype=f16:f16:f16 a=1x128x768 ...'
//
// One line of JSON (candidate_list.h). A program of its own, since it loads the stub of libcuda where there is no
// driver: neither the command line nor a runner may ever have that. `infimum candidates` runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/gpu/kernel_program.h"
#include "microbench/gpu/product_offers.h"
#include "microbench/libraries/cudnn/cudnn_candidates.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/gemm_problem.h"

namespace infimum::cuda {
namespace {

struct RawRequest {
  std::string layer;
  std::string properties;
  std::string contract;
  std::string tier = "engine";
};

struct Request {
  Workload workload;
  NumericContract contract = NumericContract::kStrictF32;
  CandidateTier tier = CandidateTier::kEngine;
  std::string properties;  // a file
};

Result<CandidateList> Answer(const Request& request) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ReadFile(request.properties));
  INFIMUM_ASSIGN_OR_RETURN(const GpuProperties gpu, GpuProperties::Parse(text, request.properties));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnLibrary cudnn, CudnnLibrary::Load());
  const bool has_driver = LoadDriverOrStub();
  INFIMUM_ASSIGN_OR_RETURN(CandidateList list,
                           CudnnCandidates(request.workload, request.contract, request.tier, CudnnTarget::Of(gpu)));
  list.library = "cudnn";
  list.version = cudnn.version();
  const auto add = [&](const char* words) { list.refusal += std::string(list.refusal.empty() ? "" : "; ") + words; };
  if (!has_driver)
    add("engines that are compiled at run time are left out: there is neither a driver nor the CUDA toolkit's stub");
  const std::optional<DerivedProduct> derived = DerivedProductOf(request.workload, request.tier);
  if (derived) {
    INFIMUM_ASSIGN_OR_RETURN(const CandidateList products,
                             CudnnCandidates(derived->product, request.contract, derived->tier, CudnnTarget::Of(gpu)));
    for (const OfferedCandidate& offered : products.candidates)
      if (const std::optional<Candidate> candidate = derived->candidate(offered.candidate))
        list.candidates.push_back({*candidate, offered.notes});
  }
  const auto add_offers = [&](const std::vector<GpuOffer>& offers, const char* notes) {
    for (const GpuOffer& offer : offers) list.candidates.push_back({offer.candidate, notes});
  };
  std::vector<GpuOffer> older = LegacyOffers(nullptr, request.workload, request.contract);
  if (request.tier == CandidateTier::kHeuristic && !older.empty()) older.resize(1);
  add_offers(older, "taken-or-refused-on-the-device");
  add_offers(KernelOffers(BenchmarkedRegion(request.workload)), "");
  const Region region = cpu::RegionOf(derived ? derived->product : request.workload);
  const auto is_gemm = [&](bool sparse) {
    return std::ranges::any_of(GemmFormsOf(region, request.contract, request.tier, sparse),
                               [&](const GemmForm& form) { return GemmOf(region, request.contract, form).ok(); });
  };
  if (is_gemm(false)) add("cuBLASLt and cuBLAS may have the product too: they tell it on its device alone");
  if (is_gemm(true))
    add("cuSPARSELt may have the product with its sparse weights too: it tells it on its device alone");
  return list;
}

// Checks the options before anything is loaded.
Result<Request> ReadRequest(const RawRequest& raw) {
  Request request;
  Result<Workload> workload = ParseWorkload(raw.layer);
  if (!workload.ok()) return Within("--layer", workload.error());
  request.workload = *std::move(workload);
  request.contract = NativeContract(request.workload);
  if (!raw.contract.empty()) {
    const std::optional<NumericContract> found = FindContract(raw.contract);
    if (!found) return Error{"--contract: " + Quoted(raw.contract) + " is no numeric contract"};
    request.contract = *found;
  }
  const std::optional<CandidateTier> tier = FindTier(raw.tier);
  if (!tier) return Error{"--tier: " + Quoted(raw.tier) + " is none of heuristic, engine, exhaustive"};
  request.tier = *tier;
  request.properties = raw.properties;
  return request;
}

int Fail(const std::string& message, int code) {
  std::fprintf(stderr, "infimum-candidates-cuda: error: %s\n", message.c_str());
  return code;
}

}  // namespace
}  // namespace infimum::cuda

int main(int argc, char** argv) {
  using namespace infimum::cuda;
  RawRequest raw;
  CLI::App app{"Lists the algorithms that a workload has on a GPU, which need not be here"};
  app.add_option("--layer", raw.layer, "the workload's text")->required();
  app.add_option("--device-properties", raw.properties, "JSON file of the GPU's properties")->required();
  app.add_option("--contract", raw.contract, "numeric contract; default: the workload's own");
  app.add_option("--tier", raw.tier, "heuristic, engine or exhaustive")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return Fail(error.what(), 2);
  }
  const infimum::Result<Request> request = ReadRequest(raw);
  if (!request.ok()) return Fail(request.error().message, 2);
  const infimum::Result<infimum::CandidateList> list = Answer(*request);
  if (!list.ok()) return Fail(list.error().message, 1);
  std::puts(infimum::FormatCandidateList(*list).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
