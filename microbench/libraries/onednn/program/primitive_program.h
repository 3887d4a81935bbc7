// One oneDNN primitive as a Program: operands brought into the layouts that the implementation wants
// (before anything is timed), scratch memory allocated, arguments bound.
//
// A tensor may be of another type than the primitive computes in (f16 where the processor has only f32): it
// then lies in memory in its own type, in the primitive's layout, and each run converts it, which is timed.
// Constants are converted before. Where only the sign bit differs (s8 where products want u8) that is a
// matter of layout: Pack() flips it.
//
//   PrimitiveCall call{pd};
//   call.inputs = {{DNNL_ARG_SRC, input, PlainDesc(...)}, {DNNL_ARG_WEIGHTS, weights, ..., true}};
//   call.outputs = {{DNNL_ARG_DST, output, PlainDesc(...)}};
//   MakePrimitiveProgram(call);
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

struct PrimitiveCall {
  struct Input {
    int argument;
    const HostTensor* tensor;
    dnnl::memory::desc described;  // how the primitive sees the tensor's row-major memory
    bool constant = false;
  };
  struct Output {
    int argument;
    HostTensor* tensor;
    dnnl::memory::desc described;
  };
  // Small constant vectors that are not operands: run-time scales, zero points.
  struct Vector {
    int argument;
    std::vector<float> floats;
    std::vector<std::int32_t> integers;
    Shape shape = {};  // where the primitive wants more than one dimension
  };

  dnnl::primitive_desc_base implementation;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Vector> vectors;
  // Tensors made for this call, which live as long as the program; and what is left to do after the
  // outputs were unpacked.
  std::vector<std::shared_ptr<HostTensor>> owned;
  std::function<void()> after_unpack;
  // Elements are moved as they are: the primitive's type only has their size.
  bool moves_bits = false;
};

MadeProgram MakePrimitiveProgram(const PrimitiveCall& call);

// The layout that the implementation wants for an argument; as described where it has no opinion.
dnnl::memory::desc WantedDesc(const PrimitiveCall& call, int argument, const dnnl::memory::desc& described);

// Copies between two layouts of one tensor.
Status ReorderMemory(const dnnl::memory::desc& from, void* source, const dnnl::memory::desc& to, void* target);

}  // namespace infimum::cpu
