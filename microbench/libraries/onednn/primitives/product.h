// What convolutions and matrix products share: scales and zero points of 8-bit integers, a bias, and the element-wise
// steps behind them that oneDNN runs as post-operations.
//
//   .steps = {Binary("add", {1, 256, 56, 56}, type::f32), Eltwise("relu")}
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "form.h"

namespace onednn {

// Numbers of a product of integers. An accumulator that stays s32 is not scaled.
struct Scaling {
  bool scaled = false;
  float input_scale = 1;
  int input_zero = 0;
  std::vector<float> weight_scales{};  // of the output channels, over and over
  float output_scale = 1;
  int output_zero = 0;
};

// A post-operation.
struct Step {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
  // With a second operand: its shape in the rank of the product's result, 1 where it broadcasts.
  memory::dims dims{};
  memory::data_type type = memory::data_type::f32;
  bool constant = false;

  bool binary() const { return !dims.empty(); }
};

// Of a kind that pointwise.cc has.
Step Eltwise(std::string_view kind);
Step Binary(std::string_view kind, memory::dims dims, memory::data_type type, bool constant = false);

// An accumulator of integers takes its bias in s32; a scaled product adds it in f32, after scaling.
memory::data_type BiasType(const Types& types, const Scaling& scaling);

// Whether code for 8-bit inputs adds pairs of products in 16 bits, as instruction sets without VNNI do: sums of
// unsigned inputs overflow, and convolutions of signed ones halve the weights lest they do, which loses the last bit;
// both are more than a contract allows. An implementation may be made for an older set than the processor has, and then
// says so in its name, `algorithm`; one without a set in it uses the processor's.
bool LacksVnni(std::string_view algorithm);

// `channel_mask`: the bit of the output channels among the weights' dimensions.
dnnl::primitive_attr Attributes(const Scaling& scaling, int channel_mask, const std::vector<Step>& steps);

// Appends the arguments of those attributes. `channels`: of the result; the steps' operands follow the product's own,
// of which there are `operands`.
void AddAttributeArguments(const Scaling& scaling, const std::vector<Step>& steps, memory::dim channels,
                           std::size_t operands, std::vector<Argument>& arguments);

}  // namespace onednn
