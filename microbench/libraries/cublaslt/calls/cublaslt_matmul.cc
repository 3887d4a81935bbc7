#include "cublaslt_matmul.h"

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace cublaslt {
namespace {

template <class Value>
struct Word {
  const char* name;
  Value value;
};

constexpr Word<cudaDataType_t> kTypes[] = {
    {"f64", CUDA_R_64F},        {"f32", CUDA_R_32F},         {"f16", CUDA_R_16F}, {"bf16", CUDA_R_16BF},
    {"f8e4m3", CUDA_R_8F_E4M3}, {"f8e5m2", CUDA_R_8F_E5M2},  {"s8", CUDA_R_8I},   {"s32", CUDA_R_32I},
#if CUBLAS_VERSION >= 120800
    {"f4e2m1", CUDA_R_4F_E2M1}, {"f8e8m0", CUDA_R_8F_UE8M0},
#endif
};

constexpr Word<cublasComputeType_t> kSums[] = {
    {"f32", CUBLAS_COMPUTE_32F},
    {"tf32", CUBLAS_COMPUTE_32F_FAST_TF32},
    {"f16", CUBLAS_COMPUTE_16F},
    {"f64", CUBLAS_COMPUTE_64F},
    {"s32", CUBLAS_COMPUTE_32I},
    {"fast", CUBLAS_COMPUTE_32F},
#if CUBLAS_VERSION >= 120900
    {"bf16x9", CUBLAS_COMPUTE_32F_EMULATED_16BFX9},
#endif
};

// Scales of operands; the oldest library here knows none of blocks.
#if CUBLAS_VERSION >= 120900
constexpr Word<cublasLtMatmulMatrixScale_t> kScales[] = {
    {"vec16_ue4m3", CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3},
    {"vec32_ue8m0", CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0},
    {"outer_vec_32f", CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F},
    {"vec128_32f", CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F},
    {"blk128x128_32f", CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F},
};
#endif

// Without a bias and with one.
constexpr Word<std::pair<cublasLtEpilogue_t, cublasLtEpilogue_t>> kEpilogues[] = {
    {"", {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS}},
    {"relu", {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS}},
    {"gelu_tanh", {CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}}};

template <class Value, std::size_t kCount>
Value Find(const Word<Value> (&words)[kCount], const std::string& name, const char* what) {
  for (const Word<Value>& word : words)
    if (word.name == name) return word.value;
  throw std::runtime_error(std::string("unsupported: cuBLASLt has no ") + what + " '" + name + "'");
}

// 8-bit floats are added to in a wider type.
cudaDataType_t AddendTypeOf(const Gemm& gemm) {
  const cudaDataType_t type = TypeOf(gemm.result);
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2 ? CUDA_R_16BF : type;
}

// In a handler: a library that is broken is no library that refuses.
void RethrowFault(const std::runtime_error& error) {
  if (std::strncmp(error.what(), "unsupported: ", 13) != 0) throw;
}

}  // namespace

cudaDataType_t TypeOf(const std::string& name) { return Find(kTypes, name, "type"); }

cublasComputeType_t ComputeTypeOf(const Gemm& gemm) {
  // Elsewhere the library may answer with its other algorithms, which are candidates already.
  constexpr int kBlackwell = 10;
  int device = 0, major = 0;
  if (gemm.sums == "bf16x9" &&
      (cudaGetDevice(&device) != cudaSuccess ||
       cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess || major < kBlackwell))
    throw std::runtime_error("unsupported: f32 as three bf16 is for devices of compute capability 10.0 and later");
  return Find(kSums, gemm.sums, "sums in");
}

cudaDataType_t ScaleTypeOf(const Gemm& gemm) {
  if (gemm.sums == "s32" && gemm.result != "s32") return CUDA_R_32F;
  return gemm.sums == "tf32" || gemm.sums == "fast" || gemm.sums == "bf16x9" ? CUDA_R_32F : TypeOf(gemm.sums);
}

Factor::Factor(double value, cudaDataType_t type) {
  const auto store = [&](auto number) { std::memcpy(bytes, &number, sizeof number); };
  switch (type) {
    case CUDA_R_64F:
      store(value);
      break;
    case CUDA_R_16F:
      store(__float2half(static_cast<float>(value)));
      break;
    case CUDA_R_32I:
      store(static_cast<std::int32_t>(value));
      break;
    default:
      store(static_cast<float>(value));
  }
}

std::string Version(const Functions& lt) {
  const std::size_t number = lt.GetVersion();  // 130100: 13.1.0
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
}

void Check(const Functions& lt, cublasStatus_t status, const char* step) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const bool is_refusal = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
                          status == CUBLAS_STATUS_ARCH_MISMATCH;
  throw std::runtime_error(std::string(is_refusal ? "unsupported: cuBLASLt refuses it, " : "cuBLASLt: ") + step + ": " +
                           lt.GetStatusString(status));
}

