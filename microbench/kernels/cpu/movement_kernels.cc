#include <algorithm>
#include <cstring>

#include "microbench/kernels/cpu/broadcast_rows.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/memory_copy.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "microbench/reference/index_map.h"
#include "src/core/base/prepared.h"
#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLeastBytes = 65536;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLine = 64;  // bytes, of a cache

std::size_t Size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

void CopyBytes(const char* from, char* to, std::int64_t bytes) {
  ParallelRanges(bytes / 64 + 1, kLeastBytes / 64, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = first * 64, end = std::min(last * 64, bytes);
    if (begin < end) std::memcpy(to + begin, from + begin, Size(end - begin));
  });
}

// Whole pages past the caches, the rest by the library.
void StreamBytes(const char* from, char* to, std::int64_t bytes) {
  const std::int64_t pages = bytes / kPage;
  ParallelRanges(pages, kLeastBytes / kPage, [&](std::int64_t first, std::int64_t last) {
    Kernels().copy_streaming(from + first * kPage, to + first * kPage, (last - first) * kPage);
  });
  std::memcpy(to + pages * kPage, from + pages * kPage, Size(bytes - pages * kPage));
}

MadeProgram MakeCopy(bool streaming, const Problem& problem) {
  const auto bytes = static_cast<std::int64_t>(problem.outputs[0]->bytes());
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    (streaming ? StreamBytes : CopyBytes)(input->As<char>(), output->As<char>(), bytes);
  });
}

MadeProgram MakeFill(const Problem& problem) {
  const auto bytes = static_cast<std::int64_t>(problem.outputs[0]->bytes());
  return MakeProgram(problem, [=, output = problem.outputs[0]] {
    ParallelRanges(bytes / kPage + 1, kLeastBytes / kPage, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t begin = first * kPage, end = std::min(last * kPage, bytes);
      std::memset(output->As<char>() + begin, 0, Size(end - begin));
    });
  });
}

MadeProgram MakeTransposeProgram(const Shape& shape, const std::vector<std::int64_t>& permutation,
                                 const Problem& problem) {
  const auto transpose = MakeTranspose(shape, permutation, BytesPerElement(problem.outputs[0]->type()));
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    transpose(input->data(), output->data());
  });
}

MadeProgram MakeDepthToSpace(const MovementConfig& config, const Problem& problem) {
  const std::int64_t block = DepthBlock(config);
  if (block == 0) return MakeCopy(false, problem);
  const std::vector<std::int64_t>& in = config.inputs[0].dims;
  const std::vector<std::int64_t>& out = config.outputs[0].dims;
  if (block > 0) {
    return MakeTransposeProgram(Shape{{in[0], block, block, out[1], in[2], in[3]}}, {0, 3, 4, 1, 5, 2}, problem);
  }
  return MakeTransposeProgram(Shape{{in[0], in[1], out[2], -block, out[3], -block}}, {0, 3, 5, 1, 2, 4}, problem);
}

// Rows of the output's innermost dimension, each with its position in the dimensions above.
template <class Function>
void ForRows(const Shape& shape, std::int64_t row_bytes, const Function& function) {
  const std::size_t above = shape.rank() == 0 ? 0 : shape.rank() - 1;
  ParallelRanges(ElementsBetween(shape, 0, above),
                 std::max<std::int64_t>(1, kLeastBytes / std::max<std::int64_t>(1, row_bytes)),
                 [&](std::int64_t first, std::int64_t last) {
                   constexpr std::size_t kMostDimensions = 16;
                   std::int64_t position[kMostDimensions] = {};
                   std::int64_t rest = first;
                   for (std::size_t i = above; i-- > 0;) {
                     position[i] = rest % shape.dims[i];
                     rest /= shape.dims[i];
                   }
                   for (std::int64_t row = first; row < last; ++row) {
                     function(row, static_cast<const std::int64_t*>(position));
                     for (std::size_t i = above; i-- > 0;) {
                       if (++position[i] < shape.dims[i]) break;
                       position[i] = 0;
                     }
                   }
                 });
}

// Elements `apart` bytes from each other, to contiguous ones.
void CopyApart(const char* from, char* to, std::int64_t bytes, std::int64_t apart, std::int64_t out_row) {
  for (std::int64_t at = 0; at < out_row; at += bytes, from += apart) std::memcpy(to + at, from, Size(bytes));
}

