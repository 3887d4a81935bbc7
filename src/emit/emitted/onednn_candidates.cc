#include "onednn_candidates.h"

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>

#include "onednn_memory.h"
#include "timing.h"

namespace onednn {
namespace {

std::vector<Layer>& Layers() {
  static std::vector<Layer> layers;
  return layers;
}

dnnl::primitive_desc_base Copy(const dnnl::primitive_desc_base& original) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, original.get()), "could not copy a descriptor");
  return dnnl::primitive_desc_base(copy);
}

struct Candidate {
  std::string name;
  std::string layouts;  // "acdb->acdb"; empty where the primitive sees other shapes than the layer has
  dnnl::primitive_desc_base implementation;
  bool is_fallback = false;
  bool is_library_choice = false;
  std::string refusal{};  // why it is not timed
};

bool ProcessorHas(const char* feature) {
#if defined(__x86_64__)
  const std::string name = feature;
  if (name == "avx2") return __builtin_cpu_supports("avx2") != 0;
  if (name == "vnni" && __builtin_cpu_supports("avx512vnni")) return true;
#if defined(__clang__) || __GNUC__ >= 11
  if (name == "vnni") return __builtin_cpu_supports("avxvnni") != 0;
#endif
#else
  (void)feature;
#endif
  return false;
}

// Plain loops, which may take 1,000 times as long, and kernels for older instruction sets than the processor has. What
// a concatenation calls simple copies whole pieces; nothing better can be asked of it.
bool IsFallback(const dnnl::primitive_desc_base& implementation) {
  const std::string name = implementation.impl_info_str();
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  if (name.rfind("ref", 0) == 0) return true;
  if (name.rfind("simple", 0) == 0) return implementation.get_kind() != dnnl::primitive::kind::concat;
  return ProcessorHas("avx2") && (ends_with(":sse41") || ends_with(":avx"));
}

// Without VNNI, oneDNN's convolutions halve the weights of signed inputs, lest sums of 16 bits overflow: the last bit
// is lost, and the time is one of another problem. A kernel may be for an older processor than there is.
bool LosesPrecision(const Layer& layer, const std::string& prefix, const dnnl::primitive_desc_base& implementation) {
  if (!layer.signed_input) return false;
  const dnnl::primitive::kind kind = implementation.get_kind();
  const bool convolves = kind == dnnl::primitive::kind::convolution || kind == dnnl::primitive::kind::deconvolution;
  if (!convolves && prefix != "convolution-as-matmul/") return false;
  const std::string name = implementation.impl_info_str();
  const std::size_t colon = name.find(':');
  const std::string set = colon == std::string::npos ? "" : name.substr(colon + 1);
  return set == "sse41" || set == "avx" || set == "avx2" || set == "avx512_core" || !ProcessorHas("vnni");
}

memory::desc Wanted(const dnnl::primitive_desc_base& implementation, int argument) {
  return implementation.query_md(dnnl::query::exec_arg_md, argument);
}

// "acdb,abcd->acdb": inputs (row-major ones at the end are left out), then the output.
std::string LayoutsOf(const Layer& layer, const dnnl::primitive_desc_base& implementation) {
  std::string inputs, output, pending;
  for (const Argument& argument : layer.arguments) {
    const std::string name = LayoutName(Wanted(implementation, argument.id));
    if (argument.kind == Argument::Kind::kOutput) output = name;
    if (argument.kind != Argument::Kind::kInput) continue;
    const bool row_major = name == std::string("abcdefghijkl").substr(0, name.size());
    if (inputs.empty() || !row_major) {
      inputs += pending + (inputs.empty() ? "" : ",") + name;
      pending.clear();
    } else {
      pending += "," + name;
    }
  }
  return inputs + "->" + output;
}

