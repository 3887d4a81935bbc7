// Records of every kind, and reading of texts, for the tests of both formats.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "infimum/results/results_journal.h"
#include "tests/core/measurement/row_builder.h"

namespace infimum {

using Reader = Status (*)(std::istream&, std::string_view, const std::function<Status(ResultsRecord)>&);

inline ResultsHeader TestHeader() { return {TestDevice(), TestEnvironment(), "onednn"}; }

inline std::vector<PeakRate> TestPeaks() {
  return {{PeakRate::Kind::kCopy, Bytes{1024}, DataType::kF32, 1, 1.25000000005e10, "measured"},
          {PeakRate::Kind::kArithmetic, Bytes{}, DataType::kBF16, 2, 1e12, "data sheet: a page"},
          {PeakRate::Kind::kTf32, Bytes{}, DataType::kF32, 1, 4e14, "measured"},
          {PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 5e5, "measured"},
          {PeakRate::Kind::kRetention, Bytes{2 << 20}, DataType::kF32, 1, 0.002, "measured"}};
}

// Two headers, peaks, and rows of every outcome.
inline std::vector<ResultsRecord> TestRecords() {
  Measurement cold = TestRow(kMatMulText, "gemm \"quoted\" \\ \xc3\xa9");
  cold.cache = CacheState::kColdWeights;
  cold.contract = NumericContract::kBf16;
  cold.candidate.input_layout = "nhwc";
  cold.candidate.library_choice = false;
  cold.numeric_error.reset();
  cold.flags = {"unconverged", "noisy"};
  cold.repetitions[1].beat = Beat{Latency(100.5), Latency(1.0 / 3)};
  Measurement failed = TestRow(kReluText, "ref");
  failed.outcome = Outcome::kFailed;
  failed.reason = "signal 11\nin the worker";
  failed.repetitions.clear();
  failed.numeric_error.reset();
  ResultsHeader second = TestHeader();
  second.environment.threads = 2;
  second.device.kind = DeviceKind::kGpu;
  Measurement there = TestRow();
  there.device = second.device.Key();
  there.environment = second.environment.Key();
  return {TestHeader(), TestPeaks()[0], TestPeaks()[1], TestRow(), cold, failed, second, there};
}

inline std::string JournalOf(const std::vector<ResultsRecord>& records) {
  std::string text;
  for (const ResultsRecord& record : records) text += FormatRecord(record) + "\n";
  return text;
}

inline std::vector<ResultsRecord> ReadAll(Reader read, const std::string& text) {
  std::istringstream input(text);
  std::vector<ResultsRecord> records;
  const Status status = read(input, "r.jsonl", [&](ResultsRecord record) -> Status {
    records.push_back(std::move(record));
    return {};
  });
  if (!status.ok()) ADD_FAILURE() << status.error().message;
  return records;
}

inline std::string ErrorOfReading(Reader read, const std::string& text) {
  std::istringstream input(text);
  const Status status = read(input, "r.jsonl", [](const ResultsRecord&) { return Status(); });
  return status.ok() ? "no error" : status.error().message;
}

// One to three bytes changed, removed or doubled; often a character that means something in JSON.
inline std::string Mutated(std::string text, std::mt19937_64& random) {
  constexpr std::string_view kMeaningful = "{}[]\",:\\-0159eE.\n ntf/=x";
  for (std::uint64_t i = 0; i <= random() % 3; ++i) {
    const std::size_t place = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[place] = static_cast<char>(random());
        break;
      case 1:
        text[place] = kMeaningful[random() % kMeaningful.size()];
        break;
      case 2:
        text.erase(place, 1 + random() % 8);
        break;
      default:
        text.insert(place, text.substr(place, random() % 16));
        break;
    }
  }
  return text;
}

}  // namespace infimum