// Slice, pad, tile, reverse and triangle: each output row is made of a run of one input row.
MadeProgram MakeMovementRows(const MovementConfig& config, const LayerValues& values, const Problem& problem) {
  const Shape in = config.inputs[0], out = config.outputs[0];
  const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
  const std::size_t rank = out.rank();
  if (rank == 0) return MakeCopy(false, problem);
  const std::int64_t in_row = in.dims[rank - 1] * bytes, out_row = out.dims[rank - 1] * bytes;
  const MovementKind kind = config.kind;
  // Along the innermost dimension.
  const std::int64_t start = kind != MovementKind::kSlice || values.starts.empty() ? 0 : values.starts[rank - 1];
  const std::int64_t step = values.steps.empty() ? 1 : values.steps[rank - 1];
  const std::int64_t before = -InputPosition(config, values, rank - 1, 0) * bytes;  // of a pad
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    const char* const source = input->As<char>();
    ForRows(out, out_row, [&](std::int64_t row, const std::int64_t* position) {
      char* const to = output->As<char>() + row * out_row;
      std::int64_t from_row = 0;
      bool inside = true;
      for (std::size_t i = 0; i + 1 < rank; ++i) {
        const std::int64_t at = InputPosition(config, values, i, position[i]);
        inside = inside && at >= 0 && at < in.dims[i];
        from_row = from_row * in.dims[i] + at;
      }
      const char* const from = source + from_row * in_row + start * bytes;
      switch (kind) {
        case MovementKind::kSlice:
          if (step == 1) {
            std::memcpy(to, from, Size(out_row));
          } else {
            CopyApart(from, to, bytes, step * bytes, out_row);
          }
          break;
        case MovementKind::kTile:
          for (std::int64_t at = 0; at < out_row; at += in_row) std::memcpy(to + at, from, Size(in_row));
          break;
        case MovementKind::kPad: {
          if (!inside) {
            std::memset(to, 0, Size(out_row));
            break;
          }
          const std::int64_t first = std::clamp<std::int64_t>(before, 0, out_row);
          const std::int64_t last = std::clamp(before + in_row, first, out_row);
          std::memset(to, 0, Size(first));
          std::memcpy(to + first, from + first - before, Size(last - first));
          std::memset(to + last, 0, Size(out_row - last));
          break;
        }
        case MovementKind::kReverse:
          WithWord(bytes, [&]<class Word>(Word) {
            const auto* row_begin = reinterpret_cast<const Word*>(from);
            std::reverse_copy(row_begin, row_begin + out.dims[rank - 1], reinterpret_cast<Word*>(to));
          });
          break;
        default: {  // triangle
          const std::int64_t kept = rank < 2 ? out_row : std::min(out_row, (position[rank - 2] + 1) * bytes);
          std::memcpy(to, from, Size(kept));
          std::memset(to + kept, 0, Size(out_row - kept));
          break;
        }
      }
    });
  });
}

MadeProgram MakeExpand(const MovementConfig& config, const Problem& problem) {
  const BroadcastRows rows(config.outputs[0], {config.inputs[0]});
  const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    const std::int64_t row_bytes = rows.length() * bytes;
    WithWord(bytes, [&]<class Word>(Word) {
      ParallelEach(rows.count(), kLeastBytes, row_bytes, [&](std::int64_t row) {
        const Word* const from = input->As<Word>() + rows.Offset(0, row);
        Word* const to = output->As<Word>() + row * rows.length();
        if (rows.step(0) == 1) {
          std::copy_n(from, rows.length(), to);
        } else {
          std::fill_n(to, rows.length(), *from);
        }
      });
    });
  });
}

// An index from the operand: negative ones count from the end, and none leaves the axis.
template <class Index>
std::int64_t IndexAt(const void* indices, std::int64_t at, std::int64_t length) {
  auto index = static_cast<std::int64_t>(static_cast<const Index*>(indices)[at]);
  if (index < 0) index += length;
  return std::clamp<std::int64_t>(index, 0, length - 1);
}

using ReadIndex = std::int64_t (*)(const void*, std::int64_t, std::int64_t);

