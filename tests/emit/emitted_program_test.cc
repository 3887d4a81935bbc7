// The main promise of emitted sources: they compile without a warning, run, and time the very candidates that the
// runner has, under the same names and layouts, so that their results import to the same rows.
#include "tests/emit/emitted_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "microbench/cpu/onednn_backend.h"
#include "src/readers/read_results.h"

namespace infimum::emitted_program_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Layers and regions of ResNet-50, small ones of every family that has sources, and one that runs on no processor.
const std::vector<std::string> kWorkloads = {
    "convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
    "groups=1 bias=yes weights=const",
    "convolution dtype=f32:f32:f32 in=1x64x28x28 out_channels=96 kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 "
    "groups=1 bias=no weights=const",
    "convolution dtype=s8:s8:s8 in=1x32x14x14 out_channels=32 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=yes weights=const",
    "convolution dtype=f32:f32:f32 in=1x16x7x7 out_channels=24 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1 groups=1 "
    "bias=yes weights=variable transposed=yes output_pad=1,1",
    "matmul dtype=f32:f32:f32 a=1x37x64 b=1x64x96 bias=column weights=const",
    "matmul dtype=f32:f32:f32 a=12x33x64 b=12x64x33 bias=no weights=variable",
    "pooling kind=max dtype=f32:-:f32 in=1x64x56x56 out=1x64x28x28 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1",
    "normalization kind=batch dtype=f32:f32:f32 in=1x64x28x28 axis=1 scale=yes bias=yes",
    "normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes",
    "softmax kind=softmax dtype=f32:-:f32 in=96x128x1 axis=1",
    "pointwise kind=relu dtype=f32:-:f32 in=100352",
    "pointwise kind=add dtype=f32:f32:f32 in=128x768,768",
    "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1",
    "resample kind=linear dtype=f32:-:f32 in=1x24x10x10 out=1x24x20x20",
    "movement kind=concat dtype=f32:-:f32 in=1x64x784,1x32x784 out=1x96x784 axis=1",
    "movement kind=transpose dtype=f32:-:f32 in=128x12x64 out=12x128x64 perm=1,0,2",
    "reorder dtype=f32:-:f32 in=1x64x28x28 from=nchw to=nChw16c",
    "recurrent kind=lstm dtype=f32:f32:f32 sequence=8 batch=1 input=64 hidden=64 directions=1 bias=yes weights=const",
    "region [convolution dtype=f32:f32:f32 in=1x64x28x28 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 "
    "pad=1,1,1,1 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f32:f32:f32 "
    "in=50176,50176](%0,in1) ; [pointwise kind=relu dtype=f32:-:f32 in=50176](%1)",
    "region [matmul dtype=f32:f32:f32 a=1x37x64 b=1x64x96 bias=column weights=const](in0,w0,w1) ; [pointwise "
    "kind=gelu_erf dtype=f32:-:f32 in=3552](%0)"};

Plan PlanOf(const std::vector<std::string>& texts) {
  Plan plan;
  for (const std::string& text : texts) {
    const Result<Workload> workload = ParseWorkload(text);
    EXPECT_TRUE(workload.ok()) << text << ": " << (workload.ok() ? "" : workload.error().message);
    if (workload.ok()) plan.entries.push_back({*workload, NativeContract(*workload), 1, 0});
  }
  return plan;
}

struct Imported {
  std::vector<Measurement> rows;
  Environment environment;
};

Imported Import(const std::string& json) {
  Imported imported;
  ResultsTaker taker;
  taker.rows = [&](const Device&, const Environment& environment, std::span<const Measurement> rows,
                   std::span<const PeakRate>) {
    imported.rows.insert(imported.rows.end(), rows.begin(), rows.end());
    imported.environment = environment;
    return Status();
  };
  std::vector<std::string> remarks;
  taker.remark = [&](const std::string& remark) { remarks.push_back(remark); };
  std::istringstream input(json);
  const Status status = ReadResults(input, "results.json", taker);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  // All but the device, which only the user knows.
  for (const std::string& remark : remarks) EXPECT_THAT(remark, HasSubstr("name the processor"));
  return imported;
}

// What the runner offers beside sources: kernels of infimum's own, partitions, conversions.
bool IsEmittable(const Candidate& candidate) {
  const std::string& name = candidate.algorithm;
  return candidate.library == "onednn" && !name.starts_with("graph/") && !name.starts_with("as-") &&
         !name.starts_with("upsampling-as-matmul/");
}

std::string WithLayouts(const Candidate& candidate) {
  return candidate.name() + " " + candidate.input_layout + "->" + candidate.output_layout;
}

