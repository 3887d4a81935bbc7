#include "analyzer/alignment/engine_work.h"

#include <algorithm>
#include <array>

#include "analyzer/alignment/onnxruntime_names.h"

namespace infimum {
namespace {

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

// Transposes that ONNX Runtime adds are called so, with a number.
bool IsAddedTranspose(const ProfiledLayer& layer) {
  return layer.op == "Transpose" && (layer.name == "Transpose" || layer.name.starts_with("Transpose_token_"));
}

// What TensorRT does without a kernel of a node's: where it stands for one, it says so. A NoOp moves nothing.
EngineWork WorkOfTensorRt(std::string_view op) {
  if (op == "Reformat") return EngineWork::kLayoutChange;
  return op == "NoOp" || op == "Shuffle" ? EngineWork::kCopy : EngineWork::kNone;
}

// Of PyTorch what makes no value, or the same value elsewhere; of a trace what no operator started.
EngineWork WorkOfTrace(std::string_view op) {
  if (IsOneOf(op,
              {"aten::copy_",      "aten::to",      "aten::_to_copy",   "aten::contiguous", "aten::clone",
               "aten::reshape",    "aten::view",    "aten::as_strided", "aten::t",          "aten::transpose",
               "aten::permute",    "aten::expand",  "aten::slice",      "aten::select",     "aten::unsqueeze",
               "aten::squeeze",    "aten::flatten", "aten::empty",      "aten::empty_like", "aten::empty_strided",
               "aten::resize_",    "aten::detach",  "aten::item",       "aten::is_nonzero", "aten::_local_scalar_dense",
               "aten::lift_fresh", "aten::unbind",  "aten::split",      "aten::chunk",      "aten::narrow",
               "aten::alias"})) {
    return EngineWork::kCopy;
  }
  if (op.starts_with("Memcpy") || op.starts_with("Memset") || op.starts_with("Copy")) return EngineWork::kCopy;
  const bool turns = op.find("nchwToNhwc") != op.npos || op.find("nhwcToNchw") != op.npos;
  return turns ? EngineWork::kLayoutChange : EngineWork::kNone;
}

}  // namespace

std::string_view Name(EngineWork work) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "layout change", "type change", "copy"};
  return kNames[static_cast<std::size_t>(work)];
}

EngineWork OwnWorkOf(const ProfiledLayer& layer) {
  const std::string_view core = CoreOf(layer.op);
  if (IsOneOf(core, {"ReorderInput", "ReorderOutput"}) || IsAddedTranspose(layer)) return EngineWork::kLayoutChange;
  if (IsOneOf(core, {"MemcpyFromHost", "MemcpyToHost", "Identity"})) return EngineWork::kCopy;
  const bool was_inserted =
      layer.name.starts_with("InsertedPrecisionFreeCast_") || layer.name.starts_with("InsertedCast_");
  if (core == "Cast" && was_inserted) return EngineWork::kTypeChange;
  if (!layer.nodes.empty()) return EngineWork::kNone;
  EngineWork work = WorkOfTensorRt(layer.op);
  if (work == EngineWork::kNone) work = WorkOfTrace(layer.op);
  return work == EngineWork::kNone && !layer.serves.empty() ? EngineWork::kCopy : work;
}

}  // namespace infimum
