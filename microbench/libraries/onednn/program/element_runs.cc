#include "microbench/libraries/onednn/program/element_runs.h"

#include <optional>

#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/memory_copy.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;

bool IsBlocked(const memory::desc& desc) { return desc.get_format_kind() == memory::format_kind::blocked; }

// nullopt where padding or an unknown format leave something unsaid.
std::optional<std::vector<ElementRun>> RunsOf(const memory::desc& described, const memory::desc& wanted) {
  if (!IsBlocked(described) || !IsBlocked(wanted) || described.get_inner_nblks() != 0) return std::nullopt;
  const memory::dims dims = wanted.get_dims();
  if (described.get_dims() != dims || wanted.get_padded_dims() != dims || wanted.get_submemory_offset() != 0) {
    return std::nullopt;
  }
  // More than its elements: what a library keeps behind weights for its own use.
  std::size_t bytes = memory::data_type_size(wanted.get_data_type());
  for (const memory::dim extent : dims) bytes *= static_cast<std::size_t>(extent);
  if (wanted.get_size() != bytes) return std::nullopt;
  const memory::dims logical = described.get_strides(), physical = wanted.get_strides();
  const memory::dims blocks = wanted.get_inner_blks(), indices = wanted.get_inner_idxs();
  std::vector<ElementRun> runs;
  memory::dims inside(dims.size(), 1);  // elements of each dimension within the blocks so far
  std::int64_t step = 1;
  for (std::size_t k = blocks.size(); k-- > 0;) {
    const auto dim = static_cast<std::size_t>(indices[k]);
    runs.push_back({blocks[k], logical[dim] * inside[dim], step});
    inside[dim] *= blocks[k];
    step *= blocks[k];
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] % inside[i] != 0) return std::nullopt;
    runs.push_back({dims[i] / inside[i], logical[i] * inside[i], physical[i]});
  }
  return Normalized(std::move(runs));
}

std::vector<ElementRun> RowMajorRuns(std::int64_t count) {
  if (count == 1) return {};
  return {{count, 1, 1}};
}

memory::desc WithType(const memory::desc& desc, memory::data_type type) {
  // Only blocked formats come here; the copy keeps strides, blocks and padding.
  if (desc.get_data_type() == type) return desc;
  return memory::desc();
}

class ReorderProgram : public Program {
 public:
  Status Prepare(const memory::desc& from, void* source, const memory::desc& to, void* target) {
    const dnnl::reorder::primitive_desc description(CpuEngine(), from, CpuEngine(), to, DefaultAttributes());
    reorder_ = dnnl::reorder(description);
    stream_ = dnnl::stream(CpuEngine());
    arguments_.emplace(DNNL_ARG_FROM, memory(from, CpuEngine(), source));
    arguments_.emplace(DNNL_ARG_TO, memory(to, CpuEngine(), target));
    const memory::desc scratch = description.scratchpad_desc();
    if (!scratch.is_zero() && scratch.get_size() > 0) {
      INFIMUM_ASSIGN_OR_RETURN(scratch_, AlignedBuffer::Make(scratch.get_size()));
      arguments_.emplace(DNNL_ARG_SCRATCHPAD, memory(scratch, CpuEngine(), scratch_.data()));
    }
    footprint_ = Bytes{static_cast<std::int64_t>(from.get_size() + to.get_size())};
    return {};
  }

  Status Run() override {
    return Guarded([&]() -> Status {
      reorder_.execute(stream_, arguments_);
      stream_.wait();
      return {};
    });
  }
  Bytes footprint() const override { return footprint_; }

 private:
  dnnl::reorder reorder_;
  dnnl::stream stream_;
  std::unordered_map<int, memory> arguments_;
  AlignedBuffer scratch_;
  Bytes footprint_;
};

// A type of the library to move runs of elements as they are, which it does faster than a copy of ours where it has
// more than its reference; nullopt where that is all it has, and where the innermost dimension changes.
std::optional<memory::data_type> CarrierOfRuns(const CommonDimensions& dimensions, int bytes) {
  bool keeps_runs = false;
  for (std::size_t i = 0; i < dimensions.dims.size(); ++i)
    keeps_runs |= dimensions.dims[i] > 1 && dimensions.from[i] == 1 && dimensions.to[i] == 1;
  if (!keeps_runs || dimensions.dims.size() > DNNL_MAX_NDIMS) return std::nullopt;
  if (bytes == 4) return memory::data_type::f32;
  return bytes == 1 ? std::optional(memory::data_type::u8) : std::nullopt;
}

}  // namespace

