// Nothing is forgotten: every operator that ONNX registers, and every one that ONNX Runtime adds, either
// has a lowering or is in the list of those that have none, with its reason.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <set>

#include "src/readers/onnx/lowering/lower.h"

namespace infimum {
namespace {

bool IsDeliberatelyUnknown(std::string_view domain, std::string_view op) {
  for (const UnknownOperator& unknown : DeliberatelyUnknown())
    if (unknown.domain == domain && unknown.op == op) return true;
  return false;
}

TEST(LoweringCoverage, EveryOnnxOperatorIsLoweredOrDeliberatelyUnknown) {
  std::size_t seen = 0;
  for (const auto& schema : ONNX_NAMESPACE::OpSchemaRegistry::get_all_schemas()) {
    if (!schema.domain().empty()) continue;
    ++seen;
    EXPECT_TRUE(HasLowering("", schema.Name()) || IsDeliberatelyUnknown("", schema.Name()))
        << schema.Name() << " of opset " << schema.since_version()
        << ": add it to a family in src/readers/onnx/lowering, or with its reason to unknown_operators.cc";
  }
  EXPECT_GT(seen, 180u) << "the registry is not filled";
}

// As of ONNX Runtime 1.31; training operators are left out.
constexpr std::pair<std::string_view, std::string_view> kOnnxRuntimeOperators[] = {
    {"com.microsoft", "Attention"},
    {"com.microsoft", "AttnLSTM"},
    {"com.microsoft", "BeamSearch"},
    {"com.microsoft", "BiasAdd"},
    {"com.microsoft", "BiasDropout"},
    {"com.microsoft", "BiasGelu"},
    {"com.microsoft", "BiasSoftmax"},
    {"com.microsoft", "BiasSplitGelu"},
    {"com.microsoft", "BifurcationDetector"},
    {"com.microsoft", "BitmaskBiasDropout"},
    {"com.microsoft", "BitmaskDropout"},
    {"com.microsoft", "BranchwiseRMSNorm"},
    {"com.microsoft", "CDist"},
    {"com.microsoft", "CausalConvWithState"},
    {"com.microsoft", "ComplexMul"},
    {"com.microsoft", "ComplexMulConj"},
    {"com.microsoft", "ConvTransposeWithDynamicPads"},
    {"com.microsoft", "CropAndResize"},
    {"com.microsoft", "DecoderAttention"},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention"},
    {"com.microsoft", "DecoderMaskedSelfAttention"},
    {"com.microsoft", "DequantizeBFP"},
    {"com.microsoft", "DequantizeLinear"},
    {"com.microsoft", "DequantizeWithOrder"},
    {"com.microsoft", "DynamicQuantizeLSTM"},
    {"com.microsoft", "DynamicQuantizeMatMul"},
    {"com.microsoft", "DynamicSparseAttention"},
    {"com.microsoft", "DynamicTimeWarping"},
    {"com.microsoft", "EPContext"},
    {"com.microsoft", "EmbedLayerNormalization"},
    {"com.microsoft", "EngramGate"},
    {"com.microsoft", "ExpandDims"},
    {"com.microsoft", "FastGelu"},
    {"com.microsoft", "FusedConv"},
    {"com.microsoft", "FusedGemm"},
    {"com.microsoft", "FusedMatMul"},
    {"com.microsoft", "FusedMatMulActivation"},
    {"com.microsoft", "GatedAdd"},
    {"com.microsoft", "GatedDeltaNet"},
    {"com.microsoft", "GatedRMSNorm"},
    {"com.microsoft", "GatedRelativePositionBias"},
    {"com.microsoft", "GatherBlockQuantized"},
    {"com.microsoft", "GatherND"},
    {"com.microsoft", "Gelu"},
    {"com.microsoft", "GemmFastGelu"},
    {"com.microsoft", "GemmFloat8"},
    {"com.microsoft", "GemmaRotaryEmbedding"},
    {"com.microsoft", "GreedySearch"},
    {"com.microsoft", "GridSample"},
    {"com.microsoft", "GroupNorm"},
    {"com.microsoft", "GroupQueryAttention"},
    {"com.microsoft", "HyperConnectionPostMix"},
    {"com.microsoft", "HyperConnectionPreMix"},
    {"com.microsoft", "Inverse"},
    {"com.microsoft", "Irfft"},
    {"com.microsoft", "IsAllFinite"},
    {"com.microsoft", "LinearAttention"},
    {"com.microsoft", "LinearAttentionGate"},
    {"com.microsoft", "LongformerAttention"},
    {"com.microsoft", "MRotaryEmbedding"},
    {"com.microsoft", "MatMulBlockQuantizedFp4Weight"},
    {"com.microsoft", "MatMulBlockQuantizedFp8Weight"},
    {"com.microsoft", "MatMulBnb4"},
    {"com.microsoft", "MatMulFpQ4"},
    {"com.microsoft", "MatMulInteger16"},
    {"com.microsoft", "MatMulIntegerToFloat"},
    {"com.microsoft", "MatMulNBits"},
    {"com.microsoft", "MatMulNBitsMlp"},
    {"com.microsoft", "MatMulNBitsQkv"},
    {"com.microsoft", "MaxpoolWithMask"},
    {"com.microsoft", "MoE"},
    {"com.microsoft", "MulInteger"},
    {"com.microsoft", "MultiHeadAttention"},
    {"com.microsoft", "MurmurHash3"},
    {"com.microsoft", "NGramHashMapping"},
    {"com.microsoft", "NGramRepeatBlock"},
    {"com.microsoft", "NhwcConv"},
    {"com.microsoft", "NhwcFusedConv"},
    {"com.microsoft", "NhwcMaxPool"},
    {"com.microsoft", "PackedAttention"},
    {"com.microsoft", "PackedMultiHeadAttention"},
    {"com.microsoft", "PackedSparseAttentionIndexer"},
    {"com.microsoft", "Pad"},
    {"com.microsoft", "PagedAttention"},
    {"com.microsoft", "QAttention"},
    {"com.microsoft", "QEmbedLayerNormalization"},
    {"com.microsoft", "QGemm"},
    {"com.microsoft", "QLinearAdd"},
    {"com.microsoft", "QLinearAveragePool"},
    {"com.microsoft", "QLinearConcat"},
    {"com.microsoft", "QLinearConv"},
    {"com.microsoft", "QLinearGlobalAveragePool"},
    {"com.microsoft", "QLinearLeakyRelu"},
    {"com.microsoft", "QLinearMul"},
    {"com.microsoft", "QLinearReduceMean"},
    {"com.microsoft", "QLinearSigmoid"},
    {"com.microsoft", "QLinearSoftmax"},
    {"com.microsoft", "QLinearWhere"},
    {"com.microsoft", "QMoE"},
    {"com.microsoft", "QOrderedAttention"},
    {"com.microsoft", "QOrderedGelu"},
    {"com.microsoft", "QOrderedLayerNormalization"},
    {"com.microsoft", "QOrderedLongformerAttention"},
    {"com.microsoft", "QOrderedMatMul"},
    {"com.microsoft", "QuantizeBFP"},
    {"com.microsoft", "QuantizeLinear"},
    {"com.microsoft", "QuantizeWithOrder"},
    {"com.microsoft", "QuickGelu"},
    {"com.microsoft", "Range"},
    {"com.microsoft", "ReduceSumInteger"},
    {"com.microsoft", "RelativePositionBias"},
    {"com.microsoft", "RemovePadding"},
    {"com.microsoft", "RestorePadding"},
    {"com.microsoft", "Rfft"},
    {"com.microsoft", "RotaryEmbedding"},
    {"com.microsoft", "SampleOp"},
    {"com.microsoft", "Sampling"},
    {"com.microsoft", "ScaledSiLU"},
    {"com.microsoft", "SkipGroupNorm"},
    {"com.microsoft", "SkipLayerNormalization"},
    {"com.microsoft", "SkipSimplifiedLayerNormalization"},
    {"com.microsoft", "Snpe"},
    {"com.microsoft", "SparseAttention"},
    {"com.microsoft", "SparseAttentionIndexer"},
    {"com.microsoft", "SparsePagedAttention"},
    {"com.microsoft", "SparseToDenseMatMul"},
    {"com.microsoft", "Tokenizer"},
    {"com.microsoft", "TorchEmbedding"},
    {"com.microsoft", "TransposeMatMul"},
    {"com.microsoft", "Trilu"},
    {"com.microsoft", "UnfoldTensor"},
    {"com.microsoft", "Unique"},
    {"com.microsoft", "VarlenCausalConvWithState"},
    {"com.microsoft", "VarlenNGramHashMapping"},
    {"com.microsoft", "WhisperBeamSearch"},
    {"com.microsoft", "WordConvEmbedding"},
    {"com.microsoft.nchwc", "AveragePool"},
    {"com.microsoft.nchwc", "Conv"},
    {"com.microsoft.nchwc", "GlobalAveragePool"},
    {"com.microsoft.nchwc", "GlobalMaxPool"},
    {"com.microsoft.nchwc", "MaxPool"},
    {"com.microsoft.nchwc", "ReorderInput"},
    {"com.microsoft.nchwc", "ReorderOutput"},
    {"com.microsoft.nchwc", "Upsample"},
    {"com.microsoft", "MemcpyFromHost"},
    {"com.microsoft", "MemcpyToHost"},
};

TEST(LoweringCoverage, EveryOnnxRuntimeOperatorIsLoweredOrDeliberatelyUnknown) {
  for (const auto& [domain, op] : kOnnxRuntimeOperators)
    EXPECT_TRUE(HasLowering(domain, op) || IsDeliberatelyUnknown(domain, op)) << domain << "." << op;
}

TEST(LoweringCoverage, NoOperatorIsBothLoweredAndUnknown) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const UnknownOperator& unknown : DeliberatelyUnknown()) {
    EXPECT_FALSE(HasLowering(unknown.domain, unknown.op)) << unknown.domain << "." << unknown.op;
    EXPECT_FALSE(unknown.reason.empty()) << unknown.op;
    EXPECT_TRUE(seen.emplace(unknown.domain, unknown.op).second) << unknown.op << " is listed twice";
  }
}

TEST(LoweringCoverage, TheOnnxDomainHasTwoNames) {
  EXPECT_TRUE(HasLowering("", "Conv"));
  EXPECT_TRUE(HasLowering("ai.onnx", "Conv"));
  EXPECT_FALSE(HasLowering("ai.onnx.ml", "Conv"));
}

TEST(LoweringCoverage, OperatorsOfOnnxAndOfDomainsWithLoweringsAreKnown) {
  for (const char* op : {"Conv", "ai.onnx.ml.TreeEnsemble", "com.microsoft.Attention", "com.microsoft.QLinearAdd",
                         "NonZero", "LayerNormalization"})
    EXPECT_TRUE(IsKnownOperator(op)) << op;
}

TEST(LoweringCoverage, OperatorsOfOtherDomainsAreNotKnown) {
  for (const char* op : {"", ".", "Blend", "com.acme.Blend", "com.acme.Conv", "com.microsoft.Blend", "custom-1"})
    EXPECT_FALSE(IsKnownOperator(op)) << op;
}

}  // namespace
}  // namespace infimum
