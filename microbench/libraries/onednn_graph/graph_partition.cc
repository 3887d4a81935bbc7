#include "microbench/libraries/onednn_graph/graph_partition.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "microbench/libraries/onednn_graph/graph_engine.h"
#include "oneapi/dnnl/dnnl_graph.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

using dnnl::graph::logical_tensor;
using Role = GraphTensor::Role;

// Copies of a program's constants that it may be told to read: each is compiled, and packed by a run, some
// milliseconds. More than a campaign would wait for, or a worker's time limit allow, is refused at once.
constexpr std::size_t kMostCopies = 512;

// The library's own errors, and what escapes from inside it.
template <class Function>
auto GuardedGraph(Function&& function) -> decltype(function()) {
  try {
    return Guarded(function);
  } catch (const std::exception& error) {
    return Error{std::string("oneDNN Graph: ") + error.what()};
  }
}

bool IsBound(const GraphTensor& tensor) { return tensor.role == Role::kOperand || tensor.role == Role::kConstant; }

Result<logical_tensor::data_type> GraphType(DataType type) {
  switch (type) {
    case DataType::kF32:
      return logical_tensor::data_type::f32;
    case DataType::kF16:
      return logical_tensor::data_type::f16;
    case DataType::kBF16:
      return logical_tensor::data_type::bf16;
    default:
      return Error{"unsupported: not a type of oneDNN Graph's floating point operations"};
  }
}

logical_tensor Described(const LibraryGraph& graph, std::size_t number) { return LogicalTensor(graph, number).value(); }

// The partition's ports, each once: a tensor that two operations read may have two.
std::vector<logical_tensor> PortsOf(const LibraryGraph& graph, const std::vector<logical_tensor>& ports) {
  std::vector<logical_tensor> result;
  for (const logical_tensor& port : ports) {
    const auto same = [&](const logical_tensor& other) { return other.get_id() == port.get_id(); };
    if (std::ranges::none_of(result, same)) result.push_back(Described(graph, port.get_id()));
  }
  return result;
}

// A partition compiled, with its arguments at certain addresses.
struct Instance {
  std::vector<void*> constants;
  dnnl::graph::compiled_partition compiled;
  std::vector<dnnl::graph::tensor> tensors;
  std::vector<const_dnnl_graph_tensor_t> inputs, outputs;
  std::size_t packed_blocks = 0;  // that the library kept after its first run

  Status Run(dnnl_stream_t stream) {
    const dnnl_status_t status = dnnl_graph_compiled_partition_execute(compiled.get(), stream, inputs.size(),
                                                                       inputs.data(), outputs.size(), outputs.data());
    if (status != dnnl_success) return Error{"oneDNN Graph: execution failed with status " + std::to_string(status)};
    return {};
  }
};

class PartitionProgram : public Program {
 public:
  PartitionProgram() = default;
  PartitionProgram(const PartitionProgram&) = delete;
  PartitionProgram& operator=(const PartitionProgram&) = delete;
  ~PartitionProgram() override {
    instances_.clear();
    ReleaseGraphMemory();
  }

  Status Prepare(const LibraryGraph& graph, const std::vector<const HostTensor*>& operands, HostTensor* result) {
    graph_ = graph;
    data_.resize(graph_.tensors.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const GraphTensor& tensor = graph_.tensors[i];
      if (tensor.role == Role::kNumbers) INFIMUM_RETURN_IF_ERROR(MakeNumbers(i));
      if (tensor.role == Role::kResult) INFIMUM_RETURN_IF_ERROR(BindResult(i, *result));
      if (!IsBound(tensor)) continue;
      INFIMUM_RETURN_IF_ERROR(BindOperand(i, *operands[next++]));
    }
    INFIMUM_RETURN_IF_ERROR(Pack());
    return GuardedGraph([&]() -> Status {
      stream_ = dnnl::stream(GraphEngine());
      wanted_ = ConstantData();
      return Switch();
    });
  }

  Status Run() override {
    if (current_ == nullptr) return broken_;
    return GuardedGraph([&]() -> Status { return current_->Run(stream_.get()); });
  }

  Status Pack() override {
    for (PlacedTensor& input : inputs_) INFIMUM_RETURN_IF_ERROR(input.Pack());
    return {};
  }
  Status Unpack() override { return result_.Unpack(); }
  bool in_place() const override {
    return !result_.is_copy() &&
           std::ranges::none_of(inputs_, [](const PlacedTensor& input) { return input.is_copy(); });
  }
  Bytes footprint() const override { return footprint_; }

