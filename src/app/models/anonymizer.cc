#include "src/app/models/anonymizer.h"

#include <algorithm>
#include <array>

#include "analyzer/alignment/engine_work.h"
#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/onnx/lowering/lower.h"

namespace infimum {

std::string VersionNumber(std::string_view version) {
  const std::size_t end = std::min(version.find_first_not_of("0123456789."), version.size());
  return std::string(version.substr(0, end));
}

namespace {

constexpr std::array kLibraries =
    std::to_array<std::string_view>({"cublas", "cublaslt", "cudnn", "cudnn-graph", "cudnn-legacy", "cusparselt", "fake",
                                     "infimum", "onednn", "onednn-graph"});
// Settings of runs that say how the engine was asked to compute, and nothing of whose it is.
constexpr std::array kSettings = std::to_array<std::string_view>(
    {"batch", "cudnn_conv_algo_search", "cudnn_conv_use_max_workspace", "execution_mode", "graph_optimization_level",
     "inter_op_threads", "intra_op_threads", "mode", "prefer_nhwc", "provider", "session.intra_op.allow_spinning",
     "threads", "warmup"});

std::string FrameworkName(const std::string& framework) {
  return FindFramework(framework) != nullptr ? framework : std::string("engine");
}

// Of a run as a limit: "onnxruntime 1.31.1".
std::string LimitName(const std::string& name) {
  if (name == kDemonstratedName || name == kFloorName) return name;
  const std::size_t space = name.rfind(' ');
  const std::string framework = FrameworkName(name.substr(0, space));
  if (framework == "engine" || space == std::string::npos) return framework;
  return framework + " " + VersionNumber(std::string_view(name).substr(space + 1));
}

}  // namespace

const std::string& Anonymizer::Names::Of(const std::string& name) {
  std::string& renamed = names_[name];
  if (renamed.empty()) renamed = prefix_ + "-" + std::to_string(names_.size());
  return renamed;
}

std::string Anonymizer::Operator(const std::string& op) { return IsKnownOperator(op) ? op : operators_.Of(op); }

void Anonymizer::Rename(Layer& layer, const std::string& name) {
  const bool is_known = IsKnownOperator(layer.op);
  layer.op = Operator(layer.op);
  const std::size_t dot = layer.op.rfind('.');
  layer.name = (dot == std::string::npos ? layer.op : layer.op.substr(dot + 1)) + "-" + name;
  for (std::string& origin : layer.origins) origin = nodes_.Of(origin);
  layer.attributes.clear();
  // Why a layer is free are words of ours; why it is unknown may quote the model.
  if (layer.status == LayerStatus::kUnknown)
    layer.reason = is_known ? "no workload is known for this use" : "no workload is known for custom operators";
  for (SubGraph& body : layer.bodies) {
    body.name = "body";
    if (body.graph != nullptr) RenameBody(*body.graph);
  }
}

// Values are captured by their names: these map alike wherever they stand.
void Anonymizer::RenameBody(ModelGraph& graph) {
  for (std::size_t i = 0; i < graph.layers.size(); ++i) Rename(graph.layers[i], std::to_string(i + 1));
  for (Value& value : graph.values) {
    if (value.name.empty()) continue;
    const auto known = known_values_.find(value.name);
    value.name = known != known_values_.end() ? known->second : values_.Of(value.name);
  }
  graph.name = "model";
  graph.sha256.clear();
  // How many there were stays.
  for (RewritePass& pass : graph.passes)
    for (std::size_t i = 0; i < pass.rewrites.size(); ++i) pass.rewrites[i] = "rewrite " + std::to_string(i + 1);
}

void Anonymizer::Rename(ModelGraph& graph, const std::string& name) {
  for (const ValueId id : graph.inputs)
    known_values_.try_emplace(graph.value(id).name, inputs_.Of(graph.value(id).name));
  for (const ValueId id : graph.outputs)
    known_values_.try_emplace(graph.value(id).name, outputs_.Of(graph.value(id).name));
  std::vector<std::string> own_names;
  for (const Layer& layer : graph.layers) own_names.push_back(layer.name);
  RenameBody(graph);
  graph.name = name;
  LayerNames& known = models_[name];
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const auto [entry, is_new] = known.names.try_emplace(own_names[i], graph.layers[i].name);
    std::string& renamed = entry->second;
    // A layer that only this graph has may stand where another one of the model did.
    for (std::size_t number = known.names.size(); is_new && !known.taken.insert(renamed).second; ++number)
      renamed = renamed.substr(0, renamed.rfind('-') + 1) + std::to_string(number);
    graph.layers[i].name = renamed;
  }
}

