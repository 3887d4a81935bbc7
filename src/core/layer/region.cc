#include "infimum/layer/region.h"

#include <algorithm>
#include <map>

#include "infimum/base/text.h"
#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::size_t kMostMembers = 256;
constexpr std::string_view kWord = "region ";
constexpr std::string_view kBetween = " ; ";
constexpr std::string_view kOutputs = " out=";

std::string OperandText(const RegionOperand& operand) {
  const std::string number = std::to_string(operand.index);
  switch (operand.source) {
    case RegionOperand::Source::kInput:
      return "in" + number;
    case RegionOperand::Source::kWeight:
      return "w" + number;
    case RegionOperand::Source::kMember:
      return "%" + number;
  }
  CheckFailed(__FILE__, __LINE__, "operand.source", "a region operand's source is one of the enumerators");
}

std::optional<RegionOperand> ReadOperand(std::string_view text) {
  using Source = RegionOperand::Source;
  constexpr std::pair<std::string_view, Source> kPrefixes[] = {
      {"in", Source::kInput}, {"w", Source::kWeight}, {"%", Source::kMember}};
  for (const auto& [prefix, source] : kPrefixes) {
    if (!text.starts_with(prefix)) continue;
    const std::optional<std::int64_t> index = ParseInteger(text.substr(prefix.size()));
    if (index && *index >= 0) return RegionOperand{source, *index};
  }
  return std::nullopt;
}

// Walks over the text; columns count from 1.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }
  std::size_t column() const { return at_ + 1; }
  bool Skip(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  // The text up to `end`, which is skipped; nullopt where `end` does not come.
  std::optional<std::string_view> Until(char end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) return std::nullopt;
    const std::string_view piece = text_.substr(at_, found - at_);
    at_ = found + 1;
    return piece;
  }
  std::string_view Rest() {
    const std::string_view rest = text_.substr(at_);
    at_ = text_.size();
    return rest;
  }
  Error Expected(std::string_view what) const {
    const std::string_view rest = text_.substr(at_);
    return Within(std::to_string(column()), Error{"expected " + std::string(what) +
                                                  (rest.empty() ? ", the text ends here" : ", not " + Quoted(rest))});
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

Result<std::vector<RegionOperand>> ParseOperands(std::string_view text, std::size_t column) {
  std::vector<RegionOperand> operands;
  if (text.empty()) return operands;  // a fill has none
  for (const std::string_view piece : Split(text, ',')) {
    const std::optional<RegionOperand> operand = ReadOperand(piece);
    if (!operand)
      return Within(std::to_string(column), Error{Quoted(piece) + " is not an operand, write in0, w0 or %0"});
    operands.push_back(*operand);
    column += piece.size() + 1;
  }
  return operands;
}

Result<RegionMember> ParseMember(Reader& reader) {
  if (!reader.Skip("[")) return reader.Expected("a member in brackets, such as [pointwise ...](in0)");
  const std::size_t config_column = reader.column();
  const std::optional<std::string_view> config_text = reader.Until(']');
  if (!config_text) return Within(std::to_string(config_column - 1), Error{"this '[' is never closed, add ']'"});
  INFIMUM_ASSIGN_OR_RETURN(LayerConfig config, ParseLayerConfigAt(*config_text, config_column));
  if (!reader.Skip("(")) return reader.Expected("the member's operands, such as (in0,w0)");
  const std::size_t operands_column = reader.column();
  const std::optional<std::string_view> operands_text = reader.Until(')');
  if (!operands_text) return Within(std::to_string(operands_column - 1), Error{"this '(' is never closed, add ')'"});
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RegionOperand> operands, ParseOperands(*operands_text, operands_column));
  return RegionMember{std::move(config), std::move(operands)};
}

Result<std::vector<std::int64_t>> ParseOutputs(std::string_view text, std::size_t column) {
  std::vector<std::int64_t> outputs;
  for (const std::string_view piece : Split(text, ',')) {
    const std::optional<RegionOperand> operand = ReadOperand(piece);
    if (!operand || operand->source != RegionOperand::Source::kMember)
      return Within(std::to_string(column), Error{Quoted(piece) + " is not a member, write out=%0,%1"});
    outputs.push_back(operand->index);
    column += piece.size() + 1;
  }
  return outputs;
}

