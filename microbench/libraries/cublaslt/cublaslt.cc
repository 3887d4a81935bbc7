#include "microbench/libraries/cublaslt/cublaslt.h"

#include <cublasLt.h>

#include <array>
#include <utility>

#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/cublas_types.h"

namespace infimum::cuda {
namespace {

constexpr int kMostHeuristics = 64;

// The library's functions, by their own types.
struct CublasLtFunctions {
#define INFIMUM_FUNCTION(name) decltype(&::cublasLt##name) name = nullptr
  INFIMUM_FUNCTION(Create);
  INFIMUM_FUNCTION(Destroy);
  INFIMUM_FUNCTION(GetVersion);
  INFIMUM_FUNCTION(GetStatusString);
  INFIMUM_FUNCTION(Matmul);
  INFIMUM_FUNCTION(MatmulDescCreate);
  INFIMUM_FUNCTION(MatmulDescDestroy);
  INFIMUM_FUNCTION(MatmulDescSetAttribute);
  INFIMUM_FUNCTION(MatrixLayoutCreate);
  INFIMUM_FUNCTION(MatrixLayoutDestroy);
  INFIMUM_FUNCTION(MatrixLayoutSetAttribute);
  INFIMUM_FUNCTION(MatmulPreferenceCreate);
  INFIMUM_FUNCTION(MatmulPreferenceDestroy);
  INFIMUM_FUNCTION(MatmulPreferenceSetAttribute);
  INFIMUM_FUNCTION(MatmulAlgoGetHeuristic);
  INFIMUM_FUNCTION(MatmulAlgoGetIds);
  INFIMUM_FUNCTION(MatmulAlgoInit);
  INFIMUM_FUNCTION(MatmulAlgoCapGetAttribute);
  INFIMUM_FUNCTION(MatmulAlgoConfigSetAttribute);
  INFIMUM_FUNCTION(MatmulAlgoConfigGetAttribute);
  INFIMUM_FUNCTION(MatmulAlgoCheck);
#undef INFIMUM_FUNCTION

  Status Load(const SharedLibrary& library) {
    const char* missing = nullptr;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library.Find(name));
      if (function == nullptr && missing == nullptr) missing = name;
    };
#define INFIMUM_FIND(name) find("cublasLt" #name, name)
    INFIMUM_FIND(Create);
    INFIMUM_FIND(Destroy);
    INFIMUM_FIND(GetVersion);
    INFIMUM_FIND(GetStatusString);
    INFIMUM_FIND(Matmul);
    INFIMUM_FIND(MatmulDescCreate);
    INFIMUM_FIND(MatmulDescDestroy);
    INFIMUM_FIND(MatmulDescSetAttribute);
    INFIMUM_FIND(MatrixLayoutCreate);
    INFIMUM_FIND(MatrixLayoutDestroy);
    INFIMUM_FIND(MatrixLayoutSetAttribute);
    INFIMUM_FIND(MatmulPreferenceCreate);
    INFIMUM_FIND(MatmulPreferenceDestroy);
    INFIMUM_FIND(MatmulPreferenceSetAttribute);
    INFIMUM_FIND(MatmulAlgoGetHeuristic);
    INFIMUM_FIND(MatmulAlgoGetIds);
    INFIMUM_FIND(MatmulAlgoInit);
    INFIMUM_FIND(MatmulAlgoCapGetAttribute);
    INFIMUM_FIND(MatmulAlgoConfigSetAttribute);
    INFIMUM_FIND(MatmulAlgoConfigGetAttribute);
    INFIMUM_FIND(MatmulAlgoCheck);
#undef INFIMUM_FIND
    if (missing != nullptr) return Error{library.path().string() + ": it has no " + missing};
    return {};
  }
};

Status Check(const CublasLtFunctions& lt, cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const std::string words = std::string(what) + ": " + lt.GetStatusString(status);
  const bool is_refusal = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
                          status == CUBLAS_STATUS_ARCH_MISMATCH;
  return Error{(is_refusal ? "unsupported: cuBLASLt refuses it, " : "cuBLASLt: ") + words};
}

