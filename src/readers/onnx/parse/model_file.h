// From a file to ONNX's own message: mapped, hashed, and parsed without the payload of its weights.
//
//   Result<ModelFile> file = ModelFile::Open("model.onnx");
//   file->model().graph().node_size()
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "infimum/base/result.h"

namespace infimum {

class ModelFile {
 public:
  static Result<ModelFile> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& sha256() const { return sha256_; }
  onnx::ModelProto& model() { return *model_; }
  const onnx::ModelProto& model() const { return *model_; }
  // Owns the model and whatever else of ONNX's messages is made while it is read.
  google::protobuf::Arena& arena() { return *arena_; }

 private:
  ModelFile() = default;

  std::filesystem::path path_;
  std::string sha256_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  onnx::ModelProto* model_ = nullptr;
};

// The serialized model without the elements of tensors that take more than `largest` bytes; each such
// tensor carries a mark instead (ElidedBytes). Nullopt where the bytes are not what this simple reader
// expects: parse them whole then, for protobuf's verdict.
std::optional<std::string> WithoutPayloads(std::span<const std::byte> model, std::size_t largest);

// How many bytes of elements WithoutPayloads left out of a tensor, if it did.
std::optional<std::int64_t> ElidedBytes(const onnx::TensorProto& tensor);

}  // namespace infimum
