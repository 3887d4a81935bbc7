#include "src/core/results/candidate_list.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

CandidateList Example() {
  CandidateList list;
  list.workload = "pointwise kind=relu dtype=f16:-:f16 in=802816";
  list.contract = NumericContract::kF16;
  list.tier = CandidateTier::kHeuristic;
  list.library = "cudnn";
  list.version = "9.19.0";
  list.device = "NVIDIA H200";
  list.candidates = {{{"cudnn-graph", "eng1_k24=37", "plain", "plain", true}, "tensor-core"},
                     {{"cudnn-graph", "eng1", "plain", "plain", false}, ""}};
  list.refusal = "of \"quotes\"\nand lines";
  return list;
}

TEST(CandidateList, IsReadAsItWasWritten) {
  const std::string line = FormatCandidateList(Example());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Result<CandidateList> read = ParseCandidateList(line);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, Example());
}

TEST(CandidateList, WhatIsNoneIsRefused) {
  for (const char* line :
       {"", "[]", "{}", "{\"schema\":\"infimum.candidates/2\"}",
        "{\"schema\":\"infimum.candidates/1\",\"contract\":\"f16\",\"tier\":\"engine\"}",
        "{\"schema\":\"infimum.candidates/1\",\"contract\":\"f17\",\"tier\":\"engine\",\"candidates\":[]}",
        "{\"schema\":\"infimum.candidates/1\",\"contract\":\"f16\",\"tier\":\"engine\",\"candidates\":[1]}"})
    EXPECT_FALSE(ParseCandidateList(line).ok()) << line;
}

}  // namespace
}  // namespace infimum
