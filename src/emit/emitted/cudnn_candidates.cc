#include "cudnn_candidates.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "cuda_program.h"
#include "cudnn_plans.h"
#include "legacy_call.h"

// The frontend looks up cuDNN, the runtime and the driver by itself (NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING), so that
// this program starts, and says what is missing, where there is no driver.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace cudnn {

void* SymbolOf(const char* name) { return dlsym(fe::cudnn_dlhandle, name); }

namespace {

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

// Under the very names that this program is linked to, so that both are the same libraries.
void OpenLibraries() {
  const std::string runtime = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", runtime.c_str(), 0);
  const std::string name = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
  fe::cudnn_dlhandle = dlopen(name.c_str(), RTLD_NOW);
  if (fe::cudnn_dlhandle == nullptr) throw std::runtime_error(std::string("cuDNN: ") + dlerror());
}

// cuDNN offers engines that it compiles at run time only where it finds a driver, also for a GPU that is described: the
// CUDA toolkit's stub, which can do nothing, is one. A library that is loaded under that name answers for it, so it may
// be there only where nothing is run.
bool OpenDriverOrStub() {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
#ifdef CUDA_STUBS
  if (dlopen(CUDA_STUBS "/libcuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
#endif
  for (const char* folder : {"/usr/local/cuda/lib64/stubs", "/opt/cuda/lib64/stubs"})
    if (dlopen((std::string(folder) + "/libcuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  return false;
}

// This GPU, or the one that a file describes as cuDNN does.
Target OpenTarget(const std::string& properties_file) {
  OpenLibraries();
  Target target;
  if (properties_file.empty()) {
    const cudnnStatus_t status = cudnnCreate(&target.handle);
    if (status != CUDNN_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuDNN cannot be used on this GPU: ") + cudnnGetErrorString(status));
    return target;
  }
  std::ifstream file(properties_file, std::ios::binary);
  const std::string json(std::istreambuf_iterator<char>(file), {});
  if (json.empty()) throw std::runtime_error(properties_file + ": cannot be read");
  const std::string key = "\"deviceVer\"";  // 900: compute capability 9.0
  const std::size_t at = json.find(key), colon = at == std::string::npos ? at : json.find(':', at);
  if (colon == std::string::npos) throw std::runtime_error(properties_file + ": it has no " + key);
  target.sm_version = static_cast<std::int32_t>(std::strtol(json.c_str() + colon + 1, nullptr, 10) / 10);
  target.properties = std::make_shared<fe::DeviceProperties>();
  const fe::error_t error = target.properties->deserialize({json.begin(), json.end()});
  if (error.is_bad()) throw std::runtime_error(properties_file + ": " + MessageOf(error));
  return target;
}

cudaDataType CudaType(fe::DataType_t type) {
  static const std::map<fe::DataType_t, cudaDataType> types {
    {fe::DataType_t::DOUBLE, CUDA_R_64F}, {fe::DataType_t::FLOAT, CUDA_R_32F}, {fe::DataType_t::HALF, CUDA_R_16F},
        {fe::DataType_t::BFLOAT16, CUDA_R_16BF}, {fe::DataType_t::FP8_E4M3, CUDA_R_8F_E4M3},
        {fe::DataType_t::FP8_E5M2, CUDA_R_8F_E5M2}, {fe::DataType_t::INT64, CUDA_R_64I},
        {fe::DataType_t::INT32, CUDA_R_32I}, {fe::DataType_t::INT8, CUDA_R_8I}, {fe::DataType_t::BOOLEAN, CUDA_R_8U},
#if CUDART_VERSION >= 12080
        {fe::DataType_t::FP4_E2M1, CUDA_R_4F_E2M1}, {fe::DataType_t::FP8_E8M0, CUDA_R_8F_UE8M0},
#endif
  };
  const auto known = types.find(type);
  if (known == types.end()) throw std::runtime_error("a tensor of a type that this program has no numbers for");
  return known->second;
}

gpu::Buffer MemoryOf(const fe::graph::Tensor_attributes& tensor) {
  const Dims dims = tensor.get_dim(), strides = tensor.get_stride();
  std::int64_t last = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return gpu::Buffer(gpu::BytesOf(CudaType(tensor.get_data_type()), static_cast<std::size_t>(last) + 1));
}

template <class Launch>
gpu::GpuTimes TakeSamples(const Target& target, const Launch& launch) {
  const gpu::Stream stream;
  const cudnnStatus_t status = cudnnSetStream(target.handle, stream.get());
  if (status != CUDNN_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuDNN does not take the stream: ") + cudnnGetErrorString(status));
  return gpu::TakeGpuSamples(launch, stream.get());
}

// A graph of its own with this plan alone, compiled and bound to memory.
gpu::GpuTimes Measure(const Layer& layer, const Form& form, const std::string& plan, const Target& target) {
  LayerGraph graph(layer.graph, form, target);
  graph.Choose(plan);
  const gpu::Buffer workspace(static_cast<std::size_t>(graph.workspace()));
  std::vector<gpu::Buffer> buffers;
  std::unordered_map<std::int64_t, void*> pointers;
  const auto bind = [&](const TensorPointer& tensor) -> const gpu::Buffer& {
    buffers.push_back(MemoryOf(*tensor));
    pointers[tensor->get_uid()] = buffers.back().data();
    return buffers.back();
  };
  for (std::size_t i = 0; i < layer.graph.tensors.size(); ++i) {
    const TensorPointer& tensor = graph.arguments().tensors[i];
    gpu::FillRandomly(bind(tensor), CudaType(tensor->get_data_type()), layer.graph.tensors[i].low,
                      layer.graph.tensors[i].high, 43 + i);
  }
  for (const TensorPointer& output : graph.arguments().outputs) bind(output);
  return TakeSamples(target, [&](cudaStream_t) { graph.Run(pointers, workspace.data()); });
}

const OperationGraph& LegacyGraph(const Layer& layer) {
  return layer.legacy.operations.empty() ? layer.graph : layer.legacy;
}

// An older call with one of its algorithms. A recurrent layer's weights are one block, which is filled as a whole.
gpu::GpuTimes MeasureLegacy(const Layer& layer, const LegacyWay& way, const Target& target) {
  static const std::map<std::string, cudaDataType> types{{"f64", CUDA_R_64F}, {"f32", CUDA_R_32F},
                                                         {"f16", CUDA_R_16F}, {"bf16", CUDA_R_16BF},
                                                         {"s8", CUDA_R_8I},   {"s32", CUDA_R_32I}};
  const OperationGraph& graph = LegacyGraph(layer);
  const std::unique_ptr<LegacyCall> call = MakeLegacyCall(graph, way, target.handle);
  const gpu::Buffer workspace(call->workspace());
  std::vector<gpu::Buffer> buffers;
  std::vector<void*> pointers;
  const auto bind = [&](std::size_t bytes) {
    buffers.emplace_back(bytes);
    pointers.push_back(buffers.back().data());
  };
  const auto bytes_of = [&](const Dims& dims, const std::string& type) {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    return gpu::BytesOf(types.at(type), count);
  };
  for (const Tensor& tensor : graph.tensors) {
    const bool is_block = call->packed_weights() > 0 && !buffers.empty();
    bind(is_block ? call->packed_weights() : bytes_of(tensor.dims, tensor.type));
    gpu::FillRandomly(buffers.back(), types.at(tensor.type), tensor.low, tensor.high, 42 + buffers.size());
    if (is_block) break;
  }
  bind(bytes_of(graph.operations.back().dims, graph.outputs[0].type));
  return TakeSamples(target, [&](cudaStream_t) { call->Run(pointers, pointers.back(), workspace.data()); });
}

// The first contract of the layer's that the engine may meet; empty where none.
std::string ContractOf(const Layer& layer, const Notes& notes) {
  for (const std::string& contract : layer.contracts)
    if (MayMeet(notes, contract, layer.is_product)) return contract;
  return "";
}

void Add(const gpu::Options& options, const Layer& layer, const Form& form, const std::string& plan,
         const std::string& contract, bool is_choice, const Target& target) {
  gpu::AddBenchmark(options, layer.text, {"cudnn-graph/" + plan + form.suffix, form.layouts, contract, is_choice},
                    [&layer, &form, plan, &target] { return Measure(layer, form, plan, target); });
}

// All that cuDNN offers in this tier. A form that it refuses, or has no plan for, is a benchmark that says so.
void AddOffered(const gpu::Options& options, const Layer& layer, const Target& target, const std::string& without) {
  bool has_any = false;
  if (layer.graph.operations.empty()) return;
  for (const Form& form : layer.forms) {
    const auto refuse = [&](const std::string& contract, const std::string& reason) {
      gpu::AddRefused(options, layer.text, {"cudnn-graph/any" + form.suffix, form.layouts, contract}, reason);
    };
    try {
      LayerGraph graph(layer.graph, form, target);
      const std::vector<Plan> plans = options.tier == gpu::Tier::kHeuristic ? graph.Heuristic()
                                      : options.tier == gpu::Tier::kEngine  ? graph.BestOfEngines()
                                                                            : graph.Exhaustive(gpu::kMostOfAForm);
      if (options.tier == gpu::Tier::kExhaustive && plans.size() >= gpu::kMostOfAForm) {
        std::fprintf(stderr, "cudnn-graph%s %s: the first %zu settings, there may be more\n", form.suffix.c_str(),
                     form.layouts.c_str(), gpu::kMostOfAForm);
      }
      std::vector<std::string> unmet = layer.contracts;
      for (const Plan& plan : plans) {
        const std::string contract = ContractOf(layer, plan.notes);
        if (contract.empty()) continue;
        unmet.erase(std::remove(unmet.begin(), unmet.end(), contract), unmet.end());
        Add(options, layer, form, plan.name, contract, !std::exchange(has_any, true), target);
      }
      for (const std::string& contract : unmet) {
        const std::string none = plans.empty()
                                     ? "no engine of cuDNN takes it on this GPU"
                                     : "all " + std::to_string(plans.size()) + " engines are of other arithmetic";
        refuse(contract, none + (without.empty() ? "" : "; " + without));
      }
    } catch (const std::runtime_error& error) {
      for (const std::string& contract : layer.contracts) refuse(contract, error.what());
    }
    if (options.tier == gpu::Tier::kHeuristic) break;
  }
}

// cuDNN's older calls where one of them computes the layer; which algorithms take it is known when one is made.
// `named`: those of one name, empty: all that the tier has. Whether there was one.
bool AddLegacy(const gpu::Options& options, const Layer& layer, const Target& target, const std::string& named) {
  bool added = false;
  for (const std::string& contract : layer.contracts) {
    bool is_choice = true;
    for (const LegacyWay& way : LegacyWays(LegacyGraph(layer), contract)) {
      const std::string name = "cudnn-legacy/" + way.name;
      const auto form = std::find_if(layer.forms.begin(), layer.forms.end(), [&](const Form& one) {
        return one.suffix.empty() && one.channels_last == way.channels_last;
      });
      const bool is_first = std::exchange(is_choice, false);
      const bool is_in_tier = is_first || options.tier != gpu::Tier::kHeuristic;
      if (form == layer.forms.end() || (named.empty() ? !is_in_tier : named != name)) continue;
      // Of convolutions alone cuDNN chooses an algorithm.
      const bool is_choice_of_library =
          is_first && layer.legacy.operations.empty() && layer.graph.operations[0].call == "conv_fprop";
      gpu::AddBenchmark(options, layer.text, {name, form->layouts, contract, is_choice_of_library},
                        [&layer, way, &target] { return MeasureLegacy(layer, way, target); });
      added = true;
    }
  }
  return added;
}

// Those that were asked for, in every form of their name.
void AddNamed(const gpu::Options& options, const Layer& layer, const Target& target) {
  for (const std::string& name : layer.only) {
    const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
    const std::string plan = name.substr(start, end - start);
    const std::optional<std::int64_t> engine = EngineOf(plan);
    if (AddLegacy(options, layer, target, name)) continue;
    std::string reason = engine ? "no form of this layer is named '" + name.substr(end) + "'"
                                : "it names no plan of cuDNN's, like eng62_k2=5_k13=1";
    if (name.rfind("cudnn-legacy/", 0) == 0) reason = "none of cuDNN's older calls has this name for the layer";
    bool added = false;
    for (const Form& form : layer.forms) {
      if (!engine || layer.graph.operations.empty() || form.suffix != name.substr(end)) continue;
      try {
        const std::optional<Notes> notes = LayerGraph(layer.graph, form, target).NotesOf(*engine);
        const std::string contract = notes ? ContractOf(layer, *notes) : "";
        if (!contract.empty()) {
          Add(options, layer, form, plan, contract, false, target);
          added = true;
        } else {
          reason = notes ? "its arithmetic is other than " + layer.contracts[0] : "this engine does not take the graph";
        }
      } catch (const std::runtime_error& error) {
        reason = error.what();
      }
    }
    if (!added) gpu::AddRefused(options, layer.text, {name, layer.forms[0].layouts, layer.contracts[0]}, reason);
  }
}

}  // namespace

Registration::Registration(Layer layer) { Layers().push_back(std::move(layer)); }

}  // namespace cudnn

std::string LibraryVersion() {
  const std::size_t number = cudnnGetVersion();  // 91900: 9.19.0
  return "cudnn=" + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

void RegisterBenchmarks(const gpu::Options& options) {
  std::string without;
  if (!options.device_properties.empty() && !cudnn::OpenDriverOrStub())
    without =
        "engines that are compiled at run time are missing: there is neither a driver nor the CUDA toolkit's stub";
  if (!without.empty()) std::fprintf(stderr, "%s\n", without.c_str());
  // Kept to the end: at exit the driver may be gone before the handle.
  const auto* const target = new cudnn::Target(cudnn::OpenTarget(options.device_properties));
  for (const cudnn::Layer& layer : cudnn::Layers()) {
    if (layer.only.empty()) {
      cudnn::AddOffered(options, layer, *target, without);
      cudnn::AddLegacy(options, layer, *target, "");
    } else {
      cudnn::AddNamed(options, layer, *target);
    }
  }
}
