#include "infimum/analyzer/engine_work.h"

#include <algorithm>
#include <array>

#include "analyzer/engine_names.h"

namespace infimum {
namespace {

bool IsOneOf(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

// Transposes that ONNX Runtime adds are called so, with a number.
bool IsAddedTranspose(const ProfiledLayer& layer) {
  return layer.op == "Transpose" && (layer.name == "Transpose" || layer.name.starts_with("Transpose_token_"));
}

// What TensorRT does without a kernel of a node's: where it stands for one, it says so.
EngineWork WorkOfTensorRt(const ProfiledLayer& layer) {
  if (layer.op == "Reformat") return EngineWork::kLayoutChange;
  if (layer.op == "NoOp" || layer.op == "Shuffle") {
    return layer.name.starts_with("Reformatting CopyNode") ? EngineWork::kLayoutChange : EngineWork::kCopy;
  }
  return EngineWork::kNone;
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
  const EngineWork work = WorkOfTensorRt(layer);
  return work == EngineWork::kNone && !layer.serves.empty() ? EngineWork::kCopy : work;
}

}  // namespace infimum
