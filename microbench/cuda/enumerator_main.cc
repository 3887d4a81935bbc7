// infimum-candidates-cuda: which algorithms cuDNN has for a workload on a GPU that need not be here.
//
//   infimum-candidates-cuda --device-properties h200.json --layer 'matmul dtype=f16:f16:f16 a=1x128x768 ...'
//
// One line of JSON (candidate_list.h). A program of its own, since it loads the stub of libcuda where there is no
// driver: neither the command line nor a runner may ever have that. `infimum candidates` runs it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "infimum/base/text.h"
#include "microbench/cuda/cudnn_candidates.h"
#include "microbench/cuda/cudnn_library.h"

namespace infimum::cuda {
namespace {

struct Request {
  std::string layer;
  std::string properties;
  std::string contract;
  std::string tier = "engine";
};

Result<CandidateList> Answer(const Request& request) {
  Result<Workload> workload = ParseWorkload(request.layer);
  if (!workload.ok()) return Within("--layer", workload.error());
  NumericContract contract = NativeContract(*workload);
  if (!request.contract.empty()) {
    const std::optional<NumericContract> found = FindContract(request.contract);
    if (!found) return Error{"--contract: " + Quoted(request.contract) + " is no numeric contract"};
    contract = *found;
  }
  const std::optional<CandidateTier> tier = FindTier(request.tier);
  if (!tier) return Error{"--tier: " + Quoted(request.tier) + " is none of heuristic, engine, exhaustive"};
  std::ifstream file(request.properties, std::ios::binary);
  if (!file) return Error{request.properties + ": cannot be read"};
  const std::string text(std::istreambuf_iterator<char>(file), {});
  INFIMUM_ASSIGN_OR_RETURN(const GpuProperties gpu, GpuProperties::Parse(text, request.properties));
  INFIMUM_ASSIGN_OR_RETURN(const CudnnLibrary cudnn, CudnnLibrary::Load());
  const bool has_driver = LoadDriverOrStub();
  INFIMUM_ASSIGN_OR_RETURN(CandidateList list, CudnnCandidates(*workload, contract, *tier, CudnnTarget::Of(gpu)));
  list.library = "cudnn";
  list.version = cudnn.version();
  if (!has_driver)
    list.refusal +=
        std::string(list.refusal.empty() ? "" : "; ") +
        "engines that are compiled at run time are left out: there is neither a driver nor the CUDA toolkit's stub";
  return list;
}

}  // namespace
}  // namespace infimum::cuda

int main(int argc, char** argv) {
  infimum::cuda::Request request;
  CLI::App app{"Lists the algorithms that cuDNN has for a workload on a GPU, which need not be here"};
  app.add_option("--layer", request.layer, "the workload's text")->required();
  app.add_option("--device-properties", request.properties, "JSON file of the GPU's properties")->required();
  app.add_option("--contract", request.contract, "numeric contract; default: the workload's own");
  app.add_option("--tier", request.tier, "heuristic, engine or exhaustive")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const infimum::Result<infimum::CandidateList> list = infimum::cuda::Answer(request);
  if (!list.ok()) {
    std::fprintf(stderr, "infimum-candidates-cuda: error: %s\n", list.error().message.c_str());
    return 1;
  }
  std::puts(infimum::FormatCandidateList(*list).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
