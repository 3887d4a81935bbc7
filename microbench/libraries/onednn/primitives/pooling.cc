#include "pooling.h"

#include <optional>

namespace onednn {
namespace {

using dnnl::algorithm;

std::optional<algorithm> PoolingAlgorithm(const std::string& kind) {
  if (kind == "max") return algorithm::pooling_max;
  if (kind == "average") return algorithm::pooling_avg_exclude_padding;
  if (kind == "average_with_pad") return algorithm::pooling_avg_include_padding;
  return std::nullopt;  // "max_with_indices": they are flat in ONNX and within the window in oneDNN; no "lp"
}

template <class Layer>
std::vector<Argument> ArgumentsOf(const Layer& layer) {
  return {Input(DNNL_ARG_SRC, 0, Plain(layer.in, layer.dtype.input)),
          Output(DNNL_ARG_DST, Plain(layer.out, layer.dtype.output))};
}

// Dilation as oneDNN counts it (0 is dense); the end that makes its formula give the output that the layer has, since
// ONNX's ceil_mode reaches beyond the padding.
struct PoolingWindows {
  memory::dims dilation, before, after;
};

PoolingWindows WindowsOf(const Pooling& layer) {
  PoolingWindows windows;
  for (std::size_t i = 0; i < layer.kernel.size(); ++i) {
    windows.dilation.push_back(layer.dilation[i] - 1);
    windows.before.push_back(layer.pad[i]);
    windows.after.push_back((layer.out[2 + i] - 1) * layer.stride[i] + layer.dilation[i] * (layer.kernel[i] - 1) + 1 -
                            layer.in[2 + i] - layer.pad[i]);
  }
  return windows;
}

}  // namespace

std::vector<Form> FormsOf(const Pooling& layer) {
  const std::optional<algorithm> kind = PoolingAlgorithm(layer.kind);
  if (!kind || layer.in.size() < 3 || layer.in.size() > 5) return {};
  const PoolingWindows windows = WindowsOf(layer);
  // With the padding in the divisor, what is beyond it must not count.
  for (std::size_t i = 0; i < layer.kernel.size(); ++i)
    if (layer.kind == "average_with_pad" && windows.after[i] > layer.pad[layer.kernel.size() + i]) return {};
  std::vector<Form> forms;
  const auto add = [&](const char* name, Layout input, Layout output) {
    forms.push_back(MakeForm("", name, ArgumentsOf(layer), [=] {
      return dnnl::pooling_forward::primitive_desc(
          Cpu(), dnnl::prop_kind::forward_inference, *kind, input(layer.in, layer.dtype.input),
          output(layer.out, layer.dtype.output), layer.stride, layer.kernel, windows.dilation, windows.before,
          windows.after, PlainAttributes(), /*allow_empty=*/true);
    }));
  };
  add("", Blocked8, Any);
  add("nChw16c", Blocked16, Any);
  add("nhwc", ChannelsLast, ChannelsLast);
  add("nchw", Plain, Plain);
  return forms;
}

std::vector<Form> FormsOf(const Resampling& layer) {
  if (layer.kind != "nearest" && layer.kind != "linear") return {};
  const std::size_t rank = layer.in.size();
  if (rank < 3 || rank > 5 || layer.out.size() != rank) return {};
  if (layer.in[0] != layer.out[0] || layer.in[1] != layer.out[1]) return {};
  const algorithm kind = layer.kind == "nearest" ? algorithm::resampling_nearest : algorithm::resampling_linear;
  std::vector<Form> forms;
  const auto add = [&](const char* name, Layout input, Layout output) {
    forms.push_back(MakeForm("", name, ArgumentsOf(layer), [=] {
      return dnnl::resampling_forward::primitive_desc(
          Cpu(), dnnl::prop_kind::forward_inference, kind, input(layer.in, layer.dtype.input),
          output(layer.out, layer.dtype.output), PlainAttributes(), /*allow_empty=*/true);
    }));
  };
  if (rank == 4) add("", Blocked8, Any);
  add("nhwc", ChannelsLast, ChannelsLast);
  add("nchw", Plain, Plain);
  return forms;
}

}  // namespace onednn
