#include "onednn_candidates.h"

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>

#include "onednn_memory.h"
#include "product.h"
#include "timing.h"

namespace onednn {
namespace {

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

struct Candidate {
  std::string name;
  std::string layouts;  // "acdb->acdb"; empty where the primitive sees other shapes than the layer has
  Implementation implementation{};
  std::string refusal{};  // why it is not timed
};

// Why it is not timed; empty where it is. Blocked products of signed inputs overflow as unsigned ones do; else they
// lose a bit in the forms of a convolution, and in those of a matrix product that are convolutions.
std::string RefusalOf(const Layer& layer, const Implementation& implementation) {
  if (!(layer.signed_input || layer.sums_bytes) || !LacksVnni(implementation.algorithm)) return "";
  if (layer.sums_bytes || implementation.algorithm.rfind("brg:avx512_core", 0) == 0)
    return "unsupported: code for processors without VNNI adds products of bytes in 16 bits, which overflow";
  const dnnl::primitive::kind kind = implementation.description.get_kind();
  const bool convolves = kind == dnnl::primitive::kind::convolution || kind == dnnl::primitive::kind::deconvolution;
  if (!convolves && implementation.algorithm.rfind("convolution-as-matmul/", 0) != 0) return "";
  return "unsupported: code for processors without VNNI loses a bit of signed inputs";
}

// "acdb,abcd->acdb": inputs (row-major ones at the end are left out), then the output.
std::string LayoutsOf(const Implementation& implementation) {
  std::string inputs, pending;
  for (const Argument& argument : implementation.arguments) {
    if (!argument.declares || argument.kind != Argument::Kind::kInput) continue;
    const memory::desc wanted = implementation.Wanted(argument.id);
    const std::string name = (inputs.empty() ? "" : ",") + DeclaredLayout(wanted);
    pending += name;
    if (!inputs.empty() && IsRowMajor(wanted)) continue;
    inputs += pending;
    pending.clear();
  }
  return inputs + "->" + DeclaredLayout(implementation.Wanted(implementation.output().id));
}

std::vector<Candidate> CandidatesOf(const Layer& layer) {
  std::vector<Candidate> candidates;
  std::vector<Implementation> implementations;
  try {
    implementations = ImplementationsOf(layer.forms());
  } catch (const dnnl::error&) {  // tensors that the library refuses to describe
  }
  for (const Implementation& implementation : implementations) {
    Candidate candidate{"onednn/" + implementation.algorithm, "", implementation};
    if (implementation.prefix.empty())
      candidate.layouts = layer.layouts == "*" ? LayoutsOf(implementation) : layer.layouts;
    candidate.refusal = RefusalOf(layer, implementation);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// The primitive with its arguments in memory. Scratch memory is allocated beforehand, so that a launch allocates
// nothing; the C interface spares it a map of arguments.
class Launch {
 public:
  Launch(const Layer& layer, const Implementation& implementation)
      : primitive_(implementation.description.get()), stream_(Cpu()) {
    std::uint64_t seed = 42;
    for (const Argument& argument : implementation.arguments) {
      if (argument.kind == Argument::Kind::kNumbers) {
        BindNumbers(argument);
        continue;
      }
      Tensor& tensor = Bind(argument.id, implementation.Wanted(argument.id));
      if (argument.kind == Argument::Kind::kOutput) continue;
      const Range range = layer.ranges[argument.operand];
      FillRandomly(tensor, range.low, range.high, ++seed);
    }
    const memory::desc scratchpad = implementation.description.query_md(dnnl::query::scratchpad_md);
    if (!scratchpad.is_zero() && scratchpad.get_size() > 0) Bind(DNNL_ARG_SCRATCHPAD, scratchpad);
  }

  void operator()() const {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data()),
        "execution failed");
  }

 private:
  Tensor& Bind(int id, const memory::desc& desc) {
    tensors_.emplace_back(desc);
    arguments_.push_back({id, tensors_.back().bound.get()});
    return tensors_.back();
  }

  void BindNumbers(const Argument& argument) {
    const auto count = static_cast<memory::dim>(argument.numbers.size());
    const memory::data_type type = argument.integers() ? memory::data_type::s32 : memory::data_type::f32;
    void* const data = Bind(argument.id, Plain({count}, type)).buffer.data();
    for (std::size_t i = 0; i < argument.numbers.size(); ++i) {
      if (argument.integers()) {
        static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(argument.numbers[i]);
      } else {
        static_cast<float*>(data)[i] = argument.numbers[i];
      }
    }
  }

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::deque<Tensor> tensors_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

void Run(const Layer& layer, const Candidate& candidate, benchmark::State& state) {
  state.SetLabel(candidate.name + (candidate.layouts.empty() ? "" : " " + candidate.layouts));
  std::string refusal = candidate.refusal;
  std::optional<Launch> launch;
  try {
    if (refusal.empty()) launch.emplace(layer, candidate.implementation);
  } catch (const std::exception& error) {  // of oneDNN, or memory ran out
    refusal = "oneDNN " + Version() + ": " + error.what();
  }
  for (auto _ : state) {
    if (!refusal.empty()) {
      state.SkipWithError(refusal.c_str());
      break;
    }
    Report(TakeSamples(*launch), state);
    state.counters["library_choice"] = candidate.implementation.library_choice ? 1 : 0;
  }
}

}  // namespace

Registration::Registration(Layer layer) { Layers().push_back(std::move(layer)); }

std::string Version() {
  const dnnl_version_t* const version = dnnl_version();
  const std::string runtime = version->cpu_runtime == DNNL_RUNTIME_OMP   ? "omp"
                              : version->cpu_runtime == DNNL_RUNTIME_TBB ? "tbb"
                              : version->cpu_runtime == DNNL_RUNTIME_SEQ ? "sequential"
                                                                         : "threadpool";
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch) +
         " " + runtime;
}

void RegisterBenchmarks() {
  for (const Layer& layer : Layers()) {
    std::vector<Candidate> candidates = CandidatesOf(layer);
    std::string offered;
    for (const Candidate& candidate : candidates) offered += (offered.empty() ? "" : ", ") + candidate.name;
    const std::string where = "oneDNN " + Version() + " on this processor";
    std::vector<Candidate> chosen;
    const bool has_better = std::any_of(candidates.begin(), candidates.end(),
                                        [](const Candidate& candidate) { return !candidate.implementation.fallback; });
    for (const Candidate& candidate : candidates)
      if (layer.only.empty() && !(candidate.implementation.fallback && has_better)) chosen.push_back(candidate);
    for (const std::string& name : layer.only) {
      const auto found = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& candidate) { return candidate.name == name; });
      if (found != candidates.end()) {
        chosen.push_back(*found);
      } else {
        chosen.push_back({name,
                          "",
                          {},
                          "unsupported: not offered by " + where + "; it has " + (offered.empty() ? "none" : offered)});
      }
    }
    if (chosen.empty()) chosen.push_back({"onednn/any", "", {}, "unsupported: no implementation in " + where});
    for (const Candidate& candidate : chosen) {
      benchmark::RegisterBenchmark((layer.text + "/" + candidate.name).c_str(),
                                   [&layer, candidate](benchmark::State& state) { Run(layer, candidate, state); })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace onednn
