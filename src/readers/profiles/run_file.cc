#include "src/readers/profiles/run_file.h"

#include <fmt/format.h>

#include <fstream>
#include <span>

#include "infimum/base/text.h"
#include "src/core/results/run_json.h"
#include "src/readers/files/input_file.h"
#include "src/readers/files/json_document.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"

namespace infimum {
namespace {

constexpr std::string_view kRunSchema = "infimum.run/1";

constexpr std::size_t kMostDims = 64;
constexpr Limits kThreads{1, 1 << 20};
constexpr Limits kExtents{0, std::int64_t{1} << 40};

// Contents of a file beside the run itself.
struct RunSources {
  std::string profile;                      // the path of the engine's own profile, which has the layers' times
  std::vector<ProfiledLayer> engine_nodes;  // the engine's graph, which has the layers' values
  std::vector<std::size_t> disturbed;       // indices into RunProfile::profiled
};

}  // namespace

static void VisitFields(auto& visit, Like<DeviceIdle> auto& idle) {
  visit("host_us", idle.host);
  visit("launch_us", idle.launch);
  visit("queued_us", idle.queued);
  visit("overlapped_us", idle.overlapped);
}

static void VisitFields(auto& visit, Like<RunProfile> auto& run) {
  visit.Lenient("framework", run.framework);
  visit.Lenient("framework_version", run.framework_version);
  visit.Lenient("model", run.model_name);
  visit.Lenient("model_sha256", run.model_sha256);
  visit.Lenient("dims", run.dims, kExtents);
  visit.Lenient("threads", run.threads, kThreads);
  visit.Lenient("contract", run.contract);
  visit.Lenient("device", run.device);
  visit.Lenient("settings", run.settings);
  visit.Lenient("end_to_end", run.end_to_end);
  visit.Lenient("layers", run.layers);
  visit.Lenient("warnings", run.warnings);
  visit.Sparse("noisy", run.noisy);
  visit.Sparse("profiled_us", run.profiled);
  visit("idle", run.idle);
}

static void VisitFields(auto& visit, Like<RunSources> auto& sources) {
  visit.Sparse("profile", sources.profile);
  visit.Sparse("engine_nodes", sources.engine_nodes);
  visit.Sparse("disturbed", sources.disturbed);
}

namespace {

Status CheckTensors(const RunProfile& run) {
  for (const ProfiledLayer& layer : run.layers) {
    for (const std::vector<ProfiledTensor>* const tensors : {&layer.input_tensors, &layer.output_tensors}) {
      for (const ProfiledTensor& tensor : *tensors) {
        if (tensor.dims.size() <= kMostDims) continue;
        return Error{fmt::format("a tensor of layer {} has {} 'dims', expected at most {}", Quoted(layer.name),
                                 tensor.dims.size(), kMostDims)};
      }
    }
  }
  return {};
}

// The engine's own profile gives the times, the engine's graph the values: joined by node name.
Status ReadProfile(RunSources& sources, RunProfile& run) {
  // A run may come from others: it names what it likes.
  const std::string origin = fmt::format("'profile': {}", Quoted(sources.profile));
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(sources.profile, origin));
  INFIMUM_ASSIGN_OR_RETURN(RunProfile profile, ingest::WithTextOf(file, origin, [&](std::istream& text) {
                             return ReadOnnxRuntimeProfile(text, origin);
                           }));
  run.layers = std::move(profile.layers);
  // The run's own count is of those after the warm-up, of which a short profile may hold more than the share that its
  // reader leaves out.
  const std::size_t inferences = profile.profiled.size();
  if (const std::size_t counted = run.profiled.size(); counted > 0 && counted < inferences) {
    for (ProfiledLayer& layer : run.layers)
      if (layer.samples.size() == inferences)
        layer.samples.erase(layer.samples.begin(), layer.samples.end() - static_cast<std::ptrdiff_t>(counted));
  }
  if (run.profiled.empty()) run.profiled = std::move(profile.profiled);
  if (!run.threads) run.threads = profile.threads;
  run.warnings.insert(run.warnings.end(), profile.warnings.begin(), profile.warnings.end());
  std::map<std::string, ProfiledLayer> nodes;
  for (ProfiledLayer& node : sources.engine_nodes) {
    const std::string name = node.name;
    nodes.emplace(name, std::move(node));
  }
  for (ProfiledLayer& layer : run.layers) {
    const auto found = nodes.find(layer.name);
    if (found == nodes.end()) continue;
    layer.inputs = found->second.inputs;
    layer.outputs = found->second.outputs;
  }
  return {};
}

// Takes out the inferences that other programs disturbed: they, and the layers' times in them, do not describe
// the model. A layer that has no sample for each inference keeps all of its samples.
Status DropDisturbed(std::span<const std::size_t> disturbed, RunProfile& run) {
  std::vector<bool> drops(run.profiled.size());
  for (const std::size_t index : disturbed) {
    if (index >= drops.size()) return Error{"'disturbed' must be a list of indices into 'profiled_us'"};
    drops[index] = true;
  }
  const auto drop_from = [&drops](std::vector<Latency>& samples) {
    if (samples.size() != drops.size()) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (!drops[i]) samples[kept++] = samples[i];
    samples.resize(kept);
  };
  for (ProfiledLayer& layer : run.layers) drop_from(layer.samples);
  drop_from(run.profiled);
  return {};
}

Result<RunProfile> ReadDocument(const Json& document) {
  if (!document.is_object()) return Error{"not a run: not a JSON object"};
  INFIMUM_ASSIGN_OR_RETURN(const std::string schema, TextField(document, "schema"));
  if (schema != kRunSchema) {
    return Error{fmt::format("schema {} is not {}; a newer one needs a newer infimum", Quoted(schema), kRunSchema)};
  }
  RunProfile run;
  INFIMUM_RETURN_IF_ERROR(FromJson(document, "", run));
  INFIMUM_RETURN_IF_ERROR(CheckTensors(run));
  std::erase_if(run.end_to_end, [](const RunRepetition& repetition) { return repetition.samples.empty(); });
  if (run.framework.empty()) return Error{"'framework' is missing"};
  if (run.end_to_end.empty()) return Error{"'end_to_end' has no samples"};
  RunSources sources;
  INFIMUM_RETURN_IF_ERROR(FromJson(document, "", sources));
  if (!sources.profile.empty() && run.layers.empty()) INFIMUM_RETURN_IF_ERROR(ReadProfile(sources, run));
  INFIMUM_RETURN_IF_ERROR(DropDisturbed(sources.disturbed, run));
  return run;
}

}  // namespace

Result<RunProfile> ReadRun(std::istream& input, std::string_view origin) {
  // A run that was measured is short: what is much longer was made to fill the memory.
  constexpr std::uint64_t kMaxRunSize = std::uint64_t{128} << 20;
  ingest::LimitUnpacked(input, kMaxRunSize);
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ingest::ReadWhole(input, origin));
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ingest::ParseDocument(text, origin));
  return Within(std::string(origin), ReadDocument(document));
}

std::string FormatRun(const RunProfile& run) {
  JsonWriter<Json> writer;
  writer("schema", std::string(kRunSchema));
  VisitFields(writer, run);
  return DumpJson(writer.object, 1) + "\n";
}

}  // namespace infimum
