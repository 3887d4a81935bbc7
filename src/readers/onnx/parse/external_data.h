// Tensors whose elements lie in files beside the model. A model is untrusted: it must not make us read a
// file outside its folder, nor past a file's end, and nothing is read but small constants.
//
//   ExternalData data("models/gpt2.onnx");
//   Result<std::optional<Tensor>> value = data.Check(tensor, shape);   // error: "... '../secret' lies outside ..."
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "infimum/base/result.h"
#include "src/core/graph/tensor.h"
#include "src/readers/onnx/parse/mapped_file.h"

namespace infimum {

class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path model) : model_(std::move(model)) {}

  // Checks where the elements of `tensor` lie; gives them where they are at most `most_elements`.
  Result<std::optional<Tensor>> Check(const onnx::TensorProto& tensor, const Shape& shape, std::int64_t most_elements);

 private:
  Result<const MappedFile*> Find(const std::string& location);

  std::filesystem::path model_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_;  // by location; mapped, not read
};

}  // namespace infimum
