// The calls of cuSPARSELt, by functions of the test's own in place of the library's: what it is told, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "microbench/libraries/cusparselt/calls/cusparselt_matmul.h"

namespace cusparselt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What the library was told, in words, and what it answers.
struct Told {
  std::vector<std::string> calls;
  std::map<int, std::int32_t> settings;  // of the algorithm, by attribute
  const void* bias = nullptr;
  int objects = 0;            // made and not destroyed
  std::int32_t refused = -1;  // an algorithm that cannot be planned
  bool has_segments = true;
  std::int32_t split = 1, mode = CUSPARSELT_SPLIT_K_MODE_ONE_KERNEL;  // as the library chooses
  cusparseStatus_t status_of_plan = CUSPARSE_STATUS_NOT_SUPPORTED;
  std::size_t workspace = 1024;

  void Add(const std::string& call) { calls.push_back(call); }
};
Told* told = nullptr;

std::string Matrix(std::int64_t rows, std::int64_t columns, std::int64_t leading, cudaDataType type,
                   cusparseOrder_t order) {
  return std::to_string(rows) + "x" + std::to_string(columns) + " leading " + std::to_string(leading) + " type " +
         std::to_string(type) + (order == CUSPARSE_ORDER_COL ? " by columns" : " by rows");
}

Functions Made() {
  Functions lt;
  lt.GetErrorString = [](cusparseStatus_t status) {
    return status == CUSPARSE_STATUS_NOT_SUPPORTED ? "operation not supported" : "internal error";
  };
  lt.GetProperty = [](libraryPropertyType part, int* value) {
    *value = part == MINOR_VERSION ? 10 : 0;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.StructuredDescriptorInit = [](const cusparseLtHandle_t*, cusparseLtMatDescriptor_t*, std::int64_t rows,
                                   std::int64_t columns, std::int64_t leading, std::uint32_t, cudaDataType type,
                                   cusparseOrder_t order, cusparseLtSparsity_t) {
    told->Add("sparse " + Matrix(rows, columns, leading, type, order));
    ++told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.DenseDescriptorInit = [](const cusparseLtHandle_t*, cusparseLtMatDescriptor_t*, std::int64_t rows,
                              std::int64_t columns, std::int64_t leading, std::uint32_t, cudaDataType type,
                              cusparseOrder_t order) {
    told->Add("dense " + Matrix(rows, columns, leading, type, order));
    ++told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatDescriptorDestroy = [](const cusparseLtMatDescriptor_t*) {
    --told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulDescriptorInit = [](const cusparseLtHandle_t*, cusparseLtMatmulDescriptor_t*, cusparseOperation_t a,
                               cusparseOperation_t b, const cusparseLtMatDescriptor_t*,
                               const cusparseLtMatDescriptor_t*, const cusparseLtMatDescriptor_t*,
                               const cusparseLtMatDescriptor_t*, cusparseComputeType sums) {
    told->Add("product " + std::to_string(a) + " " + std::to_string(b) + " sums " + std::to_string(sums));
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulDescSetAttribute = [](const cusparseLtHandle_t*, cusparseLtMatmulDescriptor_t*,
                                 cusparseLtMatmulDescAttribute_t attribute, const void* data, std::size_t size) {
    if (attribute == CUSPARSELT_MATMUL_BIAS_POINTER) {
      std::memcpy(&told->bias, data, size);
    } else {
      told->Add("attribute " + std::to_string(attribute));
    }
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulAlgSelectionInit = [](const cusparseLtHandle_t*, cusparseLtMatmulAlgSelection_t*,
                                 const cusparseLtMatmulDescriptor_t*, cusparseLtMatmulAlg_t) {
    ++told->objects;
    told->settings = {{CUSPARSELT_MATMUL_ALG_CONFIG_ID, 2},
                      {CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID, 4},
                      {CUSPARSELT_MATMUL_SPLIT_K, told->split},
                      {CUSPARSELT_MATMUL_SPLIT_K_MODE, told->mode},
                      {CUSPARSELT_MATMUL_SPLIT_K_BUFFERS, 0}};
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulAlgSelectionDestroy = [](const cusparseLtMatmulAlgSelection_t*) {
    --told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulAlgSetAttribute = [](const cusparseLtHandle_t*, cusparseLtMatmulAlgSelection_t*,
                                cusparseLtMatmulAlgAttribute_t attribute, const void* data, std::size_t size) {
    std::int32_t value = 0;
    std::memcpy(&value, data, size);
    if (attribute == CUSPARSELT_MATMUL_SPLIT_K_MODE && value == CUSPARSELT_INVALID_MODE)
      return CUSPARSE_STATUS_INVALID_VALUE;
    told->settings[attribute] = value;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulAlgGetAttribute = [](const cusparseLtHandle_t*, const cusparseLtMatmulAlgSelection_t*,
                                cusparseLtMatmulAlgAttribute_t attribute, void* data, std::size_t size) {
    std::memcpy(data, &told->settings[attribute], size);
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulPlanInit = [](const cusparseLtHandle_t*, cusparseLtMatmulPlan_t*, const cusparseLtMatmulDescriptor_t*,
                         const cusparseLtMatmulAlgSelection_t*) {
    if (told->settings[CUSPARSELT_MATMUL_ALG_CONFIG_ID] == told->refused) return told->status_of_plan;
    if (told->settings[CUSPARSELT_MATMUL_SPLIT_K] < 0 && !told->has_segments) return CUSPARSE_STATUS_NOT_SUPPORTED;
    ++told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulPlanDestroy = [](const cusparseLtMatmulPlan_t*) {
    --told->objects;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.MatmulGetWorkspace = [](const cusparseLtHandle_t*, const cusparseLtMatmulPlan_t*, std::size_t* size) {
    *size = told->workspace;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.SpMMACompressedSize = [](const cusparseLtHandle_t*, const cusparseLtMatmulPlan_t*, std::size_t* compressed,
                              std::size_t* buffer) {
    *compressed = 1152;
    *buffer = 64;
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.SpMMACompress = [](const cusparseLtHandle_t*, const cusparseLtMatmulPlan_t*, const void* dense, void* compressed,
                        void*, cudaStream_t) {
    told->Add("compress " + std::to_string(static_cast<const char*>(dense) - static_cast<char*>(compressed)));
    return CUSPARSE_STATUS_SUCCESS;
  };
  lt.Matmul = [](const cusparseLtHandle_t*, const cusparseLtMatmulPlan_t*, const void* alpha, const void*, const void*,
                 const void* beta, const void* c, void* d, void*, cudaStream_t*, std::int32_t streams) {
    told->Add("run " + std::to_string(*static_cast<const float*>(alpha)) + " " +
              std::to_string(*static_cast<const float*>(beta)) + (c == d ? " alone" : " added to") + " streams " +
              std::to_string(streams));
    return CUSPARSE_STATUS_SUCCESS;
  };
  return lt;
}

class CusparseLtCalls : public ::testing::Test {
 protected:
  void SetUp() override { told = &told_; }
  void TearDown() override { EXPECT_EQ(told_.objects, 0); }

  Told told_;
  const Functions lt_ = Made();
  const cusparseLtHandle_t handle_ = {};
};

const cublaslt::Gemm kGemm{
    .rows = 128, .columns = 3072, .depth = 768, .a = "f16", .b = "f16", .result = "f16", .b_sparse = true};

// Row-major matrices are the library's by columns, turned round: the weights are its first.
TEST_F(CusparseLtCalls, WeightsAreTheFirstMatrix) {
  { const Matmul plain(lt_, handle_, kGemm, 4096); }
  EXPECT_THAT(told_.calls, ElementsAre("sparse 3072x768 leading 3072 type 2 by columns",
                                       "dense 768x128 leading 768 type 2 by columns",
                                       "dense 3072x128 leading 3072 type 2 by columns",
                                       "dense 3072x128 leading 3072 type 2 by columns", "product 0 0 sums 2"));
  told_.calls.clear();
  cublaslt::Gemm turned = kGemm;
  turned.b_transposed = true;
  turned.a = turned.b = "s8";
  turned.result = "bf16";
  turned.sums = "s32";
  turned.activation = "relu";
  { const Matmul of_bytes(lt_, handle_, turned, 4096); }
  EXPECT_THAT(
      told_.calls,
      ElementsAre("sparse 768x3072 leading 768 type 3 by columns", "dense 768x128 leading 768 type 3 by columns",
                  "dense 3072x128 leading 3072 type 14 by columns", "dense 3072x128 leading 3072 type 14 by columns",
                  "product 1 0 sums 0", "attribute 0"));
}

TEST_F(CusparseLtCalls, AlgorithmsInEachTier) {
  told_.refused = 1;
  Matmul matmul(lt_, handle_, kGemm, 4096, 9);
  const auto names = [](const std::vector<cublaslt::Algorithm>& algorithms) {
    std::vector<std::string> all;
    for (const cublaslt::Algorithm& algorithm : algorithms) all.push_back(cublaslt::Format(algorithm, true));
    return all;
  };
  EXPECT_THAT(names(cublaslt::Heuristic(matmul)),
              ElementsAre("alg=2_splitk=1_mode=0_buffers=0", "alg=2_splitk=-1_mode=0_buffers=0"));
  EXPECT_THAT(names(cublaslt::BestOfEach(matmul, 768, 100)),
              ElementsAre("alg=2_splitk=1_mode=0_buffers=0", "alg=2_splitk=-1_mode=0_buffers=0",
                          "alg=0_splitk=1_mode=0_buffers=0", "alg=3_splitk=1_mode=0_buffers=0"));
  const std::vector<std::string> all = names(cublaslt::Exhaustive(matmul, 768, 100));
  EXPECT_EQ(all.size(), 4U + 3U * 3 * 9);  // nine splits of each, in three modes
  for (const std::string& name : all) {
    const std::optional<cublaslt::Algorithm> read = cublaslt::ParseAlgorithm(name, true);
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(cublaslt::Format(*read, true), name);
    EXPECT_FALSE(cublaslt::ParseAlgorithm(name));
  }
  EXPECT_THAT(cublaslt::ParseAlgorithm("alg=2_splitk=1", true), std::nullopt);
  EXPECT_THAT(cublaslt::ParseAlgorithm("alg=2_splitk=1_mode=0_buffers=0x", true), std::nullopt);
}

// As before Hopper.
TEST_F(CusparseLtCalls, SegmentsOfTheDepthAreOfDevicesThatHaveThem) {
  Matmul ampere(lt_, handle_, kGemm, 4096, 8);
  EXPECT_EQ(cublaslt::Heuristic(ampere).size(), 1U);
  told_.has_segments = false;
  Matmul other(lt_, handle_, kGemm, 4096, 9);
  EXPECT_EQ(cublaslt::Heuristic(other).size(), 1U);
}

// What cuts the depth by itself there is what is not split, of each algorithm.
TEST_F(CusparseLtCalls, ADepthThatTheLibraryCutsByItselfStaysSo) {
  told_.split = -1;
  told_.mode = CUSPARSELT_HEURISTIC;
  Matmul matmul(lt_, handle_, kGemm, 4096, 10);
  std::vector<std::string> names;
  for (const cublaslt::Algorithm& algorithm : cublaslt::BestOfEach(matmul, 768, 100))
    names.push_back(cublaslt::Format(algorithm, true));
  EXPECT_THAT(names, ElementsAre("alg=2_splitk=-1_mode=0_buffers=0", "alg=2_splitk=-1_mode=4_buffers=0",
                                 "alg=2_splitk=-1_mode=6_buffers=0", "alg=0_splitk=-1_mode=0_buffers=0",
                                 "alg=1_splitk=-1_mode=0_buffers=0", "alg=3_splitk=-1_mode=0_buffers=0"));
}

TEST_F(CusparseLtCalls, RefusalsAndFaultsAreToldApart) {
  told_.refused = 3;
  Matmul matmul(lt_, handle_, kGemm, 4096);
  const cublaslt::Algorithm third{.id = 3};
  EXPECT_FALSE(matmul.Accepts(third));
  told_.status_of_plan = CUSPARSE_STATUS_INTERNAL_ERROR;
  EXPECT_THROW(matmul.Accepts(third), std::runtime_error);
  EXPECT_TRUE(matmul.Accepts({.id = 0}));
  told_.workspace = 8192;
  EXPECT_FALSE(matmul.Accepts({.id = 0}));
  cublaslt::Gemm doubles = kGemm;
  doubles.sums = "f64";
  EXPECT_THROW(Matmul(lt_, handle_, doubles, 4096), std::runtime_error);
}

// A plan knows its bias's address from then on, also where copies of constants are rotated.
TEST_F(CusparseLtCalls, CompressedOnceAndRunWithItsBias) {
  cublaslt::Gemm gemm = kGemm;
  gemm.bias = "f16";
  gemm.addend = true;
  gemm.factor = 0.5;
  Matmul matmul(lt_, handle_, gemm, 4096);
  matmul.Choose({.id = 2});
  EXPECT_EQ(matmul.compressed(), 1152U);
  EXPECT_EQ(matmul.buffer(), 64U);
  EXPECT_NE(told_.bias, nullptr);
  char memory[16] = {};
  cublaslt::Matmul::Tensors tensors{
      .a = memory, .b = memory + 4, .bias = memory + 8, .addend = memory + 1, .result = memory + 2};
  told_.calls.clear();
  matmul.Compress(tensors, memory, memory, nullptr);
  EXPECT_EQ(told_.bias, memory + 8);
  const int objects = told_.objects;
  tensors.bias = memory + 9;
  matmul.Run(tensors, nullptr, nullptr);
  EXPECT_EQ(told_.bias, memory + 8);
  EXPECT_EQ(told_.objects, objects);
  EXPECT_THAT(told_.calls, ElementsAre("compress 4", "run 0.500000 1.000000 added to streams 1"));
  EXPECT_EQ(Version(lt_), "0.10.0");
}

}  // namespace
}  // namespace cusparselt
