#include "reports/sides/side_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(ShortSideLabels, LeaveOutWhatAllHaveInCommon) {
  EXPECT_THAT(ShortSideLabels({"resnet50 f32 batch 1 onnxruntime 1.31.1 cpu 2 threads",
                               "resnet50 f32 batch 1 tensorrt 10.3 gpu 2 threads",
                               "resnet50 f32 batch 1 pytorch 2.4.1 cpu 2 threads"}),
              ElementsAre("onnxruntime 1.31.1 cpu", "tensorrt 10.3 gpu", "pytorch 2.4.1 cpu"));
  EXPECT_THAT(ShortSideLabels({"runs/2026/a-fast.run.json", "runs/2026/b.run.json"}), ElementsAre("a-fast", "b"));
  EXPECT_THAT(ShortSideLabels({"NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3"}),
              ElementsAre("A100-SXM4-40GB", "H100 80GB HBM3"));
}

TEST(ShortSideLabels, KeepAWordThatIsCommonElsewhere) {
  EXPECT_THAT(ShortSideLabels({"a model on Device-1 SXM with 2 threads", "a model on Device-2 SXM with 2 threads"}),
              ElementsAre("Device-1", "Device-2"));
  EXPECT_THAT(ShortSideLabels({"a model on New with 2 threads", "a model on Device-2 SXM with 2 threads"}),
              ElementsAre("New", "Device-2 SXM"));
}

TEST(ShortSideLabels, SayTheWordsOnBothSidesOfACommonOne) {
  EXPECT_THAT(ShortSideLabels({"onnxruntime f32 batch 1 cpu", "tensorrt f32 batch 1 gpu"}),
              ElementsAre("onnxruntime cpu", "tensorrt gpu"));
}

TEST(ShortSideLabels, LeaveEachOneAName) {
  EXPECT_THAT(ShortSideLabels({"resnet50.run.json", "resnet50-f16.run.json", "resnet50-int8.run.json"}),
              ElementsAre("resnet50", "resnet50-f16", "resnet50-int8"));
}

TEST(ShortSideLabels, DifferWhereTheLabelsDo) {
  const std::vector<std::string> signs = {"a label of a side + x", "a label of a side - x"};
  EXPECT_THAT(ShortSideLabels(signs), ElementsAreArray(signs));
  const std::vector<std::string> points = {"library of a name 1.2.3", "library of a name 1.23"};
  EXPECT_THAT(ShortSideLabels(points), ElementsAre("name 1.2.3", "name 1.23"));
}

TEST(ShortSideLabels, StayWhereTheyAreShortOrHaveNothingInCommon) {
  for (const std::vector<std::string>& labels : {std::vector<std::string>{"Tesla K80", "Tesla M60"},
                                                 {"the first of all sides", "another"},
                                                 {"only one side of them"},
                                                 {}})
    EXPECT_THAT(ShortSideLabels(labels), ElementsAreArray(labels));
}

TEST(ShortSideLabels, OfHostileLabelsAreTextsOfThem) {
  const std::vector<std::string> labels = {"\xff\xfe<script>\n\x1b[2J long label", "\xff\xfe<script>\n\x1b[2J", "",
                                           "   "};
  EXPECT_THAT(ShortSideLabels(labels), ElementsAreArray(labels));
  std::string spaces(100'000, ' '), words;
  spaces += 'a';
  for (int i = 0; i < 50'000; ++i) words += "w ";
  const std::vector<std::string> endless = {spaces, std::string(200'000, 'x'), words};
  EXPECT_THAT(ShortSideLabels(endless), ElementsAreArray(endless));
}

}  // namespace
}  // namespace infimum
