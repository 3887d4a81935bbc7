#include "src/planner/replay_forms.h"

#include <algorithm>

#include "src/planner/layer_facts.h"

namespace infimum {
namespace {

bool GrowsByWholeNumbers(const Shape& input, const Shape& output) {
  for (std::size_t i = 0; i < input.rank(); ++i)
    if (output.dims[i] % input.dims[i] != 0) return false;
  return true;
}

// Whether a given scale says what the shapes say. Where an output's extent was rounded, coordinates follow the scale.
bool ScalesAgree(const std::vector<double>& scales, const Shape& input, const Shape& output) {
  if (scales.empty()) return true;
  if (scales.size() != input.rank()) return false;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] * static_cast<double>(input.dims[i]) != static_cast<double>(output.dims[i])) return false;
  }
  return true;
}

}  // namespace

Status CheckResize(const ModelGraph& graph, const Layer& layer) {
  const LayerFacts facts(graph, layer);
  const std::optional<Shape> input = facts.InputShape(0), output = facts.OutputShape(0);
  if (!input || !output || input->rank() != output->rank()) return Error{"its shapes are not known"};
  // Before operator set 11 an element's place is its index divided by the scale.
  const bool is_old = layer.op == "Upsample" || (graph.opset > 0 && graph.opset < 11);
  const std::string mode = facts.TextAttribute("mode").value_or("nearest");
  const std::string coordinates =
      facts.TextAttribute("coordinate_transformation_mode").value_or(is_old ? "asymmetric" : "half_pixel");
  const std::string nearest = facts.TextAttribute("nearest_mode").value_or(is_old ? "floor" : "round_prefer_floor");
  const std::string policy = facts.TextAttribute("keep_aspect_ratio_policy").value_or("stretch");
  for (const char* const name : {"antialias", "exclude_outside"}) {
    if (facts.NumberAttribute(name).value_or(0) != 0) return Error{"its '" + std::string(name) + "' is not 0"};
  }
  if (facts.HasAttribute("axes") || policy != "stretch")
    return Error{"it resizes only some axes, or keeps the aspect ratio"};
  const std::size_t scales_at = is_old ? 1 : 2;
  const bool has_scales = facts.HasInput(scales_at) && facts.InputShape(scales_at) != Shape{{0}};
  const std::optional<std::vector<double>> scales =
      has_scales ? facts.InputNumbers(scales_at) : facts.ListAttribute("scales").value_or(std::vector<double>());
  if (!scales || !ScalesAgree(*scales, *input, *output)) return Error{"its scales do not match its shapes"};
  if (mode == "nearest") {
    const bool from_the_front = coordinates == "asymmetric" && nearest == "floor";
    const bool rounds = coordinates == "half_pixel" && nearest.starts_with("round_");
    if (GrowsByWholeNumbers(*input, *output) && (from_the_front || rounds)) return {};
    return Error{"its rounding to the nearest element is not supported"};
  }
  if (mode == "cubic" && facts.NumberAttribute("cubic_coeff_a").value_or(-0.75) != -0.75) {
    return Error{"its 'cubic_coeff_a' is not -0.75"};
  }
  // PyTorch's differ where a dimension becomes one element.
  const bool shrinks_to_one = std::find(output->dims.begin(), output->dims.end(), 1) != output->dims.end() &&
                              output->rank() > 2 &&
                              *std::min_element(output->dims.begin() + 2, output->dims.end()) == 1;
  if (coordinates != "half_pixel" && (coordinates != "pytorch_half_pixel" || shrinks_to_one))
    return Error{"its 'coordinate_transformation_mode' is '" + coordinates + "'"};
  return {};
}

Status CheckRecurrent(const ModelGraph& graph, const Layer& layer) {
  const LayerFacts facts(graph, layer);
  for (const char* const name : {"clip", "input_forget", "layout"}) {
    if (facts.NumberAttribute(name).value_or(0) != 0) return Error{"its '" + std::string(name) + "' is not 0"};
  }
  if (facts.TextAttribute("direction").value_or("forward") == "reverse") return Error{"it runs in reverse only"};
  // The configuration names a plain RNN's activation and no other.
  if (layer.op != "RNN" && facts.HasAttribute("activations"))
    return Error{"it has other activations than the standard ones"};
  if (layer.op == "RNN" && facts.TextAttribute("direction") == "bidirectional" && facts.HasAttribute("activations")) {
    return Error{"it has activations of its own for each direction"};
  }
  if (facts.HasInput(4)) return Error{"its sequences differ in length"};
  if (facts.HasInput(7)) return Error{"it has peepholes"};
  return {};
}

}  // namespace infimum
