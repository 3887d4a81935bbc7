// Bricks as stand-alone ONNX files that onnx's checker accepts and a plain ONNX Runtime runs.
//
//   std::vector<BrickSource> models;                                    // one or several
//   INFIMUM_ASSIGN_OR_RETURN(models.emplace_back(), BrickSource::Open("resnet50.onnx", {{"batch", 1}}))
//   CollectBricks(models, {.into = CutInto::kFused}, {})
//     ->  "convolution-3f0a55c1d2e4.onnx", its bytes; once in resnet50, at conv_1; its FLOPs; ...
//
// A brick has the model's nodes: those that rewrites made part of its layers, too, and those that make constants for
// them. Its inputs are the values from outside, with static shapes; its outputs those that are read outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/synth/bricks.h"

namespace infimum::synth {

// Without either weights are made at load: ConstantOfShape. Constants that decide shapes, and others of few elements,
// are the model's own in any case.
struct BrickOptions {
  std::optional<std::uint64_t> seed = {};  // stored, random: by the weight's name in the model, so alike in all bricks
  bool own_weights = false;                // stored as in the model
  bool anonymize = false;                  // no name, text or metadata of the model
};

class BrickSource {
 public:
  static Result<BrickSource> Open(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& dims);
  BrickSource(BrickSource&&) noexcept;
  ~BrickSource();

  const std::string& name() const;  // of its file
  const ModelGraph& graph() const;
  // The serialized model. The error says why the piece cannot stand alone.
  Result<std::string> Make(const Piece& piece, const BrickOptions& options) const;

  struct Content;

 private:
  explicit BrickSource(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

struct BrickUse {
  std::size_t model = 0;
  std::int64_t count = 0;
  std::vector<std::string> layers;  // names, of the first time
};

// What has the same text in whichever model: one brick.
struct Brick {
  std::string name;  // of its file without the extension, by its text alone
  std::string text;
  Flops flops;
  Bytes moved;
  std::vector<BrickUse> uses;  // one for each model that has it
  std::string file;            // serialized, as it is in the first model that has it; empty:
  std::string left_out;        // why there is none

  std::int64_t count() const;
};

// In the order in which they first occur. An error where no model has `cut.layer`.
Result<std::vector<Brick>> CollectBricks(const std::vector<BrickSource>& models, const Cut& cut,
                                         const BrickOptions& options);

}  // namespace infimum::synth