ReadIndex IndexReader(DataType type) {
  switch (type) {
    case DataType::kS64:
      return IndexAt<std::int64_t>;
    case DataType::kS32:
      return IndexAt<std::int32_t>;
    case DataType::kU8:
      return IndexAt<std::uint8_t>;
    default:
      return nullptr;
  }
}

template <class Index, class Element>
void GatherElements(const IndexedForm& form, const void* indices, const char* from, char* to, std::int64_t first,
                    std::int64_t last) {
  const auto* source = reinterpret_cast<const Element*>(from);
  auto* target = reinterpret_cast<Element*>(to);
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t place = i % form.picked, outer = i / form.picked;
    target[i] = source[outer * form.axis_length + IndexAt<Index>(indices, place, form.axis_length)];
  }
}

MadeProgram MakeGather(const MovementConfig& config, const Problem& problem) {
  const IndexedForm form = FormOf(config, config.inputs[0], config.outputs[0]);
  const HostTensor* indices = problem.operands[config.inputs.size()];
  const ReadIndex read = IndexReader(indices->type());
  if (read == nullptr) return Error{"unsupported: indices are s32 or s64"};
  const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
  if (form.kind != IndexedForm::Kind::kElements) {
    return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
      const std::int64_t row = form.inner * bytes;
      ParallelRanges(
          form.outer * form.picked, std::max<std::int64_t>(1, kLeastBytes / row),
          [&](std::int64_t first, std::int64_t last) {
            const char* from = input->As<char>();
            char* to = output->As<char>();
            if (row == 4 && indices->type() == DataType::kS64) {
              return GatherElements<std::int64_t, std::uint32_t>(form, indices->data(), from, to, first, last);
            }
            if (row == 8 && indices->type() == DataType::kS64) {
              return GatherElements<std::int64_t, std::uint64_t>(form, indices->data(), from, to, first, last);
            }
            for (std::int64_t i = first; i < last; ++i) {
              const std::int64_t outer = i / form.picked, place = i % form.picked;
              // The next row is far away: ask for it now.
              const std::int64_t ahead = std::min(place + 2, form.picked - 1);
              __builtin_prefetch(from +
                                 (outer * form.axis_length + read(indices->data(), ahead, form.axis_length)) * row);
              const std::int64_t index = read(indices->data(), place, form.axis_length);
              std::memcpy(to + i * row, from + (outer * form.axis_length + index) * row, Size(row));
            }
          });
    });
  }
  // One index for each element: rows of the output along its innermost dimension.
  const Shape in = config.inputs[0], out = config.outputs[0];
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
  const std::size_t rank = out.rank();
  const std::vector<std::int64_t> strides = PackedSteps(in.dims);
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    const std::int64_t width = out.dims[rank - 1];
    ForRows(out, width * bytes, [&](std::int64_t row, const std::int64_t* position) {
      std::int64_t base = 0;
      for (std::size_t i = 0; i + 1 < rank; ++i) base += i == axis ? 0 : position[i] * strides[i];
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t element = row * width + x;
        const std::int64_t from =
            base + (axis == rank - 1 ? 0 : x) + read(indices->data(), element, form.axis_length) * strides[axis];
        std::memcpy(output->As<char>() + element * bytes, input->As<char>() + from * bytes, Size(bytes));
      }
    });
  });
}