// Rows and the runner's candidates are the same; layouts too, where the source states them.
bool ExpectTheRunnersCandidates(const std::string& text, const std::vector<Measurement>& rows) {
  SCOPED_TRACE(text);
  OneDnnBackend backend{BackendOptions{}};
  const Workload workload = *ParseWorkload(text);
  const NumericContract contract = NativeContract(workload);
  std::map<std::string, Candidate> all;
  std::set<std::string> wanted, found;
  const auto exhaustive = backend.Candidates(workload, contract, CandidateTier::kExhaustive);
  const auto engine = backend.Candidates(workload, contract, CandidateTier::kEngine);
  EXPECT_TRUE(exhaustive.ok() && engine.ok());
  if (!exhaustive.ok() || !engine.ok()) return false;
  for (const Candidate& candidate : *exhaustive) all[candidate.name()] = candidate;
  for (const Candidate& candidate : *engine)
    if (IsEmittable(candidate)) wanted.insert(candidate.name());
  for (const Measurement& row : rows) {
    if (row.workload.text != text || row.outcome == Outcome::kUnsupported) continue;
    const std::string name = row.candidate.name();
    found.insert(name);
    EXPECT_EQ(row.outcome, Outcome::kMeasured) << name << ": " << row.reason;
    EXPECT_TRUE(all.contains(name)) << name;
    if (!all.contains(name)) continue;
    EXPECT_EQ(row.candidate.library_choice, all[name].library_choice) << name;
    if (row.candidate.input_layout != "opaque") {
      EXPECT_EQ(WithLayouts(row.candidate), WithLayouts(all[name]));
    }
  }
  for (const std::string& name : wanted) EXPECT_TRUE(found.contains(name)) << name << " has no benchmark";
  return !wanted.empty();
}

TEST(EmittedProgram, TimesTheRunnersCandidatesAndItsResultsImport) {
  if (const auto reason = testing::WhyNoEmittedProgram()) GTEST_SKIP() << *reason;
  testing::EmittedProgram program(PlanOf(kWorkloads), {"onednn", {}, "1.2.3"});
  // GCC 12 sees overlaps where std::string is assigned a literal (its bug 105651).
  ASSERT_EQ(program.Build("-O3 -Wall -Wextra -Wpedantic -Wshadow -Werror"), "");
  const Imported imported = Import(program.Run());
  EXPECT_EQ(imported.environment.threads, 1);
  EXPECT_THAT(imported.environment.libraries.at("onednn"), HasSubstr("3."));
  std::set<std::string> measured;
  for (const Measurement& row : imported.rows) {
    if (row.outcome != Outcome::kMeasured) continue;
    measured.insert(row.workload.text);
    ASSERT_EQ(row.repetitions.size(), 1U);
    const Repetition& repetition = row.repetitions[0];
    EXPECT_GT(repetition.minimum.count(), 0.05) << row.workload.text;  // us: no layer here is faster, or slower
    EXPECT_LT(repetition.median.count(), 1e6) << row.workload.text;
    EXPECT_LE(repetition.median.count(), repetition.p95.count());
  }
  for (const std::string& text : kWorkloads) {
    // Some processors have for 8 bits nothing that is emitted.
    const bool has_candidates = ExpectTheRunnersCandidates(text, imported.rows);
    EXPECT_EQ(measured.contains(text), has_candidates) << text;
  }
}

TEST(EmittedProgram, SkipsACandidateThatTheLibraryDoesNotHave) {
  if (const auto reason = testing::WhyNoEmittedProgram()) GTEST_SKIP() << *reason;
  testing::EmittedProgram program(PlanOf({"softmax kind=softmax dtype=f32:-:f32 in=96x128x1 axis=1"}),
                                  {"onednn", {"onednn/of-another-version", "onednn/ref:any"}, "1.2.3"});
  ASSERT_EQ(program.Build("-O1"), "");
  const Imported imported = Import(program.Run());
  ASSERT_EQ(imported.rows.size(), 2U);
  for (const Measurement& row : imported.rows) {
    if (row.candidate.name() == "onednn/ref:any") {
      EXPECT_EQ(row.outcome, Outcome::kMeasured) << row.reason;  // a fallback that was asked for
    } else {
      EXPECT_EQ(row.candidate.name(), "onednn/of-another-version");
      EXPECT_EQ(row.outcome, Outcome::kUnsupported);
      EXPECT_THAT(row.reason, HasSubstr("not offered by oneDNN 3."));
      EXPECT_THAT(row.reason, HasSubstr("onednn/ref:any"));
    }
  }
}

}  // namespace
}  // namespace infimum::emitted_program_test