// A problem in the library's descriptors.
class Descriptors {
 public:
  static Result<std::unique_ptr<Descriptors>> Make(const CublasLtFunctions& lt, const GemmProblem& problem) {
    std::unique_ptr<Descriptors> made(new Descriptors(lt));
    INFIMUM_RETURN_IF_ERROR(made->Build(problem));
    return made;
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
      if (layout != nullptr) lt_.MatrixLayoutDestroy(layout);
    if (product_ != nullptr) lt_.MatmulDescDestroy(product_);
  }

  cublasLtMatmulDesc_t product() const { return product_; }
  cublasLtMatrixLayout_t a() const { return a_; }
  cublasLtMatrixLayout_t b() const { return b_; }
  cublasLtMatrixLayout_t c() const { return c_; }  // of the addend and of the result

  Status SetBias(const void* bias) {
    return Check(lt_, lt_.MatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
                 "setting the bias");
  }

 private:
  explicit Descriptors(const CublasLtFunctions& lt) : lt_(lt) {}

  Status Build(const GemmProblem& problem) {
    const auto a = CudaTypeOf(problem.b), b = CudaTypeOf(problem.a), c = CudaTypeOf(problem.output);
    if (!a || !b || !c) return Error{"unsupported: cuBLASLt has no such types"};
    INFIMUM_RETURN_IF_ERROR(Check(
        lt_, lt_.MatmulDescCreate(&product_, ComputeTypeOf(problem.sums), ScaleTypeOf(problem)), "describing it"));
    const cublasOperation_t first = problem.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    INFIMUM_RETURN_IF_ERROR(Set(CUBLASLT_MATMUL_DESC_TRANSA, first));
    const cublasLtEpilogue_t epilogue = EpilogueOf(problem);
    INFIMUM_RETURN_IF_ERROR(Set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    // In columns: what is m x k there is our second operand.
    const auto m = static_cast<std::uint64_t>(problem.columns), n = static_cast<std::uint64_t>(problem.rows),
               k = static_cast<std::uint64_t>(problem.depth);
    INFIMUM_RETURN_IF_ERROR(problem.b_transposed ? Layout(a_, *a, k, m, problem.batch, problem.b_stride)
                                                 : Layout(a_, *a, m, k, problem.batch, problem.b_stride));
    INFIMUM_RETURN_IF_ERROR(Layout(b_, *b, k, n, problem.batch, problem.a_stride));
    return Layout(c_, *c, m, n, problem.batch, problem.rows * problem.columns);
  }

  static cublasLtEpilogue_t EpilogueOf(const GemmProblem& problem) {
    switch (problem.activation) {
      case GemmActivation::kRelu:
        return problem.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
      case GemmActivation::kGeluTanh:
        return problem.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
      default:
        return problem.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }
  }

  template <class T>
  Status Set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    return Check(lt_, lt_.MatmulDescSetAttribute(product_, attribute, &value, sizeof value), "describing it");
  }

  Status Layout(cublasLtMatrixLayout_t& layout, cudaDataType_t type, std::uint64_t rows, std::uint64_t columns,
                std::int64_t batch, std::int64_t stride) {
    INFIMUM_RETURN_IF_ERROR(Check(
        lt_, lt_.MatrixLayoutCreate(&layout, type, rows, columns, static_cast<std::int64_t>(rows)), "describing it"));
    if (batch == 1) return {};
    const auto count = static_cast<std::int32_t>(batch);
    INFIMUM_RETURN_IF_ERROR(
        Check(lt_, lt_.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
              "describing it"));
    return Check(
        lt_, lt_.MatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "describing it");
  }

  const CublasLtFunctions& lt_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};

