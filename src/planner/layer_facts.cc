#include "src/planner/layer_facts.h"

#include <cstring>

namespace infimum {
namespace {

// The numbers of a constant of few elements.
std::optional<std::vector<double>> NumbersOf(const Value& value) {
  if (!value.constant) return std::nullopt;
  const Tensor& constant = *value.constant;
  const auto read = [&]<class T>(T) {
    std::vector<double> numbers;
    for (std::size_t at = 0; at + sizeof(T) <= constant.bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, constant.bytes.data() + at, sizeof element);
      numbers.push_back(static_cast<double>(element));
    }
    return std::optional(std::move(numbers));
  };
  switch (constant.type) {
    case DataType::kF32:
      return read(float{});
    case DataType::kF64:
      return read(double{});
    case DataType::kS32:
      return read(std::int32_t{});
    case DataType::kS64:
      return read(std::int64_t{});
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<double> LayerFacts::NumberAttribute(const std::string& name) const {
  const auto found = layer_.attributes.find(name);
  if (found == layer_.attributes.end()) return std::nullopt;
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<std::string> LayerFacts::TextAttribute(const std::string& name) const {
  const auto found = layer_.attributes.find(name);
  const auto* text = found == layer_.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

std::optional<std::vector<double>> LayerFacts::ListAttribute(const std::string& name) const {
  const auto found = layer_.attributes.find(name);
  if (found == layer_.attributes.end()) return std::nullopt;
  if (const auto* numbers = std::get_if<std::vector<double>>(&found->second)) return *numbers;
  const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
  if (list == nullptr) return std::nullopt;
  return std::vector<double>(list->begin(), list->end());
}

std::optional<std::vector<double>> LayerFacts::InputNumbers(std::size_t position) const {
  return HasInput(position) ? NumbersOf(graph_.value(*layer_.inputs[position])) : std::nullopt;
}

std::optional<Shape> LayerFacts::InputShape(std::size_t position) const {
  return HasInput(position) ? graph_.value(*layer_.inputs[position]).shape : std::nullopt;
}

std::optional<Shape> LayerFacts::OutputShape(std::size_t position) const {
  if (position >= layer_.outputs.size() || !layer_.outputs[position]) return std::nullopt;
  return graph_.value(*layer_.outputs[position]).shape;
}

}  // namespace infimum
