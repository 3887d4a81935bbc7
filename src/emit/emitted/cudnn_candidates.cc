#include "cudnn_candidates.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cuda_program.h"
#include "cudnn_plans.h"

namespace cudnn {
namespace {

using gpu::Unsupported;

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

// Products in f32: an engine of the Tensor Cores keeps 10 bits of an operand's mantissa.
bool MayMeet(const Layer& layer, const Notes& notes, const std::string& contract) {
  const bool cuts_operands = notes.tensor_core || notes.down_converts_inputs;
  if (layer.is_product && contract == "strict-f32") return !cuts_operands && !notes.reduced_precision_sums;
  if (layer.is_product && contract == "tf32") return cuts_operands;
  return true;
}

cudaDataType CudaType(fe::DataType_t type) {
  switch (type) {
    case fe::DataType_t::DOUBLE:
      return CUDA_R_64F;
    case fe::DataType_t::FLOAT:
      return CUDA_R_32F;
    case fe::DataType_t::HALF:
      return CUDA_R_16F;
    case fe::DataType_t::BFLOAT16:
      return CUDA_R_16BF;
    case fe::DataType_t::FP8_E4M3:
      return CUDA_R_8F_E4M3;
    case fe::DataType_t::FP8_E5M2:
      return CUDA_R_8F_E5M2;
    case fe::DataType_t::INT64:
      return CUDA_R_64I;
    case fe::DataType_t::INT32:
      return CUDA_R_32I;
    case fe::DataType_t::INT8:
      return CUDA_R_8I;
    case fe::DataType_t::BOOLEAN:
      return CUDA_R_8U;
    default:
      throw std::runtime_error("a tensor of a type that this program has no numbers for");
  }
}

gpu::Buffer MemoryOf(const fe::graph::Tensor_attributes& tensor) {
  const Dims dims = tensor.get_dim(), strides = tensor.get_stride();
  std::int64_t last = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  unsigned char number[8];
  return gpu::Buffer((static_cast<std::size_t>(last) + 1) * gpu::Encode(CudaType(tensor.get_data_type()), 0, number));
}

// A graph of its own with this plan alone, compiled and bound to memory.
gpu::GpuTimes Measure(const Layer& layer, const Form& form, const Plan& plan, const Target& target) {
  LayerGraph graph(layer, form, target);
  std::int64_t index = 0;
  try {
    index = graph.Make(plan);
    Check(graph.build_plan_at_index(index), "the plan is refused");
  } catch (const std::runtime_error& error) {
    throw Unsupported(error.what());
  }
  std::int64_t workspace_bytes = 0;
  Check(graph.get_workspace_size_plan_at_index(index, workspace_bytes), "no size of the workspace");
  const gpu::Buffer workspace(static_cast<std::size_t>(workspace_bytes));

  std::vector<gpu::Buffer> buffers;
  std::unordered_map<std::int64_t, void*> pointers;
  const auto bind = [&](const TensorPointer& tensor) -> const gpu::Buffer& {
    buffers.push_back(MemoryOf(*tensor));
    pointers[tensor->get_uid()] = buffers.back().data();
    return buffers.back();
  };
  std::uint64_t seed = 42;
  for (const Input& input : graph.arguments().inputs)
    gpu::FillRandomly(bind(input.tensor), CudaType(input.tensor->get_data_type()), input.low, input.high, ++seed);
  for (const TensorPointer& output : graph.arguments().outputs) bind(output);

  const gpu::Stream stream;
  Check(cudnnSetStream(target.handle(), stream.get()), "cudnnSetStream");
  return gpu::TakeGpuSamples(
      [&](cudaStream_t) {
        Check(graph.execute_plan_at_index(target.handle(), pointers, workspace.data(), index), "the launch failed");
      },
      stream.get());
}

// The first contract of the layer's that the engine may meet; empty where none.
std::string ContractOf(const Layer& layer, const Notes& notes) {
  for (const std::string& contract : layer.contracts)
    if (MayMeet(layer, notes, contract)) return contract;
  return "";
}

void Add(const gpu::Options& options, const Layer& layer, const Form& form, const Plan& plan,
         const std::string& contract, bool is_choice, const Target& target) {
  gpu::AddBenchmark(options, layer.text, {"cudnn-graph/" + plan.name + form.suffix, form.layouts, contract, is_choice},
                    [&layer, &form, plan, &target] { return Measure(layer, form, plan, target); });
}

// All that cuDNN offers in this tier. A form that it refuses, or has no plan for, is a benchmark that says so.
void AddOffered(const gpu::Options& options, const Layer& layer, const Target& target) {
  bool has_any = false;
  for (const Form& form : layer.forms) {
    const auto refuse = [&](const std::string& contract, const std::string& reason) {
      gpu::AddRefused(options, layer.text, {"cudnn-graph/any" + form.suffix, form.layouts, contract}, reason);
    };
    try {
      LayerGraph graph(layer, form, target);
      const std::vector<Plan> plans = options.tier == gpu::Tier::kHeuristic ? graph.Heuristic()
                                      : options.tier == gpu::Tier::kEngine  ? graph.BestOfEngines()
                                                                            : graph.Exhaustive(gpu::kMostOfAForm);
      if (options.tier == gpu::Tier::kExhaustive && plans.size() >= gpu::kMostOfAForm) {
        std::fprintf(stderr, "cudnn-graph%s %s: the first %zu settings, there may be more\n", form.suffix.c_str(),
                     form.layouts.c_str(), gpu::kMostOfAForm);
      }
      std::vector<std::string> unmet = layer.contracts;
      for (const Plan& plan : plans) {
        const std::string contract = ContractOf(layer, *graph.NotesOf(plan.engine));
        if (contract.empty()) continue;
        unmet.erase(std::remove(unmet.begin(), unmet.end(), contract), unmet.end());
        Add(options, layer, form, plan, contract, !std::exchange(has_any, true), target);
      }
      for (const std::string& contract : unmet) {
        const std::string none = plans.empty()
                                     ? "no engine of cuDNN takes it on this GPU"
                                     : "all " + std::to_string(plans.size()) + " engines are of other arithmetic";
        refuse(contract, none + (target.without().empty() ? "" : "; " + target.without()));
      }
    } catch (const std::runtime_error& error) {
      for (const std::string& contract : layer.contracts) refuse(contract, error.what());
    }
    if (options.tier == gpu::Tier::kHeuristic) break;
  }
}

// Those that were asked for, in every form of their name.
void AddNamed(const gpu::Options& options, const Layer& layer, const Target& target) {
  for (const std::string& name : layer.only) {
    const std::size_t start = name.find('/') + 1, end = std::min(name.find('/', start), name.size());
    const std::optional<Plan> plan = ParsePlan(name.substr(start, end - start));
    std::string reason = plan ? "no form of this layer is named '" + name.substr(end) + "'"
                              : "its name is none of a plan of cuDNN's, which are like eng62_k2=5_k13=1";
    bool added = false;
    for (const Form& form : layer.forms) {
      if (!plan || form.suffix != name.substr(end)) continue;
      try {
        const std::optional<Notes> notes = LayerGraph(layer, form, target).NotesOf(plan->engine);
        const std::string contract = notes ? ContractOf(layer, *notes) : "";
        if (!contract.empty()) {
          Add(options, layer, form, *plan, contract, false, target);
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
  // Kept to the end: at exit the driver may be gone before the handle.
  const auto* const target = new cudnn::Target(options.device_properties);
  if (!target->without().empty()) std::fprintf(stderr, "%s\n", target->without().c_str());
  for (const cudnn::Layer& layer : cudnn::Layers()) {
    if (layer.only.empty()) {
      cudnn::AddOffered(options, layer, *target);
    } else {
      cudnn::AddNamed(options, layer, *target);
    }
  }
}
