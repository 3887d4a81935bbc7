#include "microbench/harness/journal/resumed_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace infimum {
namespace {

Measurement RowOf(const std::string& algorithm, std::size_t repetitions) {
  Measurement row;
  row.workload.text = "pointwise kind=relu dtype=f32:-:f32 in=64";
  row.candidate = {"fake", algorithm, "any", "any", false};
  row.device.text = "gpu/pretended";
  row.environment.text = "driver=1";
  row.measured_at = "2026-11-21T10:47:44Z";
  row.flags = {"launch_bound"};
  for (std::size_t i = 0; i < repetitions; ++i) {
    Repetition repetition;
    repetition.samples = {Latency(333.25), Latency(667)};
    repetition.count = 2;
    repetition.minimum = repetition.samples.front();
    repetition.median = Latency(500);
    repetition.p95 = repetition.samples.back();
    row.repetitions.push_back(repetition);
  }
  return row;
}

TEST(SpilledRows, GetReturnsWhatWasPut) {
  SpilledRows spilled;
  std::vector<Measurement> rows;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < 300; ++i) {
    Measurement row = RowOf("algorithm " + std::string(i * 40, 'x'), i % 4);
    if (row.repetitions.empty()) {
      row.outcome = Outcome::kFailed;
      row.reason = "killed\nby a signal";
    }
    const Result<std::int64_t> place = spilled.Put(row);
    ASSERT_TRUE(place.ok()) << place.error().message;
    places.push_back(*place);
    rows.push_back(row);
  }
  for (std::size_t i = rows.size(); i-- > 0;) {
    const Result<Measurement> row = spilled.Get(places[i]);
    ASSERT_TRUE(row.ok()) << row.error().message;
    EXPECT_EQ(*row, rows[i]) << i;
  }
}

TEST(SpilledRows, AnErrorNamesTMPDIRWhereNoTemporaryFileCanBeCreated) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/proc", 1);
  SpilledRows spilled;
  const Result<std::int64_t> place = spilled.Put(RowOf("direct", 1));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(place.ok());
  EXPECT_THAT(place.error().message, ::testing::HasSubstr("a temporary file in /proc cannot be created"));
  EXPECT_THAT(place.error().message, ::testing::HasSubstr("set TMPDIR"));
}

TEST(EarlierRows, OfOneRowTheVersionWithTheMostRepetitionsCountsAndTheLaterOfEquals) {
  EarlierRows rows;
  ASSERT_TRUE(rows.Keep(RowOf("direct", 2)).ok());
  ASSERT_TRUE(rows.Keep(RowOf("gemm", 1)).ok());
  Measurement later = RowOf("direct", 2);
  later.flags = {"noisy"};
  ASSERT_TRUE(rows.Keep(later).ok());
  ASSERT_TRUE(rows.Keep(RowOf("direct", 1)).ok());
  EXPECT_EQ(rows.size(), 2u);
  const auto found = rows.Find(RowOf("direct", 0));
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ(**found, later);
  const auto none = rows.Find(RowOf("simd", 0));
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none);
}

}  // namespace
}  // namespace infimum