MemoryOrder::MemoryOrder(memory::desc described_as, memory::desc wanted_as)
    : described(std::move(described_as)), wanted(std::move(wanted_as)) {
  if (std::optional<std::vector<ElementRun>> found = RunsOf(described, wanted)) {
    runs = *std::move(found);
    exact = true;
  }
}

bool MemoryOrder::row_major() const {
  if (!exact) return described == wanted;
  return runs.empty() || (runs.size() == 1 && runs[0].logical == runs[0].physical);
}

std::size_t MemoryOrder::BytesOf(DataType type) const {
  return wanted.get_size() / dnnl::memory::data_type_size(wanted.get_data_type()) *
         static_cast<std::size_t>(BytesPerElement(type));
}

bool operator==(const MemoryOrder& a, const MemoryOrder& b) {
  if (a.exact && b.exact) return a.runs == b.runs;
  return !a.exact && !b.exact && a.described == b.described && a.wanted == b.wanted;
}

OrderOf OrderOfRuns(const std::vector<ElementRun>& runs) {
  memory::dims dims, described, wanted;
  for (const ElementRun& run : runs) {
    dims.push_back(run.extent);
    described.push_back(run.logical);
    wanted.push_back(run.physical);
  }
  if (described == wanted) return nullptr;
  // The order is the same for every type.
  constexpr memory::data_type kType = memory::data_type::f32;
  return std::make_shared<const MemoryOrder>(memory::desc(dims, kType, described), memory::desc(dims, kType, wanted));
}

bool SameOrder(const OrderOf& a, const OrderOf& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return *a == *b;
}

std::optional<CommonDimensions> DimensionsOf(const MemoryOrder* from, const MemoryOrder* to, std::int64_t count) {
  if ((from != nullptr && !from->exact) || (to != nullptr && !to->exact)) return std::nullopt;
  const std::vector<ElementRun> plain = RowMajorRuns(count);
  return OverCommonDimensions(from == nullptr ? plain : from->runs, to == nullptr ? plain : to->runs);
}

bool IsReorderOfLibrary(const HostTensor& source, const HostTensor& target) {
  const auto dimensions = DimensionsOf(source.order(), target.order(), source.count());
  return !dimensions || CarrierOfRuns(*dimensions, BytesPerElement(source.type())).has_value();
}

bool HasReorder(const OrderOf& from, const OrderOf& to) {
  if (from == nullptr || to == nullptr) return true;
  if (from->exact && to->exact) return OverCommonDimensions(from->runs, to->runs).has_value();
  return from->described == to->described;
}

MadeProgram MakeReorder(const HostTensor& source, const HostTensor& target) {
  const MemoryOrder* from = source.order();
  const MemoryOrder* to = target.order();
  const auto is_exact = [](const MemoryOrder* order) { return order == nullptr || order->exact; };
  if (is_exact(from) && is_exact(to)) {
    const std::optional<CommonDimensions> dimensions = DimensionsOf(from, to, source.count());
    const int bytes = BytesPerElement(source.type());
    if (!dimensions || bytes == 0) return Error{"unsupported: no direct change between these layouts"};
    if (std::optional<memory::data_type> carrier = CarrierOfRuns(*dimensions, bytes)) {
      return Guarded([&]() -> MadeProgram {
        auto program = std::make_unique<ReorderProgram>();
        INFIMUM_RETURN_IF_ERROR(
            program->Prepare(memory::desc(dimensions->dims, *carrier, dimensions->from), source.data(),
                             memory::desc(dimensions->dims, *carrier, dimensions->to), target.data()));
        return std::unique_ptr<Program>(std::move(program));
      });
    }
    const Bytes footprint{static_cast<std::int64_t>(source.bytes() + target.bytes())};
    const auto copy = MakeMemoryCopy(*dimensions, bytes);
    return MakeProgram(footprint,
                       [copy, from_data = source.data(), to_data = target.data()] { copy(from_data, to_data); });
  }
  // In the library's own terms, and in its own type.
  return Guarded([&]() -> MadeProgram {
    const MemoryOrder& known = from != nullptr ? *from : *to;
    const memory::data_type type = known.wanted.get_data_type();
    if (LibraryType(source.type()) != type) return Error{"unsupported: a padded layout of another type"};
    const memory::desc source_desc = WithType(from != nullptr ? from->wanted : known.described, type);
    const memory::desc target_desc = WithType(to != nullptr ? to->wanted : known.described, type);
    if (source_desc.is_zero() || target_desc.is_zero()) return Error{"unsupported: two layouts of different types"};
    auto program = std::make_unique<ReorderProgram>();
    INFIMUM_RETURN_IF_ERROR(program->Prepare(source_desc, source.data(), target_desc, target.data()));
    return std::unique_ptr<Program>(std::move(program));
  });
}

}  // namespace infimum::cpu
