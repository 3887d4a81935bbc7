#include "microbench/libraries/onednn/program/primitive_program.h"

#include <optional>

#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "oneapi/dnnl/dnnl.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

// Elements in another type, in whatever layout they lie. Between s8 and u8 the value is shifted by 128:
// the zero point is then shifted too.
struct Conversion {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t count = 0;
  ConvertRow convert = nullptr;  // null: the sign bit is flipped
  int from_bytes = 1;
  int to_bytes = 1;

  static bool Flips(DataType from, DataType to) {
    return (from == DataType::kS8 && to == DataType::kU8) || (from == DataType::kU8 && to == DataType::kS8);
  }

  static Result<Conversion> Make(DataType from_type, const void* from, DataType to_type, void* to, std::int64_t count) {
    Conversion made{from, to, count, nullptr, BytesPerElement(from_type), BytesPerElement(to_type)};
    const bool flips = Flips(from_type, to_type);
    if (!flips) made.convert = Kernels().find_convert(from_type, to_type);
    if (!flips && made.convert == nullptr) return Error{"unsupported: no conversion between these types"};
    return made;
  }
  void Run() const {
    ParallelRanges(count, 32768, [&](std::int64_t begin, std::int64_t end) {
      const auto* source = static_cast<const char*>(from) + begin * from_bytes;
      auto* target = static_cast<char*>(to) + begin * to_bytes;
      if (convert != nullptr) return convert(source, target, end - begin);
      for (std::int64_t i = 0; i < end - begin; ++i) target[i] = static_cast<char>(source[i] ^ 0x80);
    });
  }
};

class PrimitiveProgram : public Program {
 public:
  Status Prepare(const PrimitiveCall& call) {
    owned_ = call.owned;
    after_unpack_ = call.after_unpack;
    in_place_ = !after_unpack_;
    primitive_ = dnnl::primitive(call.implementation.get());
    stream_ = dnnl::stream(CpuEngine());
    for (const PrimitiveCall::Input& input : call.inputs) INFIMUM_RETURN_IF_ERROR(BindInput(call, input));
    for (const PrimitiveCall::Output& output : call.outputs) INFIMUM_RETURN_IF_ERROR(BindOutput(call, output));
    for (const PrimitiveCall::Vector& vector : call.vectors) INFIMUM_RETURN_IF_ERROR(BindVector(vector));
    return BindScratchpad(call);
  }

