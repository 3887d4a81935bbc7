#include "cusparselt_matmul.h"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <utility>

#if CUSPARSELT_VERSION < 800
#error "cuSPARSELt 0.8 or later is needed"
#endif

namespace cusparselt {
namespace {

using cublaslt::Algorithm;

// What is said of memory that is not there yet.
alignas(16) const unsigned char kSomewhere[16] = {};

constexpr std::uint32_t kAlignment = 16;  // bytes: that of every tensor here is more
constexpr std::int32_t kSegments = -1;    // in place of a split: the library's own segments of the depth
constexpr int kHopper = 9;                // which has them; on later devices the newer modes are tried too

cusparseComputeType SumsOf(const cublaslt::Gemm& gemm) {
  if (gemm.sums == "s32") return CUSPARSE_COMPUTE_32I;
  if (gemm.sums == "f32") return CUSPARSE_COMPUTE_32F;
  throw std::runtime_error("unsupported: cuSPARSELt has no sums in '" + gemm.sums + "' here");
}

// Results of 8-bit floats are added to in a wider type.
std::string AddendTypeOf(const cublaslt::Gemm& gemm) {
  return gemm.result == "f8e4m3" || gemm.result == "f8e5m2" ? "bf16" : gemm.result;
}

}  // namespace

std::string Version(const Functions& lt) {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = 0;
    (void)lt.GetProperty(part, &value);
    text += (text.empty() ? "" : ".") + std::to_string(value);
  }
  return text;
}

void Check(const Functions& lt, cusparseStatus_t status, const char* step) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const bool is_refusal = status == CUSPARSE_STATUS_NOT_SUPPORTED || status == CUSPARSE_STATUS_INVALID_VALUE ||
                          status == CUSPARSE_STATUS_ARCH_MISMATCH;
  throw std::runtime_error(std::string(is_refusal ? "unsupported: cuSPARSELt refuses it, " : "cuSPARSELt: ") + step +
                           ": " + lt.GetErrorString(status));
}

int DeviceMajor() {
  int device = 0, major = 0;
  const bool is_known = cudaGetDevice(&device) == cudaSuccess &&
                        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess;
  return is_known ? major : 0;
}

Matmul::Matmul(const Functions& lt, const cusparseLtHandle_t& handle, cublaslt::Gemm gemm, std::size_t most_workspace,
               int device)
    : lt_(lt), handle_(handle), gemm_(std::move(gemm)), most_workspace_(most_workspace), device_(device) {
  try {
    Build();
  } catch (...) {
    Free();
    throw;
  }
}

Matmul::~Matmul() { Free(); }

void Matmul::Free() {
  FreePlan();
  if (has_selection_) (void)lt_.MatmulAlgSelectionDestroy(&selection_);
  for (int i = 0; i < described_; ++i) (void)lt_.MatDescriptorDestroy(&matrices_[i]);
}

void Matmul::FreePlan() {
  if (std::exchange(has_plan_, false)) (void)lt_.MatmulPlanDestroy(&plan_);
}

cusparseLtMatDescriptor_t* Matmul::Add(std::int64_t rows, std::int64_t columns, const std::string& type,
                                       bool structured) {
  cusparseLtMatDescriptor_t* const matrix = &matrices_[described_];
  const cudaDataType_t of = cublaslt::TypeOf(type);
  Check(lt_,
        structured ? lt_.StructuredDescriptorInit(&handle_, matrix, rows, columns, rows, kAlignment, of,
                                                  CUSPARSE_ORDER_COL, CUSPARSELT_SPARSITY_50_PERCENT)
                   : lt_.DenseDescriptorInit(&handle_, matrix, rows, columns, rows, kAlignment, of, CUSPARSE_ORDER_COL),
        "describing it");
  ++described_;
  return matrix;
}

template <class Value>
void Matmul::Describe(cusparseLtMatmulDescAttribute_t attribute, const Value& value) {
  Check(lt_, lt_.MatmulDescSetAttribute(&handle_, &description_, attribute, &value, sizeof value), "describing it");
}

void Matmul::Build() {
  const std::int64_t m = gemm_.columns, n = gemm_.rows, k = gemm_.depth;
  const bool turned = gemm_.b_transposed;
  const auto* weights = Add(turned ? k : m, turned ? m : k, gemm_.b, true);
  const auto* input = Add(k, n, gemm_.a, false);
  const auto* addend = Add(m, n, AddendTypeOf(gemm_), false);
  const auto* result = Add(m, n, gemm_.result, false);
  Check(lt_,
        lt_.MatmulDescriptorInit(&handle_, &description_,
                                 turned ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE,
                                 CUSPARSE_OPERATION_NON_TRANSPOSE, weights, input, addend, result, SumsOf(gemm_)),
        "describing it");
  if (gemm_.activation == "relu") Describe(CUSPARSELT_MATMUL_ACTIVATION_RELU, int{1});
  if (gemm_.activation == "gelu_tanh") Describe(CUSPARSELT_MATMUL_ACTIVATION_GELU, int{1});
  if (!gemm_.bias.empty()) {
    // No attribute says its type.
    if (gemm_.bias != AddendTypeOf(gemm_))
      throw std::runtime_error("unsupported: cuSPARSELt's bias is of the type that is added");
    Describe(CUSPARSELT_MATMUL_BIAS_POINTER, static_cast<const void*>(kSomewhere));
  }
  AskForSelection();
  preferred_.id = Setting(CUSPARSELT_MATMUL_ALG_CONFIG_ID);
  preferred_.split_k = Setting(CUSPARSELT_MATMUL_SPLIT_K);
}

