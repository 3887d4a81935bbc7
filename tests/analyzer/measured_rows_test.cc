#include "analyzer/rows/measured_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/random_graph.h"

namespace infimum {
namespace {

// What is folded once and found by place is what the rows say and what their keys find.
TEST(MeasuredRows, AreWhatTheSourceHasOfEachLayerAndRegion) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = 30;
    options.unknown_share = 0.1;
    const ModelGraph graph = testing::MakeRandomGraph(random, options);
    MemorySource source;
    for (std::int64_t threads : {1, 2, 4}) {
      testing::AddRandomRows(random, testing::WorkloadKeys(graph), threads, source);
      testing::AddRandomRows(random, testing::RegionKeys(graph), threads, source);
    }
    const Selection selection = testing::TestSelection(4);
    const RegionSet regions(graph);
    const Result<MeasuredRows> rows = MeasuredRows::Fetch(graph, regions, source, selection, nullptr);
    ASSERT_TRUE(rows.ok());
    const GraphRows& own = rows->Of(graph);
    ASSERT_EQ(own.layers.size(), graph.layers.size());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Layer& layer = graph.layers[i];
      const bool is_asked = layer.status == LayerStatus::kMeasurable && layer.workload;
      ASSERT_EQ(own.layers[i], is_asked ? rows->Find(KeyOf(*layer.workload)) : nullptr);
    }
    const std::span<const KnownRegion> known = regions.Of(graph);
    ASSERT_EQ(own.regions.size(), known.size());
    for (std::size_t i = 0; i < known.size(); ++i) ASSERT_EQ(own.regions[i], rows->Find(known[i].key));
    std::size_t number = 0;
    for (const auto& [key, entry] : rows->all()) {
      ASSERT_EQ(entry.number, number++);
      for (std::int64_t threads : {1, 2, 4}) {
        Selection asked = selection;
        asked.threads = threads;
        const Result<std::vector<Measurement>> found = source.Find(std::span(&key, 1), asked);
        const std::span<const TimedRow> timed = entry.On(threads);
        ASSERT_EQ(timed.size(), found->size());
        for (std::size_t i = 0; i < timed.size(); ++i) {
          ASSERT_EQ(*timed[i].row, (*found)[i]);
          ASSERT_EQ(timed[i].best_seen, BestSeen(timed[i].row->repetitions));
          ASSERT_EQ(timed[i].time.count(), rows->noise().Of(timed[i].row->repetitions).center);
          ASSERT_EQ(timed[i].logs.size(), timed[i].row->repetitions.size());
          for (std::size_t k = 0; k < timed[i].logs.size(); ++k)
            ASSERT_EQ(timed[i].logs[k], std::log(timed[i].row->repetitions[k].median.count()));
        }
      }
    }
    ASSERT_EQ(rows->environments().size(), 3u);
  }
}

}  // namespace
}  // namespace infimum