Matmul::Matmul(const Functions& lt, cublasLtHandle_t handle, Gemm gemm, std::size_t most_workspace)
    : lt_(lt),
      handle_(handle),
      gemm_(std::move(gemm)),
      most_workspace_(most_workspace),
      compute_type_(ComputeTypeOf(gemm_)),
      scale_type_(ScaleTypeOf(gemm_)),
      a_type_(TypeOf(gemm_.a)),
      b_type_(TypeOf(gemm_.b)),
      addend_type_(AddendTypeOf(gemm_)),
      result_type_(TypeOf(gemm_.result)),
      alpha_(gemm_.factor, scale_type_),
      beta_(gemm_.addend ? 1 : 0, scale_type_) {
  try {
    Build();
  } catch (...) {
    Free();
    throw;
  }
}

Matmul::~Matmul() { Free(); }

void Matmul::Free() {
  for (const cublasLtMatrixLayout_t layout : {a_, b_, addend_, result_})
    if (layout != nullptr) (void)lt_.MatrixLayoutDestroy(layout);
  if (description_ != nullptr) (void)lt_.MatmulDescDestroy(description_);
}

void Matmul::Build() {
  Check(lt_, lt_.MatmulDescCreate(&description_, compute_type_, scale_type_), "describing it");
  Describe(CUBLASLT_MATMUL_DESC_TRANSA, gemm_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (gemm_.sums == "fast") Describe(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  const auto& [alone, with_bias] = Find(kEpilogues, gemm_.activation, "epilogue");
  Describe(CUBLASLT_MATMUL_DESC_EPILOGUE, gemm_.bias.empty() ? alone : with_bias);
  if (!gemm_.bias.empty()) Describe(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, TypeOf(gemm_.bias));
  if (!gemm_.a_scales.empty()) {
#if CUBLAS_VERSION >= 120900
    // Their first matrix is b. A pointer that is null means no scales, also where the library is only asked.
    alignas(16) static const unsigned char kSomewhere[16] = {};
    for (const auto pointer : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER})
      Describe(pointer, static_cast<const void*>(kSomewhere));
    Describe(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, Find(kScales, gemm_.b_scales, "scales"));
    Describe(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, Find(kScales, gemm_.a_scales, "scales"));
#else
    throw std::runtime_error("unsupported: scales of blocks need cuBLASLt 12.9");
#endif
  }
  const std::int64_t m = gemm_.columns, n = gemm_.rows, k = gemm_.depth;
  b_ = gemm_.b_transposed ? MakeLayout(b_type_, k, m, gemm_.b_stride) : MakeLayout(b_type_, m, k, gemm_.b_stride);
  a_ = MakeLayout(a_type_, k, n, gemm_.a_stride);
  addend_ = MakeLayout(addend_type_, m, n, m * n);
  result_ = MakeLayout(result_type_, m, n, m * n);
}

template <class Value>
void Matmul::Describe(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  Check(lt_, lt_.MatmulDescSetAttribute(description_, attribute, &value, sizeof value), "describing it");
}

cublasLtMatrixLayout_t Matmul::MakeLayout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                                          std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  Check(lt_,
        lt_.MatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                               rows),
        "describing it");
  if (gemm_.batch == 1) return layout;
  const auto count = static_cast<std::int32_t>(gemm_.batch);
  cublasStatus_t status =
      lt_.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt_.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  if (status != CUBLAS_STATUS_SUCCESS) (void)lt_.MatrixLayoutDestroy(layout);
  Check(lt_, status, "describing it");
  return layout;
}