std::string MemberName(std::size_t index) { return "member %" + std::to_string(index); }

// Elements of the first output, the only one that members pass on.
std::int64_t OutputElements(const LayerConfig& config) { return ElementCount(OutputsOf(config)[0].shape); }

// What Validate learns from member to member.
class OperandCheck {
 public:
  Status Check(const RegionOperand& operand, const Operand& wanted) {
    const std::string name = OperandText(operand);
    if (wanted.constant && operand.source != RegionOperand::Source::kWeight)
      return Error{name + " stands where the configuration has a constant, write w0 or weights=variable"};
    const std::int64_t elements = ElementCount(wanted.shape);
    if (operand.source == RegionOperand::Source::kMember) {
      if (operand.index < 0 || operand.index >= static_cast<std::int64_t>(member_elements_.size()))
        return Error{name + " is not an earlier member"};
      used_[static_cast<std::size_t>(operand.index)] = true;
      return Same(name, member_elements_[static_cast<std::size_t>(operand.index)], elements);
    }
    std::vector<std::int64_t>& known = operand.source == RegionOperand::Source::kInput ? inputs_ : weights_;
    const auto next = static_cast<std::int64_t>(known.size());
    if (operand.index == next) known.push_back(elements);
    if (operand.index < 0 || operand.index > next)
      return Error{name + " is out of order, numbers count up from 0 in order of first use: the next is " +
                   std::to_string(next)};
    return Same(name, known[static_cast<std::size_t>(operand.index)], elements);
  }
  void AddMember(std::int64_t elements) {
    member_elements_.push_back(elements);
    used_.push_back(false);
  }
  bool IsUsed(std::size_t member) const { return used_[member]; }

 private:
  static Status Same(const std::string& name, std::int64_t given, std::int64_t wanted) {
    if (given == wanted) return {};
    return Error{name + " has " + std::to_string(given) + " elements, but " + std::to_string(wanted) +
                 " are wanted here"};
  }

  std::vector<std::int64_t> inputs_, weights_, member_elements_;
  std::vector<bool> used_;
};

Status CheckOutputs(const Region& region) {
  const auto last = static_cast<std::int64_t>(region.members.size()) - 1;
  std::int64_t previous = -1;
  for (const std::int64_t output : region.outputs) {
    if (output < 0 || output > last) return Error{"output %" + std::to_string(output) + " is not a member"};
    if (output <= previous) return Error{"outputs must ascend, sort them and name each once"};
    previous = output;
  }
  if (previous != last) return Error{"the last member must be an output, add %" + std::to_string(last) + " to out"};
  return {};
}

Status CheckTotals(const Region& region) {
  ExactCount direct = 0;
  for (const RegionMember& member : region.members) direct = direct + WorkOf(member.config).direct.value;
  INFIMUM_RETURN_IF_ERROR(direct.AsFlops());
  return {};
}

}  // namespace

std::string Format(const Region& region) {
  std::string text(kWord);
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    if (i > 0) text += kBetween;
    text += '[' + Format(region.members[i].config) + "](";
    for (std::size_t j = 0; j < region.members[i].operands.size(); ++j) {
      if (j > 0) text += ',';
      text += OperandText(region.members[i].operands[j]);
    }
    text += ')';
  }
  const auto last = static_cast<std::int64_t>(region.members.size()) - 1;
  if (region.outputs == std::vector<std::int64_t>{last}) return text;
  text += kOutputs;
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    text += (i > 0 ? ",%" : "%") + std::to_string(region.outputs[i]);
  return text;
}

