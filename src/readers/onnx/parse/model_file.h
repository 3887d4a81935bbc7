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
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "src/core/graph/tensor.h"

namespace infimum {

// A file as read-only memory, so that a model of gigabytes is not copied, and read only where it is used.
//
//   Result<MappedFile> file = MappedFile::Open("model.onnx");
//   file->bytes().size()

class MappedFile {
 public:
  // Errors name what the file is instead ("is a folder", "no such file"). The file must not shrink while
  // it is mapped: like every reader of mapped files, we would be stopped by the system.
  static Result<MappedFile> Open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

// The message of an exception of ONNX's library for an error of ours: one line, without its tag, full stop and
// control characters, which come from names in the model.
//
//   MessageLine("[ShapeInferenceError] (op_type:Conv):\n  bad.")  ->  "(op_type:Conv): bad"

std::string MessageLine(std::string_view message);

// The elements of a tensor outside of its message. `field` of TensorProto says how they are written: raw_data, or the
// packed numbers of a typed field.
struct StoredElements {
  std::span<const std::byte> bytes;
  int field = onnx::TensorProto::kRawDataFieldNumber;
};

class ModelFile {
 public:
  static Result<ModelFile> Open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& sha256() const { return sha256_; }
  onnx::ModelProto& model() { return *model_; }
  const onnx::ModelProto& model() const { return *model_; }
  // What was left out of a tensor's message; empty where nothing was, or more than one field.
  StoredElements ElementsOf(const onnx::TensorProto& tensor) const;
  // Owns the model and whatever else of ONNX's messages is made while it is read.
  google::protobuf::Arena& arena() { return *arena_; }

 private:
  ModelFile() = default;

  std::filesystem::path path_;
  std::string sha256_;
  std::optional<MappedFile> mapped_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  onnx::ModelProto* model_ = nullptr;
};

// The serialized model without the elements of tensors that take more than `largest` bytes; each such
// tensor carries a mark instead (ElidedOf). Nullopt where the bytes are not what this simple reader
// expects: parse them whole then, for protobuf's verdict.
std::optional<std::string> WithoutPayloads(std::span<const std::byte> model, std::size_t largest);

// The elements that WithoutPayloads left out of a tensor, if it did: how many bytes, of which field (0: of several),
// and where in the file. A mark may be forged: nothing says that the place exists.
struct Elided {
  std::int64_t bytes = 0, field = 0, offset = 0;
};
std::optional<Elided> ElidedOf(const onnx::TensorProto& tensor);

// Tensors whose elements are in files beside the model. A model is untrusted: it must not make us read a
// file outside its folder, nor past a file's end, and nothing is read but small constants and samples.
//
//   ExternalData data("models/gpt2.onnx");
//   Result<std::span<const std::byte>> bytes = data.Check(tensor, shape);   // error: "... '../secret' is outside ..."

// Of a tensor that lies beside the model: "location", "offset" or "length"; empty where it does not say.
std::string ExternalEntry(const onnx::TensorProto& tensor, std::string_view key);

class ExternalData {
 public:
  // `may_be_absent`: of a file that is not there the elements are empty.
  explicit ExternalData(std::filesystem::path model, bool may_be_absent = false)
      : model_(std::move(model)), may_be_absent_(may_be_absent) {}

  // Where a location's file is; an error where there is none that may be read.
  Result<std::filesystem::path> PathOf(const std::string& location) const;

  // Checks the place of the elements of `tensor`, and where they are; empty for types that are none of ours.
  Result<std::span<const std::byte>> Check(const onnx::TensorProto& tensor, const Shape& shape);

 private:
  Result<const MappedFile*> Find(const std::string& location);

  std::filesystem::path model_;
  bool may_be_absent_;
  std::map<std::string, std::unique_ptr<MappedFile>> files_;  // by location; mapped, not read
};

}  // namespace infimum