void Matmul::AskForSuggestions() {
  if (!suggestions_.empty()) return;
  cublasLtMatmulPreference_t preference = nullptr;
  Check(lt_, lt_.MatmulPreferenceCreate(&preference), "asking for its choice");
  std::vector<cublasLtMatmulHeuristicResult_t> results(64);
  int count = 0;
  cublasStatus_t status = lt_.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &most_workspace_, sizeof most_workspace_);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = lt_.MatmulAlgoGetHeuristic(handle_, description_, b_, a_, addend_, result_, preference,
                                        static_cast<int>(results.size()), results.data(), &count);
  }
  (void)lt_.MatmulPreferenceDestroy(preference);
  Check(lt_, status, "asking for its choice");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (results[i].state == CUBLAS_STATUS_SUCCESS) suggestions_.push_back(results[i]);
}

std::vector<Algorithm> Matmul::Suggestions() {
  AskForSuggestions();
  std::vector<Algorithm> algorithms;
  for (const cublasLtMatmulHeuristicResult_t& suggestion : suggestions_) algorithms.push_back(Read(suggestion.algo));
  return algorithms;
}

std::vector<std::int32_t> Matmul::Ids() {
  std::array<int, 512> ids{};
  int count = 0;
  Check(lt_,
        lt_.MatmulAlgoGetIds(handle_, compute_type_, scale_type_, b_type_, a_type_, addend_type_, result_type_,
                             static_cast<int>(ids.size()), ids.data(), &count),
        "asking for its algorithms");
  return {ids.begin(), ids.begin() + count};
}