  Status Run() override {
    for (const Conversion& conversion : before_) conversion.Run();
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) return Error{"oneDNN: execution failed with status " + std::to_string(status)};
    for (const Conversion& conversion : after_) conversion.Run();
    return {};
  }

  Status Pack() override {
    for (const Packing& packing : packings_) {
      void* source = packing.source;
      if (packing.convert) {
        packing.convert->Run();
        source = packing.convert->to;
      }
      if (packing.target != nullptr)
        INFIMUM_RETURN_IF_ERROR(ReorderMemory(packing.from, source, packing.to, packing.target));
      if (packing.back) packing.back->Run();
    }
    return {};
  }

  Status Unpack() override {
    for (const Conversion& conversion : before_unpack_) conversion.Run();
    for (const Unpacking& unpacking : unpackings_) {
      INFIMUM_RETURN_IF_ERROR(ReorderMemory(unpacking.from, unpacking.source, unpacking.to, unpacking.target));
    }
    for (const Conversion& conversion : unpacked_) conversion.Run();
    if (after_unpack_) after_unpack_();
    return {};
  }

  bool in_place() const override { return in_place_; }
  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override { return constants_; }

 private:
  // A variable operand into the primitive's layout, where types differ through a row-major copy in the
  // computed type, and back into its own type at the end. Without a target `convert` is all.
  struct Packing {
    memory::desc from;
    void* source;
    memory::desc to;
    void* target;
    std::optional<Conversion> convert = {}, back = {};
  };
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

  void Bind(int argument, const memory::desc& desc, void* data, bool constant = false) {
    memories_.emplace_back(desc, CpuEngine(), data);
    arguments_.push_back({argument, memories_.back().get()});
    footprint_ += Bytes{static_cast<std::int64_t>(desc.get_size())};
    if (!constant) return;
    const dnnl_memory_t bound = memories_.back().get();
    constants_.push_back({data, desc.get_size(), [bound](void* there) { dnnl_memory_set_data_handle(bound, there); }});
  }

  // Whether the tensor's memory already lies as the implementation wants it. A tensor in an order of its own must.
  static Result<bool> LiesAsWanted(const HostTensor& tensor, const memory::desc& described,
                                   const memory::desc& wanted) {
    const MemoryOrder order(described, wanted);
    if (tensor.order() == nullptr) return order.row_major();
    if (*tensor.order() == order) return true;
    return Error{"unsupported: a tensor lies in another order than the implementation wants"};
  }

  Status BindInput(const PrimitiveCall& call, const PrimitiveCall::Input& input) {
    const memory::desc wanted = WantedDesc(call, input.argument, input.described);
    const DataType own = input.tensor->type(), computed = TypeOf(wanted);
    INFIMUM_ASSIGN_OR_RETURN(bool lies_as_wanted, LiesAsWanted(*input.tensor, input.described, wanted));
    // Prepared weights may carry more than their elements (sums that make up for zero points): only the very same
    // description will do.
    if (input.constant) lies_as_wanted = wanted == input.described;
    if (LibraryType(own) != wanted.get_data_type() && !call.moves_bits)
      return BindConverted(input, wanted, own, computed, lies_as_wanted);
    if (lies_as_wanted) {
      Bind(input.argument, wanted, input.tensor->data(), input.constant);
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    INFIMUM_RETURN_IF_ERROR(ReorderMemory(input.described, input.tensor->data(), wanted, data));
    if (!input.constant) {
      in_place_ = false;
      packings_.push_back({input.described, input.tensor->data(), wanted, data});
    }
    Bind(input.argument, wanted, data, input.constant);
    return {};
  }

  // Row-major in the computed type, brought into the layout; and from there, for a variable operand, into
  // its own type again, from which each run converts. A sign bit is flipped with the layout: whoever writes the tensor
  // can write it so.
  Status BindConverted(const PrimitiveCall::Input& input, const memory::desc& wanted, DataType own, DataType computed,
                       bool lies_as_wanted) {
    const std::int64_t count = input.tensor->count();
    const auto bytes = static_cast<std::size_t>(BytesPerElement(computed));
    const bool flips = Conversion::Flips(own, computed);
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    if (lies_as_wanted) {
      const auto stored = static_cast<std::int64_t>(wanted.get_size() / bytes);
      INFIMUM_ASSIGN_OR_RETURN(const Conversion step,
                               Conversion::Make(own, input.tensor->data(), computed, data, stored));
      step.Run();
      if (!input.constant && flips) {
        in_place_ = false;
        packings_.push_back({wanted, data, wanted, nullptr, step});
      } else if (!input.constant) {
        before_.push_back(step);
      }
    } else {
      INFIMUM_ASSIGN_OR_RETURN(void* plain, Allocate(static_cast<std::size_t>(count) * bytes));
      INFIMUM_ASSIGN_OR_RETURN(const Conversion first,
                               Conversion::Make(own, input.tensor->data(), computed, plain, count));
      first.Run();
      INFIMUM_RETURN_IF_ERROR(ReorderMemory(input.described, plain, wanted, data));
      if (!input.constant && flips) {
        in_place_ = false;
        packings_.push_back({input.described, plain, wanted, data, first});
      } else if (!input.constant) {
        in_place_ = false;
        const auto stored = static_cast<std::int64_t>(wanted.get_size() / bytes);
        INFIMUM_ASSIGN_OR_RETURN(void* kept, Allocate(static_cast<std::size_t>(stored * BytesPerElement(own))));
        INFIMUM_ASSIGN_OR_RETURN(const Conversion back, Conversion::Make(computed, data, own, kept, stored));
        back.Run();
        INFIMUM_ASSIGN_OR_RETURN(const Conversion step, Conversion::Make(own, kept, computed, data, stored));
        before_.push_back(step);
        packings_.push_back({input.described, plain, wanted, data, first, back});
      }
    }
    Bind(input.argument, wanted, data, input.constant);
    return {};
  }

  Status BindOutput(const PrimitiveCall& call, const PrimitiveCall::Output& output) {
    const memory::desc wanted = WantedDesc(call, output.argument, output.described);
    const DataType own = output.tensor->type(), computed = TypeOf(wanted);
    INFIMUM_ASSIGN_OR_RETURN(const bool lies_as_wanted, LiesAsWanted(*output.tensor, output.described, wanted));
    if (LibraryType(own) != wanted.get_data_type() && !call.moves_bits)
      return BindConverted(output, wanted, own, computed, lies_as_wanted);
    if (lies_as_wanted) {
      Bind(output.argument, wanted, output.tensor->data());
      return {};
    }
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    unpackings_.push_back({wanted, data, output.described, output.tensor->data()});
    in_place_ = false;
    Bind(output.argument, wanted, data);
    return {};
  }

  Status BindConverted(const PrimitiveCall::Output& output, const memory::desc& wanted, DataType own, DataType computed,
                       bool lies_as_wanted) {
    const std::int64_t count = output.tensor->count();
    const auto bytes = static_cast<std::size_t>(BytesPerElement(computed));
    INFIMUM_ASSIGN_OR_RETURN(void* data, Allocate(wanted.get_size()));
    Bind(output.argument, wanted, data);
    if (lies_as_wanted) {
      const auto stored = static_cast<std::int64_t>(wanted.get_size() / bytes);
      INFIMUM_ASSIGN_OR_RETURN(const Conversion step,
                               Conversion::Make(computed, data, own, output.tensor->data(), stored));
      after_.push_back(step);
      return {};
    }
    in_place_ = false;
    const auto stored = static_cast<std::int64_t>(wanted.get_size() / bytes);
    INFIMUM_ASSIGN_OR_RETURN(void* kept, Allocate(static_cast<std::size_t>(stored * BytesPerElement(own))));
    INFIMUM_ASSIGN_OR_RETURN(void* plain, Allocate(static_cast<std::size_t>(count) * bytes));
    INFIMUM_ASSIGN_OR_RETURN(const Conversion step, Conversion::Make(computed, data, own, kept, stored));
    after_.push_back(step);
    // What is checked is what was stored: back from the stored type, and into row-major order.
    INFIMUM_ASSIGN_OR_RETURN(const Conversion back, Conversion::Make(own, kept, computed, data, stored));
    before_unpack_.push_back(back);
    unpackings_.push_back({wanted, data, output.described, plain});
    INFIMUM_ASSIGN_OR_RETURN(const Conversion last,
                             Conversion::Make(computed, plain, own, output.tensor->data(), count));
    unpacked_.push_back(last);
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
  std::vector<ConstantBlock> constants_;
  std::vector<Packing> packings_;
  std::vector<Unpacking> unpackings_;
  std::vector<Conversion> before_, after_;  // of each run
  std::vector<Conversion> before_unpack_, unpacked_;
  std::vector<std::shared_ptr<HostTensor>> owned_;
  std::function<void()> after_unpack_;
  bool in_place_ = true;
  Bytes footprint_;
};

}  // namespace

memory::desc WantedDesc(const PrimitiveCall& call, int argument, const memory::desc& described) {
  const memory::desc wanted = call.implementation.query_md(dnnl::query::exec_arg_md, argument);
  return wanted.is_zero() ? described : wanted;
}

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

MadeProgram MakePrimitiveProgram(const PrimitiveCall& call) {
  return Guarded([&]() -> MadeProgram { return Prepared<Program>(std::make_unique<PrimitiveProgram>(), call); });
}

}  // namespace infimum::cpu