// The data is copied, then the updates are put in their places, in order.
MadeProgram MakeScatter(const MovementConfig& config, const Problem& problem) {
  const Shape data = config.inputs[0], updates = config.inputs[1];
  const IndexedForm form = FormOf(config, data, updates);
  const HostTensor* indices = problem.operands[config.inputs.size()];
  const ReadIndex read = IndexReader(indices->type());
  if (read == nullptr) return Error{"unsupported: indices are s32 or s64"};
  const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
  const std::vector<std::int64_t> strides = PackedSteps(data.dims);
  return MakeProgram(
      problem, [=, input = problem.operands[0], moved = problem.operands[1], output = problem.outputs[0]] {
        CopyBytes(input->As<char>(), output->As<char>(), static_cast<std::int64_t>(output->bytes()));
        char* const to = output->As<char>();
        const char* const from = moved->As<char>();
        if (form.kind != IndexedForm::Kind::kElements) {
          const std::int64_t row = form.inner * bytes;
          for (std::int64_t i = 0; i < form.outer * form.picked; ++i) {
            const std::int64_t outer = i / form.picked;
            const std::int64_t index = read(indices->data(), i % form.picked, form.axis_length);
            std::memcpy(to + (outer * form.axis_length + index) * row, from + i * row, Size(row));
          }
          return;
        }
        const std::size_t rank = updates.rank();
        const std::int64_t width = updates.dims[rank - 1];
        std::int64_t position[16] = {};
        for (std::int64_t row = 0; row < moved->count() / width; ++row) {
          std::int64_t base = 0, rest = row;
          for (std::size_t i = rank - 1; i-- > 0;) {
            position[i] = rest % updates.dims[i];
            rest /= updates.dims[i];
            base += i == axis ? 0 : position[i] * strides[i];
          }
          for (std::int64_t x = 0; x < width; ++x) {
            const std::int64_t element = row * width + x;
            const std::int64_t target =
                base + (axis == rank - 1 ? 0 : x) + read(indices->data(), element, form.axis_length) * strides[axis];
            std::memcpy(to + target * bytes, from + element * bytes, Size(bytes));
          }
        }
      });
}

MadeProgram MakeOneHot(const MovementConfig& config, const Problem& problem) {
  const std::int64_t count = ElementCount(config.inputs[0]);
  const std::int64_t depth = ElementCount(config.outputs[0]) / std::max<std::int64_t>(1, count);
  // One, in the output's type.
  auto one = std::make_shared<std::uint64_t>(0);
  HostTensor::SetElement(one.get(), problem.outputs[0]->type(), 0, 1);
  const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    ParallelRanges(count, std::max<std::int64_t>(1, kLeastBytes / (depth * bytes)),
                   [&](std::int64_t first, std::int64_t last) {
                     char* to = output->As<char>();
                     std::memset(to + first * depth * bytes, 0, Size((last - first) * depth * bytes));
                     for (std::int64_t i = first; i < last; ++i) {
                       const auto index = static_cast<std::int64_t>(input->Get(i));
                       if (index < 0 || index >= depth) continue;
                       std::memcpy(to + (i * depth + index) * bytes, one.get(), Size(bytes));
                     }
                   });
  });
}

class ReorderProgram : public Program {
 public:
  Status Prepare(const Problem& problem, const OrderOf& from, const OrderOf& to, const MemoryCopy& copy) {
    copy_ = copy;
    footprint_ = FootprintOf(problem);
    INFIMUM_RETURN_IF_ERROR(input_.Prepare(*problem.operands[0], from));
    INFIMUM_RETURN_IF_ERROR(output_.Prepare(*problem.outputs[0], to));
    return Pack();
  }
  Status Run() override {
    copy_(input_.data(), output_.data());
    return {};
  }
  Status Pack() override { return input_.Pack(); }
  Status Unpack() override { return output_.Unpack(); }
  bool in_place() const override { return !input_.is_copy() && !output_.is_copy(); }
  Bytes footprint() const override { return footprint_; }

 private:
  MemoryCopy copy_;
  PlacedTensor input_, output_;
  Bytes footprint_;
};

// Concat and split: of each row of the whole a run is a piece's. Rows are of axis x inner elements; with the channels
// last, where the axis is theirs, of the channels of a pixel. Streaming: what is written goes past the caches.
class PiecesProgram : public Program {
 public:
  Status Prepare(const Problem& problem, const MovementConfig& config, bool channels_last, bool streaming) {
    concat_ = config.kind == MovementKind::kConcat;
    streaming_ = streaming;
    footprint_ = FootprintOf(problem);
    const std::vector<Shape>& shapes = concat_ ? config.inputs : config.outputs;
    const Shape& whole = concat_ ? config.outputs[0] : config.inputs[0];
    const std::int64_t bytes = BytesPerElement(problem.outputs[0]->type());
    const AxisLines lines = LinesOf(whole, config.axis);
    rows_ = channels_last ? lines.outer * lines.inner : lines.outer;
    const auto order = [&](const Shape& shape) { return channels_last ? ChannelsLastOrder(shape) : nullptr; };
    pieces_ = std::vector<Piece>(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      pieces_[i].run =
          shapes[i].dims[static_cast<std::size_t>(config.axis)] * (channels_last ? 1 : lines.inner) * bytes;
      pieces_[i].offset = stride_;
      stride_ += pieces_[i].run;
      const HostTensor* const tensor = concat_ ? problem.operands[i] : problem.outputs[i];
      INFIMUM_RETURN_IF_ERROR(pieces_[i].tensor.Prepare(*tensor, order(shapes[i])));
    }
    INFIMUM_RETURN_IF_ERROR(whole_.Prepare(concat_ ? *problem.outputs[0] : *problem.operands[0], order(whole)));
    streaming_ = streaming_ && std::ranges::all_of(pieces_, [&](const Piece& piece) {
                   return IsAligned(piece.tensor.data()) && IsAligned(whole_.data());
                 });
    return Pack();
  }

