#include "microbench/libraries/cublaslt/gemm_program.h"

#include <utility>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "src/core/layer/family.h"
#include "src/core/measurement/cudnn_form.h"

namespace infimum::cuda {
namespace {

constexpr std::size_t kSecondOperand = 1;  // of RegionGemm's tensors

class GemmProgram : public GpuProgram {
 public:
  // The library lives as long as its call.
  GemmProgram(std::shared_ptr<GemmLibrary> library, std::vector<GpuBinding> bindings, std::unique_ptr<GemmCall> call,
              Gpu& gpu)
      : GpuProgram(std::move(bindings)), library_(std::move(library)), call_(std::move(call)), gpu_(gpu) {}

  Bytes workspace() const override { return call_->workspace(); }
  // The compressed operand lies where the whole one did, so that copies of constants are copies of it.
  Status Prepare() override {
    if (call_->compressed().value == 0) return {};
    INFIMUM_ASSIGN_OR_RETURN(const DeviceMemory memory, DeviceMemory::Allocate(gpu_, call_->compression_memory()));
    INFIMUM_RETURN_IF_ERROR(call_->Compress(addresses_, memory.data(), gpu_.stream()));
    INFIMUM_RETURN_IF_ERROR(gpu_.Wait());
    std::vector<std::byte> compressed(static_cast<std::size_t>(call_->compressed().value));
    INFIMUM_RETURN_IF_ERROR(gpu_.Download(compressed.data(), memory.data(), call_->compressed()));
    return gpu_.Upload(addresses_[kSecondOperand], compressed.data(), call_->compressed());
  }
  Status Enqueue(Gpu::Stream stream) override { return call_->Enqueue(addresses_, workspace_, stream); }

 private:
  std::shared_ptr<GemmLibrary> library_;
  std::unique_ptr<GemmCall> call_;
  Gpu& gpu_;
};

// Of a matrix; where its columns lie together they are filled up to a multiple of so many elements.
TensorPlacement PlacementOf(const Shape& shape, bool transposed, std::int64_t multiple = 1) {
  TensorPlacement placement = TensorPlacement::RowMajor(shape);
  if (!transposed) return placement;
  const std::size_t rank = shape.rank();
  std::int64_t& rows = placement.room.dims[rank - 2];
  rows = CeilDivide(rows, multiple) * multiple;
  placement.strides[rank - 1] = rows;
  placement.strides[rank - 2] = 1;
  return placement;
}

// Scales as cuBLAS's documentation has their layouts.
TensorPlacement PlacementOf(const GemmTensor& tensor) {
  switch (tensor.scales) {
    case GemmScales::kVec16Ue4m3:
    case GemmScales::kVec32Ue8m0:
      return TensorPlacement::InScaleTiles(tensor.shape, tensor.of_columns);
    case GemmScales::kVec12832f:
      return PlacementOf(tensor.shape, !tensor.of_columns);
    case GemmScales::kBlk128x12832f:
      return PlacementOf(tensor.shape, tensor.of_columns, 4);
    default:
      return PlacementOf(tensor.shape, tensor.transposed);
  }
}

GpuOffer OfferOf(const std::shared_ptr<GemmLibrary>& library, const Workload& workload, const BoundGemm& gemm,
                 const cublaslt::Algorithm& algorithm, const GemmForm& form) {
  // Layouts are those of the operands as they are named: how a constant is stored is part of the algorithm's name.
  const Candidate candidate = {std::string(library->name()), library->NameOf(algorithm) + Suffix(form),
                               InputLayouts(workload, {}), OutputLayout(workload, {}), false};
  const auto make = [library, gemm, algorithm](Gpu& gpu) -> Result<std::unique_ptr<GpuProgram>> {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GemmCall> call, library->Make(gemm.problem, algorithm));
    std::vector<GpuBinding> bindings = gemm.bindings;
    GpuBinding& second = bindings[kSecondOperand];
    second.rewritten = call->compressed();
    if (second.rewritten > second.placement.bytes(second.type))
      return Error{"unsupported: the compressed operand is larger than the whole one"};
    return std::unique_ptr<GpuProgram>(
        std::make_unique<GemmProgram>(library, std::move(bindings), std::move(call), gpu));
  };
  return {candidate, make};
}

}  // namespace

