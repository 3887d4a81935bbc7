#include <gtest/gtest.h>

#include "infimum/layer/data_type.h"
#include "src/readers/profiles/tensorrt/tensorrt_words.h"

namespace infimum::ingest {
namespace {

void Expect(std::string_view text, std::string_view dtype, std::string_view layout) {
  const TensorRtFormat format = FormatOf(text);
  EXPECT_EQ(format.dtype, dtype) << text;
  EXPECT_EQ(format.layout, layout) << text;
  EXPECT_TRUE(dtype.empty() || FindDataType(dtype)) << dtype;
}

TEST(TensorRtTensorFormat, LayoutsAreTheChannelsPlaceAndTheirPadding) {
  Expect("Row major linear FP32", "f32", "linear");
  Expect("Row major linear FP16 format", "f16", "linear");
  Expect("Row major Int8 format.", "s8", "linear");
  Expect("Row major linear BOOL", "bool", "linear");
  Expect("Row major linear Int64 format", "s64", "linear");
  Expect("Row major linear UInt8 format", "u8", "linear");
  Expect("Row major linear FP8 format", "f8e4m3", "linear");
  Expect("Channel major FP32 format", "f32", "NHWC");
  Expect("Channel major FP16 format where channel % 8 == 0", "f16", "NHWC8");
  Expect("Channel major FP16 format where channel % 8 == 0.", "f16", "NHWC8");
  Expect("Channel major BFloat16 format where channel % 8 == 0 with 3 spatial dimensions", "bf16", "NDHWC8");
  Expect("Channel major INT8 format where channel == 4 and column stride % 32 == 0", "s8", "NHWC4, column stride 32");
  Expect("Row major INT8 format where column stride % 64 == 0", "s8", "linear, column stride 64");
  Expect("Four wide channel vectorized row major FP32 format", "f32", "NC/4HW4");
  Expect("Thirty-two wide channel vectorized row major Int8 format", "s8", "NC/32HW32");
  Expect("Thirty-two wide channel vectorized row major FP16 format with 3 spatial dimensions", "f16", "NC/32DHW32");
}

TEST(TensorRtTensorFormat, MyelinTellsTheTypeAlone) {
  Expect("Half", "f16", "");
  Expect("Float", "f32", "");
  Expect("BFloat16", "bf16", "");
  Expect("Int8", "s8", "");
  Expect("Bool", "bool", "");
  Expect("", "", "");
}

TEST(TensorRtTensorFormat, AnUnknownFormatStaysUnchanged) {
  Expect("N/A due to dynamic shapes", "", "N/A due to dynamic shapes");
  Expect("Seven wide channel vectorized row major FP16 format", "f16",
         "Seven wide channel vectorized row major FP16 format");
  Expect("FP4", "", "FP4");
  Expect("Unknown format", "", "");
}

}  // namespace
}  // namespace infimum::ingest