  Status Run() override {
    if (streaming_) {
      ParallelRanges(rows_, kLeastBytes / stride_ + 1, [&](std::int64_t first, std::int64_t last) {
        for (const Piece& piece : pieces_) Stream(piece, first, last - first);
      });
      return {};
    }
    if (rows_ == 1) {
      for (const Piece& piece : pieces_) {
        ParallelRanges(piece.run, kLeastBytes,
                       [&](std::int64_t first, std::int64_t last) { Move(0, piece, first, last - first); });
      }
      return {};
    }
    ParallelEach(rows_, kLeastBytes, stride_, [&](std::int64_t row) {
      for (const Piece& piece : pieces_) Move(row, piece, 0, piece.run);
    });
    return {};
  }
  Status Pack() override {
    if (!concat_) return whole_.Pack();
    for (Piece& piece : pieces_) INFIMUM_RETURN_IF_ERROR(piece.tensor.Pack());
    return {};
  }
  Status Unpack() override {
    if (concat_) return whole_.Unpack();
    for (Piece& piece : pieces_) INFIMUM_RETURN_IF_ERROR(piece.tensor.Unpack());
    return {};
  }
  bool in_place() const override {
    return !whole_.is_copy() &&
           std::ranges::none_of(pieces_, [](const Piece& piece) { return piece.tensor.is_copy(); });
  }
  Bytes footprint() const override { return footprint_; }

 private:
  struct Piece {
    PlacedTensor tensor;
    std::int64_t run = 0, offset = 0;  // bytes, in a row of the whole
  };

  static bool IsAligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % kLine == 0; }

  void Move(std::int64_t row, const Piece& piece, std::int64_t begin, std::int64_t count) const {
    char* const together = whole_.As<char>() + row * stride_ + piece.offset + begin;
    char* const apart = piece.tensor.As<char>() + row * piece.run + begin;
    std::memcpy(concat_ ? together : apart, concat_ ? apart : together, Size(count));
  }
  void Stream(const Piece& piece, std::int64_t first, std::int64_t rows) const {
    char* const together = whole_.As<char>() + first * stride_ + piece.offset;
    char* const apart = piece.tensor.As<char>() + first * piece.run;
    if (concat_) {
      Kernels().copy_rows_streaming(apart, piece.run, together, stride_, piece.run, rows);
    } else {
      Kernels().copy_rows_streaming(together, stride_, apart, piece.run, piece.run, rows);
    }
  }

  bool concat_ = false, streaming_ = false;
  std::int64_t rows_ = 1, stride_ = 0;
  std::vector<Piece> pieces_;
  PlacedTensor whole_;
  Bytes footprint_;
};

