// What oneDNN Graph runs as one: a graph of the library's operations, whether it takes the whole of it as one
// partition, and that partition as a Program.
//
//   tensors     0: 1x64x56x56 operand   1: 64x64x3x3 constant operand   2: 1x64x56x56 inner   3: 1x64x56x56 result
//   operations  Convolution(0, 1) -> 2   ReLU(2) -> 3
//   OnlyPartition(graph)                     {Convolution, ReLU}: one partition, which holds both
//   MakePartitionProgram(graph, {&x, &w}, &y)
//
// The library decides what it fuses; that is what this asks. A graph of which it makes several partitions, or which it
// does not support, is an error that begins with "unsupported: " and says so.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "infimum/layer/shape.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/program.h"
#include "oneapi/dnnl/dnnl_graph.hpp"

namespace infimum::cpu {

// A tensor's number is its place in the graph.
struct GraphTensor {
  enum class Role {
    kOperand,   // varies
    kConstant,  // an operand that the library may pack once
    kNumbers,   // a constant of the graph's own, row-major
    kInner,     // between operations
    kResult,
  };
  Role role = Role::kInner;
  Shape shape;  // as the library sees it
  DataType type = DataType::kF32;
  std::vector<float> numbers = {};  // kNumbers
  // Operands and the result: how they lie. `order` is null for row-major memory, however the library sees it.
  dnnl::memory::dims strides = {};
  OrderOf order = nullptr;
};

// Row-major, or with dimension 1 last (operands and results alone).
GraphTensor RowMajorTensor(GraphTensor::Role role, const Shape& shape, DataType type);
GraphTensor ChannelsLastTensor(GraphTensor::Role role, const Shape& shape, DataType type);

struct GraphOperation {
  dnnl::graph::op::kind kind;
  std::vector<std::size_t> inputs;
  std::size_t output = 0;
  std::function<void(dnnl::graph::op&)> set_attributes = nullptr;
};

struct LibraryGraph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphOperation> operations;
};

// As the library has it, finalized; an error where it refuses an operation, a type or a shape.
Result<dnnl::graph::graph> MakeGraph(const LibraryGraph& graph);
Result<dnnl::graph::logical_tensor> LogicalTensor(const LibraryGraph& graph, std::size_t tensor);

// The one partition that holds all operations and is supported.
Result<dnnl::graph::partition> OnlyPartition(const LibraryGraph& graph);

// Whether the library also has code for that partition on this processor.
Status CheckCompiles(const LibraryGraph& graph);

// `operands`: for the tensors of role kOperand and kConstant, in their order. Constants are packed when the program is
// made, and again for each address that Constants() is told to read them at.
MadeProgram MakePartitionProgram(const LibraryGraph& graph, const std::vector<const HostTensor*>& operands,
                                 HostTensor* result);

// Of the operands that vary and the result, those that are not row-major.
std::vector<Placement> PlacementsOf(const LibraryGraph& graph, const std::vector<const HostTensor*>& operands,
                                    const HostTensor* result);

}  // namespace infimum::cpu
