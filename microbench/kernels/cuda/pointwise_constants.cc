#include "microbench/kernels/cuda/pointwise_constants.h"

#include <bit>

namespace infimum::cuda {
namespace {

template <class Value>
std::string Enumerator(const char* type, Value value) {
  return std::string(type) + "(" + std::to_string(static_cast<int>(value)) + ")";
}

// {text(0), text(1), ...}
template <class Text>
std::string List(int count, const Text& text) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? ", " : "") + text(i);
  return "{" + list + "}";
}

std::string Number(float value) {
  return "__builtin_bit_cast(float, " + std::to_string(std::bit_cast<std::uint32_t>(value)) + "u)";
}
std::string Number(double value) {
  return "__builtin_bit_cast(double, " + std::to_string(std::bit_cast<std::uint64_t>(value)) + "ul)";
}
template <class T>
std::string NumbersOfStep(const T (&values)[3]) {
  return values[0] == 0 && values[1] == 0 && values[2] == 0 ? "{}" : List(3, [&](int i) { return Number(values[i]); });
}

std::string Text(const Box& box) {
  return "{" + std::to_string(box.rank) + ", " +
         List(box.rank, [&](int d) { return "FastDivisor(" + std::to_string(box.size[d].divisor) + ")"; }) + "}";
}

std::string Text(const PointwiseCall::Operand& operand, int rank) {
  return "{nullptr, " + Enumerator("Element", operand.element) + ", " +
         Enumerator("PointwiseCall::Access", operand.access) + ", {" +
         List(rank, [&](int d) { return std::to_string(operand.steps.at[d]); }) + "}}";
}

std::string Text(const PointwiseCall::Step& step) {
  std::string text = "{" + Enumerator("StepKind", step.kind);
  for (const int number : {int{step.first}, int{step.second}, int{step.third}, int{step.save}, int{step.output}})
    text += ", " + std::to_string(number);
  return text + ", " + Enumerator("Element", step.rounded) + ", " + NumbersOfStep(step.f32) + ", " +
         NumbersOfStep(step.f64) + "}";
}

}  // namespace

std::string ConstantText(const PointwiseCall& call) {
  const int rank = call.box.rank > 1 ? call.box.rank : 1;  // of one dimension its step alone is asked for
  std::string text = "{" + Enumerator("Arithmetic", call.arithmetic);
  for (const int number : {call.width, call.operands, call.outputs, call.steps}) text += ", " + std::to_string(number);
  text += ", " + std::to_string(call.count) + "L, " + Text(call.box);
  text += ",\n    " + List(call.operands, [&](int i) { return Text(call.operand[i], rank); });
  text += ",\n    " +
          List(call.outputs, [&](int i) { return "{nullptr, " + Enumerator("Element", call.output[i].element) + "}"; });
  return text + ",\n    " + List(call.steps, [&](int i) { return Text(call.step[i]); }) + "}";
}

}  // namespace infimum::cuda
