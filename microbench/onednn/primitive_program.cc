#include "microbench/onednn/primitive_program.h"

#include "oneapi/dnnl/dnnl.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

class PrimitiveProgram : public Program {
 public:
  Status Prepare(const PrimitiveCall& call) {
    primitive_ = dnnl::primitive(call.implementation.get());
    stream_ = dnnl::stream(CpuEngine());
    for (const PrimitiveCall::Input& input : call.inputs) INFIMUM_RETURN_IF_ERROR(BindInput(call, input));
    for (const PrimitiveCall::Output& output : call.outputs) INFIMUM_RETURN_IF_ERROR(BindOutput(call, output));
    for (const PrimitiveCall::Vector& vector : call.vectors) INFIMUM_RETURN_IF_ERROR(BindVector(vector));
    return BindScratchpad(call);
  }

  Status Run() override {
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) return Error{"oneDNN: execution failed with status " + std::to_string(status)};
    return {};
  }

  Status Unpack() override {
    for (const Unpacking& unpacking : unpackings_) {
      INFIMUM_RETURN_IF_ERROR(ReorderMemory(unpacking.from, unpacking.source, unpacking.to, unpacking.target));
    }
    return {};
  }

  bool in_place() const override { return in_place_; }
  Bytes footprint() const override { return footprint_; }

 private:
  struct Unpacking {
    memory::desc from;
    void* source;
    memory::desc to;
    void* target;
  };

  Result<void*> Allocate(std::size_t bytes) {
    INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Make(bytes));
    buffers_.push_back(std::move(buffer));
    return buffers_.back().data();
  }

  void Bind(int argument, const memory::desc& desc, void* data) {
    memories_.emplace_back(desc, CpuEngine(), data);
    arguments_.push_back({argument, memories_.back().get()});
    footprint_ += Bytes{static_cast<std::int64_t>(desc.get_size())};
  }

  // The layout that the implementation wants for an argument; as described where it has no opinion.
  static memory::desc Wanted(const PrimitiveCall& call, int argument, const memory::desc& described) {
    const memory::desc wanted = call.implementation.query_md(dnnl::query::exec_arg_md, argument);
    return wanted.is_zero() ? described : wanted;
  }

  Status BindInput(const PrimitiveCall& call, const PrimitiveCall::Input& input) {
    const memory::desc wanted = Wanted(call, input.argument, input.described);
    if (wanted == input.described) {
      Bind(input.argument, wanted, input.tensor->data());
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    INFIMUM_RETURN_IF_ERROR(ReorderMemory(input.described, input.tensor->data(), wanted, data));
    if (!input.constant) in_place_ = false;
    Bind(input.argument, wanted, data);
    return {};
  }

  Status BindOutput(const PrimitiveCall& call, const PrimitiveCall::Output& output) {
    const memory::desc wanted = Wanted(call, output.argument, output.described);
    if (wanted == output.described) {
      Bind(output.argument, wanted, output.tensor->data());
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    unpackings_.push_back({wanted, data, output.described, output.tensor->data()});
    in_place_ = false;
    Bind(output.argument, wanted, data);
    return {};
  }

  Status BindVector(const PrimitiveCall::Vector& vector) {
    const bool floats = !vector.floats.empty();
    const auto count = static_cast<std::int64_t>(floats ? vector.floats.size() : vector.integers.size());
    const Shape shape = vector.shape.rank() > 0 ? vector.shape : Shape{{count}};
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(static_cast<std::size_t>(count) * 4));
    for (std::size_t i = 0; i < vector.floats.size(); ++i) static_cast<float*>(data)[i] = vector.floats[i];
    for (std::size_t i = 0; i < vector.integers.size(); ++i) {
      static_cast<std::int32_t*>(data)[i] = vector.integers[i];
    }
    Bind(vector.argument, PlainDesc(shape, floats ? DataType::kF32 : DataType::kS32), data);
    return {};
  }

  Status BindScratchpad(const PrimitiveCall& call) {
    const memory::desc wanted = call.implementation.query_md(dnnl::query::scratchpad_md);
    if (wanted.is_zero() || wanted.get_size() == 0) return {};
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    Bind(DNNL_ARG_SCRATCHPAD, wanted, data);
    return {};
  }

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<AlignedBuffer> buffers_;
  std::vector<memory> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<Unpacking> unpackings_;
  bool in_place_ = true;
  Bytes footprint_;
};

}  // namespace

Status ReorderMemory(const memory::desc& from, void* source, const memory::desc& to, void* target) {
  return Guarded([&]() -> Status {
    memory source_memory(from, CpuEngine(), source);
    memory target_memory(to, CpuEngine(), target);
    dnnl::stream stream(CpuEngine());
    dnnl::reorder(source_memory, target_memory).execute(stream, source_memory, target_memory);
    stream.wait();
    return {};
  });
}

Result<std::unique_ptr<Program>> MakePrimitiveProgram(const PrimitiveCall& call) {
  return Guarded([&]() -> Result<std::unique_ptr<Program>> {
    auto program = std::make_unique<PrimitiveProgram>();
    INFIMUM_RETURN_IF_ERROR(program->Prepare(call));
    return std::unique_ptr<Program>(std::move(program));
  });
}

}  // namespace infimum::cpu
