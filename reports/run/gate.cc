#include "reports/run/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infimum/base/enum_names.h"
#include "infimum/base/utf8.h"
#include "reports/text/terminal_text.h"

namespace infimum {

std::string_view Name(GateOutcome outcome) {
  constexpr EnumNames<GateOutcome::kNotJudged> kNames = {"held", "DID NOT HOLD", "NOT JUDGED"};
  return kNames[outcome];
}

Gate NotJudged(std::string name, std::string run, std::string why) {
  return {std::move(name), std::move(run), "not-judged", std::move(why), GateOutcome::kNotJudged};
}

GateOutcome Worst(std::span<const Gate> gates) {
  const auto has = [&gates](GateOutcome outcome) {
    return std::ranges::find(gates, outcome, &Gate::outcome) != gates.end();
  };
  if (has(GateOutcome::kNotHeld)) return GateOutcome::kNotHeld;
  return has(GateOutcome::kNotJudged) ? GateOutcome::kNotJudged : GateOutcome::kHeld;
}

std::string GateText(const Gate& gate) {
  return Printable(fmt::format("{}: {}: {}: {}", gate.name, Name(gate.outcome), gate.run, gate.text));
}

std::string GatesText(std::span<const Gate> gates, std::size_t width) {
  std::string text;
  for (const Gate& gate : gates) text += '\n' + IndentedText("", GateText(gate), 2, width);
  return text;
}

void to_json(OrderedJson& json, const Gate& gate) {
  const bool is_judged = gate.outcome != GateOutcome::kNotJudged;
  json = {{"gate", gate.name},
          {"run", gate.run},
          {"verdict", gate.verdict},
          {"held", is_judged ? OrderedJson(gate.outcome == GateOutcome::kHeld) : OrderedJson(nullptr)},
          {"text", gate.text}};
}

}  // namespace infimum
