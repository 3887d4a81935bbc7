// What a candidate says about the layouts that it reads and writes: of each operand that varies, and of its output, the
// order's name in the shape that the workload has for it.
//
//   convolution in=1x64x56x56, blocks of 16 channels       input_layout "aBcd16b"   output_layout "aBcd16b"
//   the same with a residual sum as post-operation         input_layout "aBcd16b,4x16x3136:acb"
//   a 1x1 convolution as a product of pixels and channels  input_layout "acdb"
//
// Operands are separated by commas, row-major ones at the end are left out. Where the workload's shape has lost the
// dimensions that the order speaks of (element-wise members see 12544 elements), the name brings a shape of its own:
// "64x196:ba". An order with gaps has no name there and is "opaque": nothing else can be brought into it.
#pragma once

#include <vector>

#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

// As the offer's orders say; leaves the candidate as it is where there are none.
void StateLayouts(const LayerConfig& config, Offer& offer);

// `inputs`: of in0, in1 ...; null where row-major.
void StateLayouts(const Region& region, const std::vector<OrderOf>& inputs, const OrderOf& output,
                  Candidate& candidate);

}  // namespace infimum::cpu
