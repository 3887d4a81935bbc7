// Max, average and Lp pooling; global pooling is a kernel of the input's spatial extent.
//
//   pooling kind=max dtype=f32:-:f32 in=1x64x112x112 out=1x64x56x56 kernel=3x3 stride=2x2 dilation=1x1 pad=1,1,1,1
//
// `out` is written out because ceil_mode and automatic padding make it more than a formula.
// Operands: input.
#pragma once

#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/reduction.h"
#include "src/core/layer/work.h"

namespace infimum {

// One line each in reduction_kinds.def.
enum class PoolingKind {
#define INFIMUM_POOLING(kind, ...) kind,
#include "src/core/layer/reduction_kinds.def"
};
std::span<const NamedValue<PoolingKind>> NamesOf(PoolingKind);

struct PoolingConfig {
  PoolingKind kind = PoolingKind::kMax;
  OperandTypes types;
  Shape input;
  Shape output;
  Shape kernel;
  Shape stride;
  Shape dilation;
  std::vector<std::int64_t> padding;

  static constexpr std::string_view kName = "pooling";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("out", self.output);
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("dilation", self.dilation);
    visit("pad", self.padding);
  }
  friend bool operator==(const PoolingConfig&, const PoolingConfig&) = default;
};

// What is done with the elements of a window, and whether padding counts where that divides.
ReductionKind ReductionOf(PoolingKind kind);
bool CountsPadding(PoolingKind kind);

// direct = output elements * prod(kernel); conventional counts valid taps only.
Work WorkOf(const PoolingConfig& config);
Status Validate(const PoolingConfig& config);
std::vector<Operand> OutputsOfFamily(const PoolingConfig& config);

}  // namespace infimum