Result<std::vector<cublaslt::Algorithm>> GemmAlgorithms(GemmLibrary& library, const GemmProblem& problem,
                                                        CandidateTier tier, std::size_t most) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<cublaslt::Answers> answers, library.Ask(problem));
  return Caught([&] {
    if (tier == CandidateTier::kHeuristic) return cublaslt::Heuristic(*answers);
    if (tier == CandidateTier::kEngine) return cublaslt::BestOfEach(*answers, problem.depth, most);
    return cublaslt::Exhaustive(*answers, problem.depth, most);
  });
}

Result<BoundGemm> BindGemm(const cpu::ValuedRegion& workload, NumericContract contract, const GemmForm& form) {
  INFIMUM_ASSIGN_OR_RETURN(const RegionGemm gemm, GemmOf(workload.region, contract, form));
  BoundGemm bound{gemm.problem, {}};
  if (gemm.problem.is_scaled()) {
    const OperandTypes types = TypesOf(workload.region.members.front().config);
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<double> factors,
                             FactorsOf(types, gemm.problem.depth, cpu::ValuesOfMember(workload.values, 0)));
    if (factors.size() > 1) return Error{"unsupported: a scale for each channel"};
    bound.problem.factor = factors.front();
  }
  for (const GemmTensor& tensor : gemm.tensors)
    bound.bindings.push_back({tensor.tensor, 0, tensor.type, PlacementOf(tensor)});
  return bound;
}

std::vector<GpuOffer> GemmOffers(const std::shared_ptr<GemmLibrary>& library, const Workload& workload,
                                 NumericContract contract, CandidateTier tier) {
  const cpu::ValuedRegion problem = BenchmarkedRegion(workload);
  std::vector<GpuOffer> offers;
  std::optional<Error> fault;
  for (const GemmForm& form : GemmFormsOf(problem.region, contract, tier, library->is_sparse())) {
    const Result<BoundGemm> gemm = BindGemm(problem, contract, form);
    if (!gemm.ok()) continue;
    const Result<std::vector<cublaslt::Algorithm>> algorithms =
        GemmAlgorithms(*library, gemm->problem, tier, kMostGemmsOfAForm);
    if (!algorithms.ok()) {
      if (!algorithms.error().message.starts_with("unsupported: ")) fault = algorithms.error();
      continue;
    }
    for (const cublaslt::Algorithm& algorithm : *algorithms)
      offers.push_back(OfferOf(library, workload, *gemm, algorithm, form));
  }
  if (!offers.empty()) offers.front().candidate.library_choice = true;
  if (fault) offers.push_back(FailedOffer(library->name(), *fault));
  return offers;
}

std::optional<GpuOffer> FindGemmOffer(const std::shared_ptr<GemmLibrary>& library, const Workload& workload,
                                      NumericContract contract, const Candidate& candidate,
                                      const cpu::RegionValues& values) {
  if (candidate.library != library->name()) return std::nullopt;
  const std::size_t end = std::min(candidate.algorithm.find('/'), candidate.algorithm.size());
  const std::optional<cublaslt::Algorithm> algorithm = library->Named(candidate.algorithm.substr(0, end));
  if (!algorithm) return std::nullopt;
  const cpu::ValuedRegion problem =
      values.empty() ? BenchmarkedRegion(workload) : cpu::ValuedRegion{cpu::RegionOf(workload), values};
  for (const GemmForm& form : GemmFormsOf(problem.region, contract, CandidateTier::kExhaustive, library->is_sparse())) {
    if (Suffix(form) != candidate.algorithm.substr(end)) continue;
    const Result<BoundGemm> gemm = BindGemm(problem, contract, form);
    if (gemm.ok()) return OfferOf(library, workload, *gemm, *algorithm, form);
  }
  return std::nullopt;
}

}  // namespace infimum::cuda
