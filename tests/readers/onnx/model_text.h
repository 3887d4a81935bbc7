// Models written in ONNX's text form, for tests that read like the case they are about.
//
//   ModelGraph graph = ReadText("g (float[N, 3] x) => (float[N, 3] y) { [act] y = Relu (x) }", {{"N", 8}});
//   LayerCalled(graph, "act").status
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "src/readers/onnx/read_model.h"

namespace infimum {

using Dims = std::map<std::string, std::int64_t>;

// A folder of its own that is gone after the test.
class ModelFolder {
 public:
  ModelFolder();
  ~ModelFolder();
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path Write(const std::string& name, const std::string& bytes) const;
  std::filesystem::path Write(const std::string& name, const onnx::ModelProto& model) const;

 private:
  std::filesystem::path path_;
};

// A graph, and behind it functions; importing ONNX's operator set 21, com.microsoft and "custom". A value that
// is declared (<float[4] w>) and written by no node is a weight of zeros. Fails the test and gives an empty
// model where the text is wrong.
onnx::ModelProto ModelOf(const std::string& text, int opset = 21);

Result<ModelGraph> TryRead(const onnx::ModelProto& model, const Dims& dims = {}, bool apply_rewrites = true);
// Fails the test where the model cannot be read or Validate() finds fault with it.
ModelGraph ReadText(const std::string& text, const Dims& dims = {}, int opset = 21, bool apply_rewrites = true);
// The message without the file's name and the colon behind it; "" where the model can be read.
std::string ErrorOf(const onnx::ModelProto& model, const Dims& dims = {});
std::string ErrorOf(const std::string& text, const Dims& dims = {}, int opset = 21);

// Fails the test and gives an empty one where there is none of the name.
const Layer& LayerCalled(const ModelGraph& graph, const std::string& name);
const Value& ValueCalled(const ModelGraph& graph, const std::string& name);
// "f32 8x3", "s64 ?" where the shape is not known.
std::string TypeOf(const ModelGraph& graph, const std::string& value);
// The workload's text, or "free: ..." or "unknown: ...".
std::string Describe(const Layer& layer);

}  // namespace infimum
