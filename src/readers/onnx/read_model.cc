#include "src/readers/onnx/read_model.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "src/readers/onnx/classification.h"
#include "src/readers/onnx/graph_builder.h"
#include "src/readers/onnx/parse/input_dimensions.h"
#include "src/readers/onnx/parse/model_file.h"
#include "src/readers/onnx/parse/model_inputs.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/shapes/local_functions.h"

namespace infimum {
namespace {

// Layers are made of their values' types only afterwards.
void StoreFloatsAs(DataType type, ModelGraph& graph) {
  for (Value& value : graph.values)
    if (value.type == DataType::kF32 || value.type == DataType::kF16 || value.type == DataType::kBF16)
      value.type = type;
  for (Layer& layer : graph.layers)
    for (SubGraph& body : layer.bodies)
      if (body.graph != nullptr) StoreFloatsAs(type, *body.graph);
}

// Bodies first: a layer's bodies are finished when the layer is looked at.
void Finish(ModelGraph& graph, const ReadOptions& options, const Opsets& opsets) {
  for (Layer& layer : graph.layers)
    for (SubGraph& body : layer.bodies) Finish(*body.graph, options, opsets);
  if (options.apply_rewrites) ApplyRewrites(graph);
  ClassifyLayers(graph, opsets);
}

Result<ModelGraph> Read(ModelFile& file, const ReadOptions& options) {
  INFIMUM_RETURN_IF_ERROR(InlineLocalFunctions(file.model()));
  const onnx::GraphProto& proto = file.model().graph();
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<onnx::TypeProto*> types, BindInputs(proto, options.dims, file.arena()));
  std::vector<KnownValue> arguments(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) arguments[i].type = types[i];

  ReadContext context(file.model(), file.path(), options.dims, file.arena());
  GraphBuilder builder(context, nullptr);
  INFIMUM_RETURN_IF_ERROR(builder.Build(proto, arguments));
  ModelGraph graph = builder.Take();
  graph.sha256 = file.sha256();
  if (options.floats) StoreFloatsAs(*options.floats, graph);
  Finish(graph, options, context.opsets());
  return graph;
}

}  // namespace

Result<ModelGraph> ReadModel(const std::filesystem::path& path, const ReadOptions& options) {
  try {
    INFIMUM_ASSIGN_OR_RETURN(ModelFile file, ModelFile::Open(path));
    Result<ModelGraph> graph = Read(file, options);
    if (!graph.ok()) return Within(path.string(), graph.error());
    return graph;
  } catch (const std::bad_alloc&) {
    return Error{path.string() + ": takes more memory than there is"};
  }
}

Result<std::vector<DeclaredInput>> ReadModelInputs(const std::filesystem::path& path) {
  try {
    INFIMUM_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Open(path));
    return DeclaredInputs(file.model().graph());
  } catch (const std::bad_alloc&) {
    return Error{path.string() + ": takes more memory than there is"};
  }
}

}  // namespace infimum
