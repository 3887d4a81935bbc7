// Intervals against campaigns that were really measured, whose noise nobody drew: three of a campaign's many rounds,
// taken at random, against the center of the others. campaigns/from_journal.py makes the files; INFIMUM_CAMPAIGN names
// another one to be judged alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/rows/uncertainty.h"
#include "tests/support/folders.h"

namespace infimum::stored_campaigns_test {
namespace {

constexpr std::size_t kTriple = 3;
constexpr int kTriples = 500;

struct StoredRow {
  double uses = 0;
  std::string candidate;
  std::vector<double> medians;
};
using StoredCampaign = std::map<std::size_t, std::vector<StoredRow>>;  // by the workload's number

StoredCampaign Read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  StoredCampaign campaign;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::size_t workload = 0;
    StoredRow row;
    words >> workload >> row.uses >> row.candidate;
    for (double median = 0; words >> median;) row.medians.push_back(median);
    campaign[workload].push_back(std::move(row));
  }
  return campaign;
}

// The sum of all layers' best times, from some of the rounds.
SumEstimate EstimateFrom(const StoredCampaign& campaign, const std::vector<std::size_t>& rounds) {
  std::vector<TimedRows> layers;
  std::vector<double> uses;
  for (const auto& [workload, stored] : campaign) {
    std::vector<Measurement> rows;
    for (const StoredRow& one : stored) {
      Measurement row;
      row.candidate.algorithm = one.candidate;
      for (const std::size_t round : rounds) {
        const Latency median(one.medians.at(round));
        row.repetitions.push_back({1, median, median, median, {median}});
      }
      rows.push_back(std::move(row));
    }
    layers.emplace_back(std::move(rows));
    uses.push_back(stored.front().uses);
  }
  std::vector<std::span<const double>> logs;
  for (const TimedRows& layer : layers)
    for (const TimedRow& row : layer.all()) logs.push_back(row.logs);
  const NoiseModel model(logs);
  std::vector<Term> terms;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    terms.push_back({model.OfBest(layers[layer].all()), uses[layer], layer});
  return SumOf(terms);
}

struct Judged {
  double covered = 0;  // share of the triples
  double width = 0;    // of half an interval, as a share of its center, in the mean
};

Judged Judge(const StoredCampaign& campaign) {
  const std::size_t rounds = campaign.begin()->second.front().medians.size();
  EXPECT_GE(rounds, 24u);
  std::mt19937_64 random(24);
  std::vector<std::size_t> order(rounds);
  Judged judged;
  for (int i = 0; i < kTriples; ++i) {
    for (std::size_t round = 0; round < rounds; ++round) order[round] = round;
    std::shuffle(order.begin(), order.end(), random);
    std::sort(order.begin(), order.begin() + kTriple);
    std::sort(order.begin() + kTriple, order.end());
    const SumEstimate few = EstimateFrom(campaign, {order.begin(), order.begin() + kTriple});
    const Latency others = EstimateFrom(campaign, {order.begin() + kTriple, order.end()}).center;
    judged.covered += (few.interval.low <= others && others <= few.interval.high) / double{kTriples};
    judged.width += (few.interval.high - few.interval.low) / few.center / 2 / kTriples;
  }
  return judged;
}

void ExpectCovered(const std::string& path) {
  const Judged judged = Judge(Read(path));
  std::cout << path << ": " << judged.covered << " covered, half an interval is " << 100 * judged.width << " %\n";
  EXPECT_GE(judged.covered, 0.88) << path;
  EXPECT_LE(judged.covered, 0.99) << path;
}

TEST(StoredCampaigns, ThreeRoundsCoverTheCenterOfTheOthers) {
  for (const auto& file : std::filesystem::directory_iterator(testing::SourceFolder() + "/tests/analyzer/campaigns"))
    if (file.path().extension() == ".txt") ExpectCovered(file.path().string());
}

TEST(StoredCampaigns, ANamedOneIsJudgedToo) {
  const char* path = std::getenv("INFIMUM_CAMPAIGN");
  if (path == nullptr) GTEST_SKIP() << "INFIMUM_CAMPAIGN names no campaign";
  ExpectCovered(path);
}

}  // namespace
}  // namespace infimum::stored_campaigns_test