void Anonymizer::Rename(Candidate& candidate) {
  if (candidate.library.empty()) return;  // no row stands behind it
  if (candidate.is_observed()) {
    // "onnxruntime-1.31.1"
    const std::size_t dash = candidate.algorithm.rfind('-');
    const std::string framework = FrameworkName(candidate.algorithm.substr(0, dash));
    const std::string_view version =
        dash == std::string::npos ? std::string_view() : std::string_view(candidate.algorithm).substr(dash + 1);
    candidate.algorithm = framework == "engine" ? framework : framework + "-" + VersionNumber(version);
  } else if (!IsOneOf(candidate.library, kLibraries)) {
    candidate.algorithm = candidates_.Of(candidate.name());
    candidate.library = "other";
  }
}

void Anonymizer::Rename(Bracket& bracket) {
  for (LayerLatency& layer : bracket.layers) {
    if (layer.candidate) Rename(*layer.candidate);
    if (layer.choice) Rename(layer.choice->candidate);
  }
  for (RegionLatency& region : bracket.regions) Rename(region.candidate);
  for (ObservedNode& node : bracket.observed) Rename(node.candidate);
  for (WhatIfOutcome& outcome : bracket.what_ifs) {
    // Others name layers or dimensions.
    const auto begins = [&](std::string_view kind) { return outcome.name.starts_with(kind); };
    if (!begins("contract:") && !begins("cache:") && !begins("layout:") && !begins("peak:"))
      outcome.name = what_ifs_.Of(outcome.name);
  }
  bracket.deciders.clear();
  if (bracket.layouts)
    for (PlannedNode& unit : bracket.layouts->nodes) Rename(unit.candidate);
  for (UpperLimit& limit : bracket.upper) limit.name = LimitName(limit.name);
  for (Inversion& inversion : bracket.inversions) inversion.name = LimitName(inversion.name);
}

std::string Anonymizer::OperatorOf(const ProfiledLayer& layer) {
  if (IsKnownOperator(layer.op) || IsOfLibraries(layer.op)) return layer.op;
  std::string plain = PlainOperatorOf(layer);
  return plain.empty() ? operators_.Of(layer.op) : plain;
}

void Anonymizer::Rename(RunProfile& run) {
  run.framework_version = FrameworkName(run.framework) == run.framework ? VersionNumber(run.framework_version) : "";
  run.framework = FrameworkName(run.framework);
  run.model_name = "model";
  run.model_sha256.clear();
  run.dims = Renamed(run.dims);
  if (!FindContract(run.contract)) run.contract.clear();
  std::erase_if(run.settings, [](const auto& setting) {
    return !IsOneOf(setting.first, kSettings) || !IsOfLibraries(setting.second);
  });
  run.warnings.clear();
  const auto rename_all = [&](std::vector<std::string>& names) {
    for (std::string& name : names) {
      const auto known = known_values_.find(name);
      name = DecoratedLike(name, known != known_values_.end() ? known->second : values_.Of(name));
    }
  };
  for (ProfiledLayer& layer : run.layers) {
    layer.op = OperatorOf(layer);
    layer.name = DecoratedLike(layer.name, engine_layers_.Of(layer.name));
    if (!IsOfLibraries(layer.provider)) layer.provider.clear();
    for (std::string& node : layer.nodes) node = nodes_.Of(node);
    rename_all(layer.inputs);
    rename_all(layer.outputs);
    for (std::vector<ProfiledTensor>* tensors : {&layer.input_tensors, &layer.output_tensors}) {
      for (ProfiledTensor& tensor : *tensors) {
        if (!FindDataType(tensor.dtype)) tensor.dtype.clear();
        if (!IsOfLibraries(tensor.layout)) tensor.layout.clear();
      }
    }
    if (!IsOfLibraries(layer.algorithm)) layer.algorithm.clear();
    if (!layer.serves.empty()) layer.serves = nodes_.Of(layer.serves);
  }
}

void Anonymizer::Rename(CandidatesOfModel& candidates) {
  for (WorkloadCandidates& workload : candidates.workloads) {
    for (KnownCandidate& known : workload.candidates) {
      const bool is_known = IsOneOf(known.row.candidate.library, kLibraries);
      Rename(known.row.candidate);
      if (known.row.outcome == Outcome::kFailed || !is_known) known.row.reason.clear();
    }
  }
}

std::map<std::string, std::int64_t> Anonymizer::Renamed(const std::map<std::string, std::int64_t>& dims) {
  std::map<std::string, std::int64_t> renamed;
  for (const auto& [name, extent] : dims) renamed[dims_.Of(name)] = extent;
  return renamed;
}

}  // namespace infimum