class LtCall : public GemmCall {
 public:
  LtCall(const CublasLtFunctions& lt, cublasLtHandle_t handle, const GemmProblem& problem,
         std::unique_ptr<Descriptors> descriptors, const cublasLtMatmulHeuristicResult_t& choice)
      : lt_(lt),
        handle_(handle),
        problem_(problem),
        descriptors_(std::move(descriptors)),
        choice_(choice),
        alpha_(problem.factor, ScaleTypeOf(problem)),
        beta_(problem.addend ? 1 : 0, ScaleTypeOf(problem)) {}

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(choice_.workspaceSize)}; }

  Status Enqueue(const std::vector<void*>& tensors, void* workspace, Gpu::Stream stream) override {
    if (problem_.bias) INFIMUM_RETURN_IF_ERROR(descriptors_->SetBias(tensors[2]));
    void* const result = tensors.back();
    const void* const addend = problem_.addend ? tensors[problem_.bias ? 3 : 2] : result;
    return Check(lt_,
                 lt_.Matmul(handle_, descriptors_->product(), alpha_.bytes, tensors[1], descriptors_->a(), tensors[0],
                            descriptors_->b(), beta_.bytes, addend, descriptors_->c(), result, descriptors_->c(),
                            &choice_.algo, workspace, choice_.workspaceSize, static_cast<cudaStream_t>(stream)),
                 "running");
  }

 private:
  const CublasLtFunctions& lt_;
  cublasLtHandle_t handle_;
  GemmProblem problem_;
  std::unique_ptr<Descriptors> descriptors_;
  cublasLtMatmulHeuristicResult_t choice_;
  ScaleValue alpha_, beta_;
};

class CublasLt : public GemmLibrary {
 public:
  explicit CublasLt(Bytes most_workspace) : most_workspace_(static_cast<std::uint64_t>(most_workspace.value)) {}
  ~CublasLt() override {
    if (handle_ != nullptr) lt_.Destroy(handle_);
  }