// As the library would choose; what was chosen before is forgotten.
void Matmul::AskForSelection() {
  FreePlan();
  if (std::exchange(has_selection_, false)) (void)lt_.MatmulAlgSelectionDestroy(&selection_);
  Check(lt_, lt_.MatmulAlgSelectionInit(&handle_, &selection_, &description_, CUSPARSELT_MATMUL_ALG_DEFAULT),
        "asking for its choice");
  has_selection_ = true;
}

std::int32_t Matmul::Setting(cusparseLtMatmulAlgAttribute_t attribute) {
  std::int32_t value = 0;
  Check(lt_, lt_.MatmulAlgGetAttribute(&handle_, &selection_, attribute, &value, sizeof value),
        "asking for its algorithms");
  return value;
}

std::vector<Algorithm> Matmul::Suggestions() {
  std::vector<Algorithm> suggestions{preferred_};
  const auto add = [&](std::int32_t split, std::int32_t mode) {
    Algorithm other = preferred_;
    other.split_k = split;
    other.reduction = mode;
    if (other != preferred_) suggestions.push_back(other);
  };
  if (device_ == kHopper)
    for (const std::int32_t split : {1, kSegments}) add(split, 0);
  if (device_ > kHopper)
    for (const std::int32_t mode : {CUSPARSELT_DATAPARALLEL, CUSPARSELT_STREAMK}) add(kSegments, mode);
  std::vector<Algorithm> accepted;
  for (const Algorithm& suggestion : suggestions)
    if (Accepts(suggestion)) accepted.push_back(suggestion);
  return accepted;
}

std::vector<std::int32_t> Matmul::Ids() {
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < Setting(CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID); ++id) ids.push_back(id);
  return ids;
}

std::optional<cublaslt::Capabilities> Matmul::CapabilitiesOf(std::int32_t) {
  cublaslt::Capabilities capabilities;
  capabilities.splits_k = true;
  capabilities.unsplit = preferred_.split_k;
  capabilities.reductions = {CUSPARSELT_SPLIT_K_MODE_ONE_KERNEL, CUSPARSELT_SPLIT_K_MODE_TWO_KERNELS,
                             CUSPARSELT_SPLITK};
  return capabilities;
}

bool Matmul::Accepts(const Algorithm& algorithm) {
  try {
    Choose(algorithm);
    return true;
  } catch (const std::runtime_error& error) {
    // A library that is broken is no library that refuses.
    if (std::string(error.what()).rfind("unsupported: ", 0) != 0) throw;
    return false;
  }
}

void Matmul::Choose(const Algorithm& algorithm) {
  const auto set = [&](cusparseLtMatmulAlgAttribute_t attribute, const std::int32_t& value) {
    Check(lt_, lt_.MatmulAlgSetAttribute(&handle_, &selection_, attribute, &value, sizeof value), "choosing settings");
  };
  AskForSelection();
  set(CUSPARSELT_MATMUL_ALG_CONFIG_ID, algorithm.id);
  if (algorithm.split_k != preferred_.split_k) set(CUSPARSELT_MATMUL_SPLIT_K, algorithm.split_k);
  if (algorithm.reduction > 0) set(CUSPARSELT_MATMUL_SPLIT_K_MODE, algorithm.reduction);
  if (algorithm.custom > 0) set(CUSPARSELT_MATMUL_SPLIT_K_BUFFERS, algorithm.custom);
  MakePlan(kSomewhere);
  Check(lt_, lt_.MatmulGetWorkspace(&handle_, &plan_, &workspace_), "asking for its scratch memory");
  if (workspace_ > most_workspace_)
    throw std::runtime_error("unsupported: it needs more scratch memory than is allowed");
  Check(lt_, lt_.SpMMACompressedSize(&handle_, &plan_, &compressed_, &buffer_), "asking for compressed weights");
}

void Matmul::MakePlan(const void* bias) {
  FreePlan();
  if (!gemm_.bias.empty()) Describe(CUSPARSELT_MATMUL_BIAS_POINTER, bias);
  Check(lt_, lt_.MatmulPlanInit(&handle_, &plan_, &description_, &selection_), "checking the settings");
  has_plan_ = true;
}

void Matmul::Prune(const void* dense, void* pruned, cudaStream_t stream) {
  Check(lt_, lt_.SpMMAPrune(&handle_, &description_, dense, pruned, CUSPARSELT_PRUNE_SPMMA_STRIP, stream), "pruning");
}

void Matmul::Compress(const cublaslt::Matmul::Tensors& tensors, void* compressed, void* buffer, cudaStream_t stream) {
  if (!gemm_.bias.empty()) MakePlan(tensors.bias);
  Check(lt_, lt_.SpMMACompress(&handle_, &plan_, tensors.b, compressed, buffer, stream), "compressing");
}

void Matmul::Run(const cublaslt::Matmul::Tensors& tensors, void* workspace, cudaStream_t stream) {
  const auto alpha = static_cast<float>(gemm_.factor), beta = gemm_.addend ? 1.0F : 0.0F;
  // Where nothing is added, beta is 0 and the addend is not read.
  const void* const addend = gemm_.addend ? tensors.addend : tensors.result;
  Check(
      lt_,
      lt_.Matmul(&handle_, &plan_, &alpha, tensors.b, tensors.a, &beta, addend, tensors.result, workspace, &stream, 1),
      "running");
}

}  // namespace cusparselt