// Two that come to the same implementation in the same layouts are one candidate.
std::vector<Candidate> CandidatesOf(const Layer& layer) {
  std::vector<Candidate> candidates;
  std::vector<std::string> identities;
  const auto known = [](const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  for (const Form& form : layer.forms) {
    Implementations implementations;
    try {
      implementations = form.implementations();
    } catch (const dnnl::error&) {
      continue;  // layouts that the library refuses
    }
    const std::size_t star = form.pattern.find('*');
    const std::string prefix = form.pattern.substr(0, star), suffix = form.pattern.substr(star + 1);
    for (const dnnl::primitive_desc_base& implementation : implementations) {
      const std::string info = implementation.impl_info_str();
      std::string identity = prefix + info + LayoutsOf(layer, implementation);
      identity.append(" ").append(LayoutName(Wanted(implementation, DNNL_ARG_WEIGHTS)));
      identity.append(" ").append(LayoutName(Wanted(implementation, DNNL_ARG_SRC_1)));
      if (known(identities, identity)) continue;
      identities.push_back(identity);
      const std::string base = "onednn/" + prefix + info + suffix;
      Candidate candidate{base, "", implementation, IsFallback(implementation),
                          candidates.empty() && form.pattern == "*"};
      const auto taken = [&] {
        return std::any_of(candidates.begin(), candidates.end(),
                           [&](const Candidate& other) { return other.name == candidate.name; });
      };
      for (int number = 2; taken(); ++number) candidate.name = base + "/" + std::to_string(number);
      if (prefix.empty()) candidate.layouts = layer.layouts == "*" ? LayoutsOf(layer, implementation) : layer.layouts;
      if (LosesPrecision(layer, prefix, implementation))
        candidate.refusal = "unsupported: code for processors without VNNI loses a bit of signed inputs";
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

// The primitive with its arguments in memory. Scratch memory is allocated beforehand, so that a launch allocates
// nothing; the C interface spares it a map of arguments.
class Launch {
 public:
  Launch(const Layer& layer, const dnnl::primitive_desc_base& implementation)
      : primitive_(implementation.get()), stream_(Cpu()) {
    std::uint64_t seed = 42;
    for (const Argument& argument : layer.arguments) {
      if (argument.kind == Argument::Kind::kNumbers) {
        Tensor& tensor = Bind(argument.id, Plain({static_cast<memory::dim>(argument.numbers.size())}, argument.type));
        for (std::size_t i = 0; i < argument.numbers.size(); ++i) {
          if (argument.type == memory::data_type::f32) {
            static_cast<float*>(tensor.buffer.data())[i] = argument.numbers[i];
          } else {
            static_cast<std::int32_t*>(tensor.buffer.data())[i] = static_cast<std::int32_t>(argument.numbers[i]);
          }
        }
        continue;
      }
      Tensor& tensor = Bind(argument.id, Wanted(implementation, argument.id));
      if (argument.kind != Argument::Kind::kOutput) FillRandomly(tensor, argument.low, argument.high, ++seed);
    }
    const memory::desc scratchpad = implementation.query_md(dnnl::query::scratchpad_md);
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
    state.counters["library_choice"] = candidate.is_library_choice ? 1 : 0;
  }
}

}  // namespace

// The walk changes a descriptor in place, for all that share it, so each implementation is a copy.
Implementations ImplementationsOf(const dnnl::primitive_desc& description) {
  Implementations found;
  dnnl::primitive_desc walked = description;
  if (!walked) return found;
  do {
    found.push_back(Copy(walked));
  } while (walked.next_impl());
  return found;
}

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
                                        [](const Candidate& candidate) { return !candidate.is_fallback; });
    for (const Candidate& candidate : candidates)
      if (layer.only.empty() && !(candidate.is_fallback && has_better)) chosen.push_back(candidate);
    for (const std::string& name : layer.only) {
      const auto found = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& candidate) { return candidate.name == name; });
      if (found != candidates.end()) {
        chosen.push_back(*found);
      } else {
        chosen.push_back({name,
                          "",
                          {},
                          false,
                          false,
                          "unsupported: not offered by " + where + "; it has " + (offered.empty() ? "none" : offered)});
      }
    }
    if (chosen.empty())
      chosen.push_back({"onednn/any", "", {}, false, false, "unsupported: no implementation in " + where});
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
