
#include <gtest/gtest.h>

#include "analyzer/alignment/engine_work.h"
#include "analyzer/alignment/operator_kinds.h"

namespace infimum {
namespace {

TEST(EngineWords, KnowsWhatLibrariesCallTheirOperatorsAndKernels) {
  for (const char* text : {"Conv", "FusedConv", "QLinearConv", "com.microsoft.nchwc.Conv", "aten::addmm",
                           "ReorderInput", "LSTM", "Reformat", "CaskConvolution", "CPUExecutionProvider",
                           "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", "cudnn::winograd_nonfused",
                           "ORT_ENABLE_ALL", "99", "SkipLayerNormalization", "brgconv:avx512_core"})
    EXPECT_TRUE(IsOfLibraries(text)) << text;
}

TEST(EngineWords, WhatMayBeSomebodysOwnIsNotOfLibraries) {
  for (const char* text : {"AcmeConv", "acme_gemm", "gemm_acme", "convAcme", "ACMEConv", "aten::acme", "gemm\xc3\xa4",
                           "{ForeignNode[/acme/blend]}", "PWN(acme)"})
    EXPECT_FALSE(IsOfLibraries(text)) << text;
}

// What rules decide by is the same for both.
TEST(EngineWords, APlainOperatorIsOfTheSameKindAndWork) {
  for (const char* op : {"AcmeConv",           "AcmeGemm", "AcmeMaxPool",     "AcmeSoftmax",   "AcmeLayerNorm",
                         "AcmeReduce",         "AcmeLSTM", "AcmeAttention",   "AcmeResize",    "AcmeGelu",
                         "AcmeConcat",         "Acme",     "acme.Pad",        "acme.Gather",   "AcmeDequantizeLinear",
                         "AcmeQuantizeLinear", "acme.Add", "acme_nchwToNhwc", "Memcpy (Acme)", "Copy acme"}) {
    ProfiledLayer layer;
    layer.op = op;
    ProfiledLayer plain = layer;
    plain.op = PlainOperatorOf(layer);
    if (plain.op.empty()) {
      EXPECT_EQ(KindOf(op), OperatorKind::kOther) << op;
      EXPECT_EQ(OwnWorkOf(layer), EngineWork::kNone) << op;
      continue;
    }
    EXPECT_EQ(plain.op.find("cme"), std::string::npos) << op;
    EXPECT_EQ(KindOf(plain.op), KindOf(op)) << op << " became " << plain.op;
    EXPECT_EQ(OwnWorkOf(plain), OwnWorkOf(layer)) << op << " became " << plain.op;
  }
}

TEST(EngineWords, DecorationsStay) {
  EXPECT_EQ(DecoratedLike("acme/conv1_nchwc", "engine-7"), "engine-7_nchwc");
  EXPECT_EQ(DecoratedLike("InsertedPrecisionFreeCast_acme", "engine-7"), "InsertedPrecisionFreeCast_engine-7");
  EXPECT_EQ(DecoratedLike("Transpose_token_12", "engine-7"), "Transpose_token_engine-7");
  EXPECT_EQ(DecoratedLike("acme/conv1", "engine-7"), "engine-7");
}

}  // namespace
}  // namespace infimum
