#include "src/readers/profiles/tensorrt/tensorrt_metadata.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/profiles/tensorrt/tensorrt_text.h"

namespace infimum::ingest {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;  // setting, value

constexpr std::size_t kLongestValue = 1000;

// A number or text in words; empty for everything else. Files have 8.0 for 8 and lists for versions.
std::string Words(const Json& value) {
  std::string words;
  if (value.is_string()) words = std::string(TrimSpace(value.get_ref<const std::string&>()));
  if (value.is_number_integer()) words = value.dump();
  if (value.is_number_float()) words = FormatNumber(value.get<double>());
  return words.substr(0, kLongestValue);
}

struct Option {
  std::string_view section;
  std::string_view key;
  std::string_view setting;
};

// Sizes and bus width are of no use where the name is known; the identifiers of a single card are left out.
constexpr std::array kOptions = {
    Option{"device_information", "Selected Device", "device_name"},
    Option{"device_information", "SMs", "multiprocessors"},
    Option{"device_information", "Device Global Memory", "device_memory"},
    Option{"build_options", "Precision", "precision"},
    Option{"build_options", "Sparsity", "sparsity"},
    Option{"build_options", "Builder optimization level", "builder_optimization_level"},
    Option{"inference_options", "Input inference shape", "input_shapes"},
    Option{"inference_options", "Input inference shapes", "input_shapes"},
    Option{"inference_options", "Streams", "streams"},
    Option{"inference_options", "Duration", "duration"},
    Option{"inference_options", "CUDA Graph", "cuda_graph"},
    Option{"inference_options", "Data transfers", "data_transfers"},
    Option{"inference_options", "Spin-wait", "spin_wait"},
    Option{"inference_options", "Separate profiling", "separate_profiling"},
};

const Json* Find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void AddMegahertz(const Json* value, double scale, const char* setting, Settings& facts) {
  if (value == nullptr || !value->is_number()) return;
  facts.emplace_back(setting, fmt::format("{:.0f}", value->get<double>() * scale));
}

// "8.6" as a text, and as the number that it became; a whole one lost its zero.
std::string CapabilityOf(const Json& value) {
  if (value.is_number()) return fmt::format("{:.1f}", value.get<double>());
  if (!value.is_array() || value.size() != 2) return Words(value);
  return Words(value[0]) + "." + Words(value[1]);
}

Settings FactsOfSections(const Json& document) {
  Settings facts;
  for (const Option& option : kOptions) {
    const Json* section = Find(document, option.section);
    const Json* value = section != nullptr ? Find(*section, option.key) : nullptr;
    if (value != nullptr) facts.emplace_back(option.setting, Words(*value));
  }
  if (const Json* device = Find(document, "device_information")) {
    if (const Json* capability = Find(*device, "Compute Capability"))
      facts.emplace_back("compute_capability", CapabilityOf(*capability));
    for (const char* key : {"Compute Clock Rate", "Application Compute Clock Rate"})
      AddMegahertz(Find(*device, key), 1e3, "clock_mhz", facts);
    for (const char* key : {"Memory Clock Rate", "Application Memory Clock Rate"})
      AddMegahertz(Find(*device, key), 1e3, "memory_clock_mhz", facts);
  }
  return facts;
}

// Of cuDeviceGetAttribute(), in kilohertz.
Settings FactsOfDevice(const Json& device) {
  Settings facts;
  if (const Json* name = Find(device, "Name")) facts.emplace_back("device_name", Words(*name));
  if (const Json* capability = Find(device, "ComputeCapability"))
    facts.emplace_back("compute_capability", CapabilityOf(*capability));
  if (const Json* count = Find(device, "MULTIPROCESSOR_COUNT")) facts.emplace_back("multiprocessors", Words(*count));
  AddMegahertz(Find(device, "CLOCK_RATE"), 1e-3, "clock_mhz", facts);
  AddMegahertz(Find(device, "MEMORY_CLOCK_RATE"), 1e-3, "memory_clock_mhz", facts);
  if (const Json* version = Find(device, "CUDA_VERSION"); version != nullptr && version->is_array()) {
    std::vector<std::string> numbers;
    for (const Json& number : *version) numbers.push_back(Words(number));
    facts.emplace_back("cuda_version", Join(numbers, ".").substr(0, kLongestValue));
  }
  return facts;
}

}  // namespace

Status AddTensorRtMetadata(std::istream& input, std::string_view origin, RunProfile& run) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseTensorRtText(input, origin));
  // Of several devices the first is the one that ran, unless CUDA_VISIBLE_DEVICES says otherwise, which no file tells.
  const bool is_device = document.is_array() && !document.empty() && document[0].is_object();
  const Settings facts = is_device ? FactsOfDevice(document[0]) : FactsOfSections(document);
  const Json* model_options = Find(document, "model_options");
  if (facts.empty() && model_options == nullptr) {
    return Error{fmt::format("{}: neither a device's properties nor trtexec's options, as TREx writes them", origin)};
  }
  if (is_device && document.size() > 1) {
    run.warnings.push_back(
        fmt::format("{}: has {} devices; the first is taken for the one that ran", origin, document.size()));
  }
  for (const auto& [setting, value] : facts) {
    if (value.empty()) continue;
    const auto [known, added] = run.settings.emplace(setting, value);
    if (added || known->second == value) continue;
    run.warnings.push_back(fmt::format("{}: {} is {}, but {} in another file; are both of one run?", origin, setting,
                                       Quoted(value), Quoted(known->second)));
  }
  if (model_options != nullptr && run.model_name.empty()) {
    if (const Json* model = Find(*model_options, "Model")) {
      std::string path = Words(*model);
      for (char& c : path) c = c == '\\' ? '/' : c;
      run.model_name = std::filesystem::path(path).stem().string();
    }
  }
  return {};
}

}  // namespace infimum::ingest
