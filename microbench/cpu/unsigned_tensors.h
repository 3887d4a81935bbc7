// Signed bytes whose readers want them unsigned, stored so by the step that writes them: an s8 element e is the u8
// element e + 128 where zero points move by 128 too, and nobody has to convert.
//
//   QuantizeLinear -> x, zero point -128;  convolution of x by onednn/as-u8/jit_int8_1x1
//   ->  x is u8 with zero point 0, and the convolution's candidate is onednn/jit_int8_1x1
#pragma once

#include "infimum/graph/replay_schedule.h"

namespace infimum::cpu {

// Changes types of intermediates, of the workloads of the steps that write and read them, and zero points among the
// steps' values, which are numbers by now (ReplayTensors::WithNumbers). A tensor stays signed where the model returns
// it, where a step that touches it has no zero point for it, or where its candidate is not offered on the other type.
void StoreUnsigned(ReplaySchedule& schedule);

}  // namespace infimum::cpu