  Status Open() {
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                             SharedLibrary::Open({"libcublasLt.so.13", "libcublasLt.so.12"}, "cublas", "cuBLASLt"));
    INFIMUM_RETURN_IF_ERROR(lt_.Load(library));
    const std::size_t version = lt_.GetVersion();
    version_ = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
               std::to_string(version % 100);
    return Check(lt_, lt_.Create(&handle_), "making a handle");
  }

  std::string version() const override { return version_; }

  Result<std::vector<GemmAlgorithm>> Heuristic(const GemmProblem& problem) override {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Descriptors> of, Descriptors::Make(lt_, problem));
    cublasLtMatmulPreference_t preference = nullptr;
    INFIMUM_RETURN_IF_ERROR(Check(lt_, lt_.MatmulPreferenceCreate(&preference), "asking"));
    lt_.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most_workspace_,
                                     sizeof most_workspace_);
    std::array<cublasLtMatmulHeuristicResult_t, kMostHeuristics> results{};
    int count = 0;
    const cublasStatus_t status = lt_.MatmulAlgoGetHeuristic(handle_, of->product(), of->a(), of->b(), of->c(), of->c(),
                                                             preference, kMostHeuristics, results.data(), &count);
    lt_.MatmulPreferenceDestroy(preference);
    INFIMUM_RETURN_IF_ERROR(Check(lt_, status, "asking for its choice"));
    std::vector<GemmAlgorithm> algorithms;
    for (int i = 0; i < count; ++i)
      if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        algorithms.push_back(Read(results[static_cast<std::size_t>(i)].algo));
    return algorithms;
  }

  Result<std::vector<std::int32_t>> Ids(const GemmProblem& problem) override {
    std::array<int, 512> ids{};
    int count = 0;
    INFIMUM_RETURN_IF_ERROR(
        Check(lt_,
              lt_.MatmulAlgoGetIds(handle_, ComputeTypeOf(problem.sums), ScaleTypeOf(problem), *CudaTypeOf(problem.b),
                                   *CudaTypeOf(problem.a), *CudaTypeOf(problem.output), *CudaTypeOf(problem.output),
                                   static_cast<int>(ids.size()), ids.data(), &count),
              "asking for its algorithms"));
    return std::vector<std::int32_t>(ids.begin(), ids.begin() + count);
  }

  Result<GemmCapabilities> Capabilities(const GemmProblem& problem, std::int32_t id) override {
    INFIMUM_ASSIGN_OR_RETURN(const cublasLtMatmulAlgo_t algorithm, Init(problem, id));
    GemmCapabilities capabilities;
    capabilities.tiles = List(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS);
    capabilities.stages = List(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS);
    capabilities.splits_k = Number(algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT) != 0;
    capabilities.reductions = Number(algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
    capabilities.most_swizzles = Number(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT);
    capabilities.most_custom = Number(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
    return capabilities;
  }

  Result<bool> Accepts(const GemmProblem& problem, const GemmAlgorithm& algorithm) override {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Descriptors> of, Descriptors::Make(lt_, problem));
    return Checked(problem, algorithm, *of).ok();
  }

  Result<std::unique_ptr<GemmCall>> Make(const GemmProblem& problem, const GemmAlgorithm& algorithm) override {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Descriptors> of, Descriptors::Make(lt_, problem));
    INFIMUM_ASSIGN_OR_RETURN(const cublasLtMatmulHeuristicResult_t choice, Checked(problem, algorithm, *of));
    return std::unique_ptr<GemmCall>(std::make_unique<LtCall>(lt_, handle_, problem, std::move(of), choice));
  }

 private:
  Result<cublasLtMatmulAlgo_t> Init(const GemmProblem& problem, std::int32_t id) {
    cublasLtMatmulAlgo_t algorithm{};
    INFIMUM_RETURN_IF_ERROR(
        Check(lt_,
              lt_.MatmulAlgoInit(handle_, ComputeTypeOf(problem.sums), ScaleTypeOf(problem), *CudaTypeOf(problem.b),
                                 *CudaTypeOf(problem.a), *CudaTypeOf(problem.output), *CudaTypeOf(problem.output), id,
                                 &algorithm),
              "choosing the algorithm"));
    return algorithm;
  }

  // What it takes; an error where it does not take these settings here.
  Result<cublasLtMatmulHeuristicResult_t> Checked(const GemmProblem& problem, const GemmAlgorithm& settings,
                                                  const Descriptors& of) {
    INFIMUM_ASSIGN_OR_RETURN(cublasLtMatmulAlgo_t algorithm, Init(problem, settings.id));
    const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
      return Check(lt_, lt_.MatmulAlgoConfigSetAttribute(&algorithm, attribute, &value, sizeof value),
                   "choosing settings");
    };
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_TILE_ID, static_cast<std::uint32_t>(settings.tile)));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_STAGES_ID, static_cast<std::uint32_t>(settings.stages)));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, settings.split_k));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, static_cast<std::uint32_t>(settings.reduction)));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, static_cast<std::uint32_t>(settings.swizzle)));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, static_cast<std::uint32_t>(settings.custom)));
    INFIMUM_RETURN_IF_ERROR(set(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, static_cast<std::uint16_t>(settings.inner_shape)));
    INFIMUM_RETURN_IF_ERROR(
        set(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, static_cast<std::uint16_t>(settings.cluster_shape)));
    cublasLtMatmulHeuristicResult_t result{};
    INFIMUM_RETURN_IF_ERROR(
        Check(lt_, lt_.MatmulAlgoCheck(handle_, of.product(), of.a(), of.b(), of.c(), of.c(), &algorithm, &result),
              "checking the settings"));
    if (result.workspaceSize > most_workspace_)
      return Error{"unsupported: it wants more scratch memory than is allowed"};
    result.algo = algorithm;
    return result;
  }

  GemmAlgorithm Read(const cublasLtMatmulAlgo_t& algorithm) const {
    const auto get = [&](cublasLtMatmulAlgoConfigAttributes_t attribute, auto value) {
      std::size_t written = 0;
      lt_.MatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
      return static_cast<std::int32_t>(value);
    };
    GemmAlgorithm read;
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

  std::vector<std::int32_t> List(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
    std::array<std::uint32_t, 1024> values{};
    std::size_t written = 0;
    if (lt_.MatmulAlgoCapGetAttribute(&algorithm, attribute, values.data(), sizeof values, &written) !=
            CUBLAS_STATUS_SUCCESS ||
        written < sizeof values[0])
      return {0};
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(written / sizeof values[0])};
  }

  std::int32_t Number(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
    std::int32_t value = 0;
    std::size_t written = 0;
    lt_.MatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
    return value;
  }

  CublasLtFunctions lt_;
  cublasLtHandle_t handle_ = nullptr;
  std::uint64_t most_workspace_;
  std::string version_;
};

}  // namespace

Result<std::shared_ptr<GemmLibrary>> OpenCublasLt(Bytes most_workspace) {
  auto library = std::make_shared<CublasLt>(most_workspace);
  INFIMUM_RETURN_IF_ERROR(library->Open());
  return std::shared_ptr<GemmLibrary>(std::move(library));
}

}  // namespace infimum::cuda
