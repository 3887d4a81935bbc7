// The inputs that a model's file declares, before symbolic dimensions are bound: to ask for them, or to find them.
//
//   ReadModelInputs("resnet50.onnx")  ->  input f32 [batch, 3, 224, 224]
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"

namespace infimum {

struct DeclaredDimension {
  std::optional<std::int64_t> size;
  std::string symbol;  // where there is no size: its name in ReadOptions::dims, "batch" or <input>.<axis>
};

// A node that reads an input: "Conv", as its operand 0.
struct InputReader {
  std::string op;
  std::size_t operand = 0;
};

struct DeclaredInput {
  std::string name;
  DataType type = DataType::kNone;
  std::vector<DeclaredDimension> dims;
  std::vector<InputReader> readers;  // also of what it is cast to; in the file's order, without those in bodies
};

// Inputs that are tensors with a number of dimensions; those with a default value are left out.
Result<std::vector<DeclaredInput>> ReadModelInputs(const std::filesystem::path& path);

}  // namespace infimum
