// Gives every dimension of the model's inputs its number, from the file or from the user's `--dim`.
//
//   input 'x' [batch, 3, ?, 224],  dims {batch: 8, x.2: 224}   ->   8x3x224x224
//
// A dimension without number and name is called <input>.<axis>.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/readers/onnx/parse/model_inputs.h"

namespace infimum {

// One type for each of graph.input(), with numbers for all dimensions. Errors name the symbol and the
// option, the nearest known name, or the input and the axis.
Result<std::vector<onnx::TypeProto*>> BindInputs(const onnx::GraphProto& graph,
                                                 const std::map<std::string, std::int64_t>& dims,
                                                 google::protobuf::Arena& arena);

// As ReadModelInputs.
std::vector<DeclaredInput> DeclaredInputs(const onnx::GraphProto& graph);

// The type with numbers for the symbols in `dims`, if all its dimensions have numbers then; else null.
onnx::TypeProto* BoundType(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims,
                           google::protobuf::Arena& arena);

}  // namespace infimum