std::optional<Capabilities> Matmul::CapabilitiesOf(std::int32_t id) {
  cublasLtMatmulAlgo_t algorithm{};
  try {
    algorithm = Initialize(id);
  } catch (const std::runtime_error& error) {
    RethrowFault(error);
    return std::nullopt;
  }
  const auto number = [&](cublasLtMatmulAlgoCapAttributes_t attribute) {
    std::int32_t value = 0;
    std::size_t written = 0;
    (void)lt_.MatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return value;
  };
  const auto list = [&](cublasLtMatmulAlgoCapAttributes_t attribute) -> std::vector<std::int32_t> {
    std::array<std::uint32_t, 1024> values{};
    std::size_t written = 0;
    if (lt_.MatmulAlgoCapGetAttribute(&algorithm, attribute, values.data(), sizeof values, &written) !=
            CUBLAS_STATUS_SUCCESS ||
        written < sizeof values[0])
      return {0};
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(written / sizeof values[0])};
  };
  Capabilities capabilities;
  capabilities.tiles = list(CUBLASLT_ALGO_CAP_TILE_IDS);
  capabilities.stages = list(CUBLASLT_ALGO_CAP_STAGES_IDS);
  capabilities.splits_k = number(CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
  const std::int32_t schemes = number(CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
  for (std::int32_t scheme = 1; scheme > 0 && scheme <= schemes; scheme <<= 1)
    if ((schemes & scheme) != 0) capabilities.reductions.push_back(scheme);
  capabilities.most_swizzles = number(CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT);
  capabilities.most_custom = number(CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
  return capabilities;
}

bool Matmul::Accepts(const Algorithm& algorithm) {
  try {
    (void)Configure(algorithm);
    return true;
  } catch (const std::runtime_error& error) {
    RethrowFault(error);
    return false;
  }
}

void Matmul::Choose(const Algorithm& algorithm) {
  AskForSuggestions();
  for (const cublasLtMatmulHeuristicResult_t& suggestion : suggestions_) {
    if (Read(suggestion.algo) != algorithm) continue;
    choice_ = suggestion;
    return;
  }
  choice_ = Configure(algorithm);
}

void Matmul::Run(const Tensors& tensors, void* workspace, cudaStream_t stream) {
  if (!gemm_.bias.empty()) Describe(CUBLASLT_MATMUL_DESC_BIAS_POINTER, tensors.bias);
  if (!gemm_.a_scales.empty()) {
    Describe(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, tensors.b_scales);
    Describe(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, tensors.a_scales);
  }
  // Where nothing is added, beta is 0 and the addend is not read.
  const void* const addend = gemm_.addend ? tensors.addend : tensors.result;
  Check(lt_,
        lt_.Matmul(handle_, description_, alpha_.bytes, tensors.b, b_, tensors.a, a_, beta_.bytes, addend, addend_,
                   tensors.result, result_, &choice_.algo, workspace, choice_.workspaceSize, stream),
        "running");
}

cublasLtMatmulAlgo_t Matmul::Initialize(std::int32_t id) {
  cublasLtMatmulAlgo_t algorithm{};
  Check(lt_,
        lt_.MatmulAlgoInit(handle_, compute_type_, scale_type_, b_type_, a_type_, addend_type_, result_type_, id,
                           &algorithm),
        "choosing the algorithm");
  return algorithm;
}

cublasLtMatmulHeuristicResult_t Matmul::Configure(const Algorithm& settings) {
  cublasLtMatmulAlgo_t algorithm = Initialize(settings.id);
  const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
    Check(lt_, lt_.MatmulAlgoConfigSetAttribute(&algorithm, attribute, &value, sizeof value), "choosing settings");
  };
  set(CUBLASLT_ALGO_CONFIG_TILE_ID, static_cast<std::uint32_t>(settings.tile));
  set(CUBLASLT_ALGO_CONFIG_STAGES_ID, static_cast<std::uint32_t>(settings.stages));
  set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, settings.split_k);
  set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, static_cast<std::uint32_t>(settings.reduction));
  set(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, static_cast<std::uint32_t>(settings.swizzle));
  set(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, static_cast<std::uint32_t>(settings.custom));
  set(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, static_cast<std::uint16_t>(settings.inner_shape));
  set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, static_cast<std::uint16_t>(settings.cluster_shape));
  cublasLtMatmulHeuristicResult_t result{};
  Check(lt_, lt_.MatmulAlgoCheck(handle_, description_, b_, a_, addend_, result_, &algorithm, &result),
        "checking the settings");
  if (result.workspaceSize > most_workspace_)
    throw std::runtime_error("unsupported: it needs more scratch memory than is allowed");
  result.algo = algorithm;
  return result;
}

Algorithm Matmul::Read(const cublasLtMatmulAlgo_t& algorithm) const {
  const auto get = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
    std::size_t written = 0;
    (void)lt_.MatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return static_cast<std::int32_t>(value);
  };
  Algorithm read;
  read.id = get(CUBLASLT_ALGO_CONFIG_ID, std::int32_t{0});
  read.tile = get(CUBLASLT_ALGO_CONFIG_TILE_ID, std::uint32_t{0});
  read.stages = get(CUBLASLT_ALGO_CONFIG_STAGES_ID, std::uint32_t{0});
  read.split_k = get(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::int32_t{1});
  read.reduction = get(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, std::uint32_t{0});
  read.swizzle = get(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, std::uint32_t{0});
  read.custom = get(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, std::uint32_t{0});
  read.inner_shape = get(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, std::uint16_t{0});
  read.cluster_shape = get(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, std::uint16_t{0});
  return read;
}

}  // namespace cublaslt