std::vector<Offer> PiecesOffers(const MovementConfig& config) {
  const std::string name(ValueText(config.kind));
  const bool concat = config.kind == MovementKind::kConcat;
  const std::vector<Shape>& shapes = concat ? config.inputs : config.outputs;
  const Shape& whole = concat ? config.outputs[0] : config.inputs[0];
  const int bytes = BytesPerElement(config.types.input);
  const auto offer = [&](const std::string& suffix, bool channels_last, bool streaming) {
    return KernelOffer(name + suffix, [=](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<PiecesProgram>(), problem, config, channels_last, streaming);
    });
  };
  std::vector<Offer> offers = {offer("", false, false)};
  if (whole.rank() != 3 || config.axis != 1 || whole.dims[1] <= 1 || whole.dims[2] <= 1 || bytes == 0) return offers;
  const auto add = [&](const std::string& suffix, bool streaming) {
    Offer made = offer(suffix, true, streaming);
    std::string pieces = "acb";
    for (std::size_t i = 1; i < shapes.size(); ++i) pieces += ",acb";
    made.candidate.input_layout = concat ? pieces : "acb";
    made.candidate.output_layout = concat ? "acb" : pieces;
    made.place = [=](const Problem& problem) -> Result<std::vector<Placement>> {
      std::vector<Placement> places;
      for (std::size_t i = 0; i < shapes.size(); ++i)
        places.push_back({concat ? problem.operands[i] : problem.outputs[i], ChannelsLastOrder(shapes[i])});
      places.push_back({concat ? problem.outputs[0] : problem.operands[0], ChannelsLastOrder(whole)});
      return places;
    };
    offers.push_back(std::move(made));
  };
  add("-channels-last", false);
  const auto streams = [&](const Shape& shape) { return shape.dims[1] * bytes % kLine == 0; };
  if (std::ranges::all_of(shapes, streams)) add("-channels-last-stream", true);
  return offers;
}

}  // namespace

std::vector<Offer> MovementKernelOffers(const MovementConfig& config, const LayerValues& values) {
  for (const Shape& shape : config.outputs) {
    if (shape.rank() > 16) return {};
  }
  const auto offer = [&](const std::string& name, auto make) {
    return KernelOffer(name, [config, make](const Problem& problem) { return make(config, problem); });
  };
  const auto rows = [values](const MovementConfig& c, const Problem& p) { return MakeMovementRows(c, values, p); };
  switch (config.kind) {
    case MovementKind::kCopy:
      return {offer("copy", [](const MovementConfig&, const Problem& p) { return MakeCopy(false, p); }),
              offer("copy-stream", [](const MovementConfig&, const Problem& p) { return MakeCopy(true, p); })};
    case MovementKind::kFill:
      return {offer("fill", [](const MovementConfig&, const Problem& p) { return MakeFill(p); })};
    case MovementKind::kTranspose:
      return {offer("transpose", [](const MovementConfig& c, const Problem& p) {
        return MakeTransposeProgram(c.inputs[0], c.permutation, p);
      })};
    case MovementKind::kDepthToSpace:
      return {offer("depth-to-space", MakeDepthToSpace)};
    case MovementKind::kConcat:
    case MovementKind::kSplit:
      return PiecesOffers(config);
    case MovementKind::kSlice:
    case MovementKind::kPad:
    case MovementKind::kTile:
    case MovementKind::kReverse:
    case MovementKind::kTriangle:
      return {offer(ValueText(config.kind), rows)};
    case MovementKind::kExpand:
      return {offer("expand", MakeExpand)};
    case MovementKind::kGather:
      return {offer("gather", MakeGather)};
    case MovementKind::kScatter:
      return {offer("scatter", MakeScatter)};
    case MovementKind::kOneHot:
      return {offer("one-hot", MakeOneHot)};
  }
  return {};
}

std::vector<Offer> ReorderKernelOffers(const ReorderConfig& config) {
  const std::optional<ElementOrder> from = ParseLayout(config.from, config.input),
                                    to = ParseLayout(config.to, config.input);
  const int bytes = BytesPerElement(config.types.input);
  if (!from || !to || !from->is_dense() || !to->is_dense() || bytes == 0 || config.types.output != config.types.input)
    return {};
  const std::optional<CommonDimensions> dimensions = OverCommonDimensions(from->runs, to->runs);
  if (!dimensions || std::max(from->runs.size(), to->runs.size()) > DNNL_MAX_NDIMS) return {};
  const OrderOf source = OrderOfRuns(from->runs), target = OrderOfRuns(to->runs);
  Offer offer = KernelOffer(
      "reorder", [source, target, copy = MakeMemoryCopy(*dimensions, bytes)](const Problem& problem) -> MadeProgram {
        return Prepared<Program>(std::make_unique<ReorderProgram>(), problem, source, target, copy);
      });
  offer.candidate.input_layout = config.from;
  offer.candidate.output_layout = config.to;
  offer.place = [source, target](const Problem& problem) -> Result<std::vector<Placement>> {
    return std::vector<Placement>{{problem.operands[0], source}, {problem.outputs[0], target}};
  };
  return {offer};
}

}  // namespace infimum::cpu
