// Real profiles of ONNX Runtime aligned with their models (shared/data/traces): by the names that they have, and with
// the names hidden, by what the layers do, their shapes and their order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "analyzer/alignment/align_run.h"
#include "infimum/measurement/statistics.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "tests/support/shared_data.h"

namespace infimum::alignment_data_test {
namespace {

const std::filesystem::path kTraces = SharedData("traces");

struct Case {
  const char* model;
  const char* profile;
};

class AlignmentOfRealRuns : public ::testing::TestWithParam<Case> {};

RunProfile WithoutNames(RunProfile run) {
  for (ProfiledLayer& layer : run.layers) {
    layer.name.clear();
    layer.nodes.clear();
    layer.inputs.clear();
    layer.outputs.clear();
  }
  return run;
}

// The row of each engine layer.
std::vector<const AlignedRow*> RowsOf(const Alignment& alignment, std::size_t engine_layers) {
  std::vector<const AlignedRow*> rows(engine_layers, nullptr);
  for (const AlignedRow& row : alignment.rows)
    for (const std::size_t e : row.engine_layers) rows[e] = &row;
  return rows;
}

TEST_P(AlignmentOfRealRuns, ByNameAndWithTheNamesHidden) {
  INFIMUM_NEEDS_DATA(kTraces);
  const Result<ModelGraph> graph = ReadModel(kTraces / "onnx-light" / GetParam().model, ReadOptions{});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::ifstream file(kTraces / "ort" / GetParam().profile);
  const Result<RunProfile> read = ReadOnnxRuntimeProfile(file, GetParam().profile);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const RunProfile& run = *read;

  const Alignment named = AlignRun(*graph, run);
  const Alignment hidden = AlignRun(*graph, WithoutNames(run));
  EXPECT_TRUE(named.unmatched_layers.empty());
  const auto by_name = RowsOf(named, run.layers.size());
  const auto by_order = RowsOf(hidden, run.layers.size());
  Latency all{0}, at_layers{0}, same{0};
  for (std::size_t e = 0; e < run.layers.size(); ++e) {
    const Latency time = Quantile(run.layers[e].samples, 0.5);
    all += time;
    ASSERT_NE(by_name[e], nullptr);
    if (by_name[e]->layers.empty()) continue;
    at_layers += time;
    // The engine says the value that it makes: it is one of the row's.
    const std::string& name = run.layers[e].name;
    if (name.ends_with("_nchwc")) {
      const std::string value = name.substr(0, name.size() - 6);
      const bool makes_it = std::any_of(by_name[e]->layers.begin(), by_name[e]->layers.end(), [&](LayerId id) {
        const Layer& layer = graph->layer(id);
        return std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](const std::optional<ValueId>& output) {
          return output && graph->value(*output).name == value;
        });
      });
      EXPECT_TRUE(makes_it) << name;
    }
    // The largest layer of the row tells what it is.
    const auto largest = [&](const std::vector<LayerId>& of) {
      return *std::max_element(of.begin(), of.end(), [&](LayerId a, LayerId b) {
        return graph->layer(a).work.direct.value < graph->layer(b).work.direct.value;
      });
    };
    if (by_order[e] != nullptr && !by_order[e]->layers.empty() &&
        largest(by_order[e]->layers) == largest(by_name[e]->layers))
      same += time;
  }
  EXPECT_GE(at_layers / all, 0.98);
  EXPECT_GE(same / all, 0.90);
  RecordProperty("aligned", std::to_string(at_layers / all));
  RecordProperty("aligned_without_names", std::to_string(same / all));
  std::printf("%s: %.1f %% by name, %.1f %% with the names hidden\n", GetParam().profile, 100 * (at_layers / all),
              100 * (same / all));
}

INSTANTIATE_TEST_SUITE_P(Ort, AlignmentOfRealRuns,
                         ::testing::Values(Case{"light_resnet50.onnx", "light_resnet50_cpu_opt_all.json"},
                                           Case{"light_squeezenet.onnx", "light_squeezenet_cpu_opt_disabled.json"}));

}  // namespace
}  // namespace infimum::alignment_data_test
