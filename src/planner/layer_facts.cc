#include "src/planner/layer_facts.h"

namespace infimum {

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
  if (!HasInput(position)) return std::nullopt;
  const std::optional<Tensor>& constant = graph_.value(*layer_.inputs[position]).constant;
  return constant ? NumbersOf(&*constant) : std::nullopt;
}

std::optional<Shape> LayerFacts::InputShape(std::size_t position) const {
  return HasInput(position) ? graph_.value(*layer_.inputs[position]).shape : std::nullopt;
}

std::optional<Shape> LayerFacts::OutputShape(std::size_t position) const {
  if (position >= layer_.outputs.size() || !layer_.outputs[position]) return std::nullopt;
  return graph_.value(*layer_.outputs[position]).shape;
}

}  // namespace infimum