  // The constants as they came: those that the library packs are packed anew for each address, those that it reads as
  // they are it reads there. Either way it is as many bytes, packing's padding aside, that come from elsewhere.
  std::vector<ConstantBlock> Constants() override {
    std::vector<ConstantBlock> blocks;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const bool last = i + 1 == constants_.size();
      ConstantBlock block{data_[constants_[i]], constant_bytes_[i], nullptr};
      block.most_copies = kMostCopies;
      block.use = [this, i, last](void* there) {
        wanted_[i] = there;
        if (!last || (current_ != nullptr && current_->constants == wanted_)) return;
        Status status = GuardedGraph([&]() -> Status { return Switch(); });
        if (!status.ok()) broken_ = std::move(status);
      };
      if (last) {
        block.forget = [this](void* there) {
          const auto found = instances_.find(there);
          if (found == instances_.end() || &found->second == current_) return;
          instances_.erase(found);
        };
      }
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

 private:
  Status MakeNumbers(std::size_t number) {
    const GraphTensor& tensor = graph_.tensors[number];
    INFIMUM_ASSIGN_OR_RETURN(HostTensor made, HostTensor::Make(tensor.shape, tensor.type));
    for (std::int64_t i = 0; i < made.count(); ++i) made.Set(i, tensor.numbers[static_cast<std::size_t>(i)]);
    data_[number] = made.data();
    owned_.push_back(std::move(made));
    return {};
  }

  Status BindOperand(std::size_t number, const HostTensor& tensor) {
    footprint_ += Bytes{static_cast<std::int64_t>(tensor.bytes())};
    data_[number] = tensor.data();
    if (graph_.tensors[number].role == Role::kConstant) {
      constants_.push_back(number);
      constant_bytes_.push_back(tensor.bytes());
      return {};
    }
    PlacedTensor& input = inputs_.emplace_back();
    INFIMUM_RETURN_IF_ERROR(input.Prepare(tensor, graph_.tensors[number].order));
    data_[number] = input.data();
    return {};
  }

  Status BindResult(std::size_t number, HostTensor& tensor) {
    footprint_ += Bytes{static_cast<std::int64_t>(tensor.bytes())};
    result_bytes_ = tensor.bytes();
    INFIMUM_RETURN_IF_ERROR(result_.Prepare(tensor, graph_.tensors[number].order));
    data_[number] = result_.data();
    return {};
  }

  std::vector<void*> ConstantData() const {
    std::vector<void*> addresses;
    for (const std::size_t constant : constants_) addresses.push_back(data_[constant]);
    return addresses;
  }

  // To the instance that reads its constants at the wanted addresses; makes it where there is none.
  Status Switch() {
    current_ = nullptr;
    void* const key = wanted_.empty() ? nullptr : wanted_.back();
    const auto found = instances_.find(key);
    if (found != instances_.end() && found->second.constants == wanted_) {
      current_ = &found->second;
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(Instance made, MakeInstance());
    current_ = &(instances_[key] = std::move(made));
    return {};
  }

  // The library keeps what it packed by compiled partition, by partition or by address, as its version has it. Finding
  // partitions takes ten times as long as compiling one, so that the first is compiled again as long as each of its
  // instances packs constants of its own.
  Result<Instance> MakeInstance() {
    if (partition_) {
      INFIMUM_ASSIGN_OR_RETURN(Instance made, MakeInstance(*partition_));
      if (made.packed_blocks == packed_blocks_) return made;
    }
    INFIMUM_ASSIGN_OR_RETURN(partition_, OnlyPartition(graph_));
    INFIMUM_ASSIGN_OR_RETURN(Instance made, MakeInstance(*partition_));
    packed_blocks_ = made.packed_blocks;
    return made;
  }

  // Runs it once, so that its constants are packed.
  Result<Instance> MakeInstance(const dnnl::graph::partition& partition) const {
    const std::vector<logical_tensor> inputs = PortsOf(graph_, partition.get_input_ports());
    const std::vector<logical_tensor> outputs = PortsOf(graph_, partition.get_output_ports());
    Instance made;
    made.constants = wanted_;
    made.compiled = Compiled(partition, inputs, outputs);
    made.tensors.reserve(inputs.size() + 2 * outputs.size());
    const auto bind = [&](const logical_tensor& port, void* data) {
      made.tensors.emplace_back(port, GraphEngine(), data);
      return const_dnnl_graph_tensor_t(made.tensors.back().get());
    };
    for (const logical_tensor& port : inputs) made.inputs.push_back(bind(port, AddressOf(port.get_id())));
    // The result's own memory may be in use by others as yet.
    INFIMUM_ASSIGN_OR_RETURN(const AlignedBuffer scratch, AlignedBuffer::Make(result_bytes_));
    for (const logical_tensor& port : outputs) made.outputs.push_back(bind(port, scratch.data()));
    const std::size_t blocks = GraphBlocksInUse();
    INFIMUM_RETURN_IF_ERROR(made.Run(stream_.get()));
    made.packed_blocks = GraphBlocksInUse() - blocks;
    made.outputs.clear();
    for (const logical_tensor& port : outputs) made.outputs.push_back(bind(port, AddressOf(port.get_id())));
    return made;
  }

  void* AddressOf(std::size_t number) const {
    for (std::size_t i = 0; i < constants_.size(); ++i)
      if (constants_[i] == number) return wanted_[i];
    return data_[number];
  }

  LibraryGraph graph_;
  std::optional<dnnl::graph::partition> partition_;
  std::size_t packed_blocks_ = 0;  // of its first instance
  dnnl::stream stream_;
  std::vector<void*> data_;             // by tensor
  std::vector<std::size_t> constants_;  // tensors that are constant operands
  std::vector<std::size_t> constant_bytes_;
  std::size_t result_bytes_ = 0;
  std::deque<HostTensor> owned_;  // stable addresses
  std::deque<PlacedTensor> inputs_;
  PlacedTensor result_;
  std::vector<void*> wanted_;                      // where constants are to be read
  std::unordered_map<void*, Instance> instances_;  // by the last constant's address
  Instance* current_ = nullptr;
  Status broken_;
  Bytes footprint_;
};

GraphTensor StridedTensor(Role role, const Shape& shape, DataType type, const dnnl::memory::desc& lies) {
  GraphTensor tensor{role, shape, type};
  tensor.strides = lies.get_strides();
  const dnnl::memory::desc plain = PlainDesc(shape, type);
  const MemoryOrder order(plain, lies);
  if (!order.row_major()) tensor.order = std::make_shared<const MemoryOrder>(order);
  return tensor;
}

}  // namespace

GraphTensor RowMajorTensor(Role role, const Shape& shape, DataType type) {
  return StridedTensor(role, shape, type, PlainDesc(shape, type));
}

GraphTensor ChannelsLastTensor(Role role, const Shape& shape, DataType type) {
  return StridedTensor(role, shape, type, ChannelsLastDesc(shape, type));
}

Result<logical_tensor> LogicalTensor(const LibraryGraph& graph, std::size_t number) {
  const GraphTensor& tensor = graph.tensors[number];
  INFIMUM_ASSIGN_OR_RETURN(const logical_tensor::data_type type, GraphType(tensor.type));
  const bool constant = tensor.role == Role::kConstant || tensor.role == Role::kNumbers;
  const auto property = constant ? logical_tensor::property_type::constant : logical_tensor::property_type::variable;
  return GuardedGraph([&]() -> Result<logical_tensor> {
    if (tensor.role == Role::kInner)
      return logical_tensor(number, type, tensor.shape.dims, logical_tensor::layout_type::any, property);
    return logical_tensor(number, type, tensor.shape.dims, tensor.strides, property);
  });
}

Result<dnnl::graph::graph> MakeGraph(const LibraryGraph& graph) {
  std::vector<logical_tensor> tensors;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    INFIMUM_ASSIGN_OR_RETURN(logical_tensor tensor, LogicalTensor(graph, i));
    tensors.push_back(std::move(tensor));
  }
  return GuardedGraph([&]() -> Result<dnnl::graph::graph> {
    dnnl::graph::graph made(dnnl::engine::kind::cpu);
    for (std::size_t i = 0; i < graph.operations.size(); ++i) {
      const GraphOperation& operation = graph.operations[i];
      std::vector<logical_tensor> inputs;
      for (const std::size_t input : operation.inputs) inputs.push_back(tensors[input]);
      dnnl::graph::op op(i, operation.kind, inputs, {tensors[operation.output]}, "op" + std::to_string(i));
      if (operation.set_attributes) operation.set_attributes(op);
      made.add_op(op);
    }
    made.finalize();
    return made;
  });
}

