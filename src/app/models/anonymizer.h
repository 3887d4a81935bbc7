// A model, its brackets and its runs without the names that their owner gave: for reports that are to be shared.
//
//   layer "secret/block1/conv" (Conv), the 12th  ->  "Conv-12"      input "user_history"  ->  "input-1"
//   layer "x" (com.acme.Blend)                   ->  "custom-1-13", its operator "custom-1"
//   engine layer "secret/block1/conv_nchwc"      ->  "engine-7_nchwc", with its operator where that is a library's word
//
// What stays: shapes, operators that everybody knows, times, devices, names and versions of libraries. Names are
// replaced in the values that texts are made from, not in texts: so align a run first, which needs the true names,
// rename graph, bracket and run by one Anonymizer, and only then let findings, waterfalls and reports be made.
//
//   const RunAlignment aligned = *AlignForGap(model, run, source);
//   Anonymizer anonymizer;
//   anonymizer.Rename(graph);
//   anonymizer.Rename(bracket);
//   anonymizer.Rename(run);
//   const RunGap gap = MakeGap(graph, bracket, run, aligned, is_alike);
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/bracket/bracket.h"
#include "analyzer/rows/workload_candidates.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// "2.5.0" of "2.5.0+acme": who built it is left out.
std::string VersionNumber(std::string_view version);

class Anonymizer {
 public:
  // A model comes before its brackets and runs, so that it has the low numbers. Of its attributes nothing stays. The
  // graphs of one `name` are one model, under several contracts say: a layer is called the same in all of them.
  void Rename(ModelGraph& graph, const std::string& name = "model");
  void Rename(Bracket& bracket);
  // Any number of runs, of one engine or several: one name stays one in all of them. What kernels were called stays
  // where they are libraries' own words.
  void Rename(RunProfile& run);
  // Why something failed may name files: that it failed stays.
  void Rename(CandidatesOfModel& candidates);
  std::map<std::string, std::int64_t> Renamed(const std::map<std::string, std::int64_t>& dims);
  // Of a library that nobody knows "other/candidate-1".
  void Rename(Candidate& candidate);

 private:
  // The same text, the same number.
  class Names {
   public:
    explicit Names(std::string prefix) : prefix_(std::move(prefix)) {}
    const std::string& Of(const std::string& name);

   private:
    std::string prefix_;
    std::map<std::string, std::string> names_;
  };

  // What layers of a model are called by now, by their true names.
  struct LayerNames {
    std::map<std::string, std::string> names;
    std::set<std::string> taken;
  };

  void RenameBody(ModelGraph& graph);
  void Rename(Layer& layer, const std::string& name);
  std::string Operator(const std::string& op);
  std::string OperatorOf(const ProfiledLayer& layer);

  Names inputs_{"input"}, outputs_{"output"}, values_{"value"}, nodes_{"node"}, operators_{"custom"}, dims_{"dim"},
      candidates_{"candidate"}, what_ifs_{"what-if"}, engine_layers_{"engine"};
  std::map<std::string, LayerNames> models_;
  std::map<std::string, std::string> known_values_;
};

}  // namespace infimum