Result<Region> ParseRegion(std::string_view text) {
  Reader reader(text);
  if (!reader.Skip(kWord)) return reader.Expected("a region, such as 'region [pointwise ...](in0)'");
  Region region;
  do {
    if (region.members.size() == kMostMembers)
      return Within(std::to_string(reader.column()),
                    Error{"a region has at most " + std::to_string(kMostMembers) + " members"});
    INFIMUM_ASSIGN_OR_RETURN(RegionMember member, ParseMember(reader));
    region.members.push_back(std::move(member));
  } while (reader.Skip(kBetween));
  region.outputs = {static_cast<std::int64_t>(region.members.size()) - 1};
  if (reader.Skip(kOutputs)) {
    const std::size_t column = reader.column();
    INFIMUM_ASSIGN_OR_RETURN(region.outputs, ParseOutputs(reader.Rest(), column));
  }
  if (!reader.AtEnd()) return reader.Expected("' ; ' and a further member, or the end");
  if (Status status = Validate(region); !status.ok()) return Within("1", status.error());
  return region;
}

Status Validate(const Region& region) {
  if (region.members.empty()) return Error{"a region has at least one member"};
  if (region.members.size() > kMostMembers)
    return Error{"a region has at most " + std::to_string(kMostMembers) + " members"};
  OperandCheck check;
  for (std::size_t i = 0; i < region.members.size(); ++i) {
    const RegionMember& member = region.members[i];
    if (Status status = Validate(member.config); !status.ok()) return Within(MemberName(i), status.error());
    const std::vector<Operand> wanted = OperandsOf(member.config);
    if (wanted.size() != member.operands.size())
      return Within(MemberName(i),
                    Error{std::string(FamilyOf(member.config)) + " takes " + std::to_string(wanted.size()) +
                          " operands here, not " + std::to_string(member.operands.size())});
    for (std::size_t j = 0; j < wanted.size(); ++j)
      if (Status status = check.Check(member.operands[j], wanted[j]); !status.ok())
        return Within(MemberName(i), status.error());
    check.AddMember(OutputElements(member.config));
  }
  INFIMUM_RETURN_IF_ERROR(CheckOutputs(region));
  for (std::size_t i = 0; i < region.members.size(); ++i)
    if (!check.IsUsed(i) && std::ranges::find(region.outputs, static_cast<std::int64_t>(i)) == region.outputs.end())
      return Error{MemberName(i) + " is neither used nor an output, remove it or add it to out"};
  return CheckTotals(region);
}

// Operands from outside are listed in order of first use. One that several members read counts as much
// as the member that reads most of it.
Work WorkOf(const Region& region) {
  Work total;
  std::map<RegionOperand, std::size_t> place;
  for (const RegionMember& member : region.members) {
    const Work work = WorkOf(member.config);
    total.direct += work.direct;
    total.conventional += work.conventional;
    for (std::size_t i = 0; i < member.operands.size(); ++i) {
      if (member.operands[i].source == RegionOperand::Source::kMember) continue;
      const auto [entry, added] = place.try_emplace(member.operands[i], total.operand_reads.size());
      if (added) total.operand_reads.emplace_back();
      Bytes& bytes = total.operand_reads[entry->second];
      bytes = std::max(bytes, work.operand_reads[i]);
    }
  }
  for (const std::int64_t output : region.outputs)
    total.written += WorkOf(region.members[static_cast<std::size_t>(output)].config).written;
  return total;
}

std::vector<std::size_t> PlacesByFirstUse(const Region& region) {
  std::vector<RegionOperand> first_use;
  std::size_t inputs = 0;
  for (const RegionMember& member : region.members) {
    for (const RegionOperand& operand : member.operands) {
      if (operand.source == RegionOperand::Source::kMember) continue;
      if (std::ranges::find(first_use, operand) != first_use.end()) continue;
      first_use.push_back(operand);
      inputs += operand.source == RegionOperand::Source::kInput ? 1 : 0;
    }
  }
  std::vector<std::size_t> places;
  for (const RegionOperand& operand : first_use) {
    const auto index = static_cast<std::size_t>(operand.index);
    places.push_back(operand.source == RegionOperand::Source::kInput ? index : inputs + index);
  }
  return places;
}

}  // namespace infimum