Result<dnnl::graph::partition> OnlyPartition(const LibraryGraph& graph) {
  INFIMUM_ASSIGN_OR_RETURN(dnnl::graph::graph made, MakeGraph(graph));
  return GuardedGraph([&]() -> Result<dnnl::graph::partition> {
    const std::vector<dnnl::graph::partition> partitions = made.get_partitions(dnnl::graph::partition::policy::fusion);
    if (partitions.size() != 1)
      return Error{"unsupported: oneDNN Graph makes " + std::to_string(partitions.size()) + " partitions of it"};
    if (!partitions[0].is_supported() || partitions[0].get_ops_num() != graph.operations.size())
      return Error{"unsupported: oneDNN Graph has no kernel for it"};
    return partitions[0];
  });
}

Status CheckCompiles(const LibraryGraph& graph) {
  INFIMUM_ASSIGN_OR_RETURN(const dnnl::graph::partition partition, OnlyPartition(graph));
  return GuardedGraph([&]() -> Status {
    static_cast<void>(
        Compiled(partition, PortsOf(graph, partition.get_input_ports()), PortsOf(graph, partition.get_output_ports())));
    return {};
  });
}

MadeProgram MakePartitionProgram(const LibraryGraph& graph, const std::vector<const HostTensor*>& operands,
                                 HostTensor* result) {
  return Prepared<Program>(std::make_unique<PartitionProgram>(), graph, operands, result);
}

std::vector<Placement> PlacementsOf(const LibraryGraph& graph, const std::vector<const HostTensor*>& operands,
                                    const HostTensor* result) {
  std::vector<Placement> placements;
  std::size_t next = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.role == Role::kResult && tensor.order) placements.push_back({result, tensor.order});
    if (!IsBound(tensor)) continue;
    const HostTensor* const operand = operands[next++];
    if (tensor.role == Role::kOperand && tensor.order) placements.push_back({operand, tensor.order});
  }
  return placements;
}

}  // namespace infimum::cpu
