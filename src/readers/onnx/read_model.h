// Reads an ONNX file into a ModelGraph: dimensions bound, stale shapes dropped and inferred anew,
// model-local functions inlined, constants folded, listed rewrites applied, every layer classified.
//
//   ReadOptions options;
//   options.dims["batch"] = 8;
//   Result<ModelGraph> graph = ReadModel("resnet50.onnx", options);
//
// Of weights a sample is looked at: a 100 GB model with external data reads nearly as fast as its graph. The file is
// hostile: sizes, shapes and counts are checked, external data must be in the model's folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "infimum/base/result.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct ReadOptions {
  // Symbolic dimensions by name. A symbol that stays unbound is an error that names it and the option; a
  // name that the model does not have is an error with "did you mean". Beside them numbers that only a run decides
  // (src/core/graph/run_time_quantities.h): "moe.experts".
  std::map<std::string, std::int64_t> dims;
  // What values of f32, f16 and bf16 are stored as instead: the model as it could be. Everything else stays.
  std::optional<DataType> floats = std::nullopt;
  // What constant weights of products are stored as instead, where they are floats (rewrites.h).
  std::optional<DataType> weights = std::nullopt;
  bool apply_rewrites = true;  // fold-channel-constants, fuse-quantized and the like; see rewrites.h
  // An error where the file beside the model that weights lie in is not there; otherwise only their shapes are known
  // then, and a few integers, which may decide a shape, are an error still.
  bool needs_weights = false;
};

Result<ModelGraph> ReadModel(const std::filesystem::path& path, const ReadOptions& options);

// What people call the model of a file: "resnet50" of resnet50.onnx, and of a model.onnx its folder, or the folder's
// where that is "onnx" alone: "Llama-3.2-1B" of Llama-3.2-1B/onnx/model.onnx.
std::string ModelName(const std::filesystem::path& path);

// Of the contents of the files beside a model that its tensors lie in, "+3f0a..." (SHA-256); "+absent 77e1..." where
// not all are there, or may be read. Empty where no tensor lies in one, and of what is no model.
std::string HashOfExternalData(const std::filesystem::path& model);

}  // namespace infimum
