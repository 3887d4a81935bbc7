#include "src/app/commands/evaluate/evaluation_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "reports/text/json_values.h"

namespace infimum {
namespace {

using nlohmann::ordered_json;

std::string ShortHash(const std::string& hash) { return hash.substr(0, 12); }

std::string_view Name(Numbers numbers) {
  switch (numbers) {
    case Numbers::kSame:
      return "same";
    case Numbers::kDiffer:
      return "differ";
    case Numbers::kUnknown:
      break;
  }
  return "unknown";
}

// "1.15 times (1.13 to 1.17)"
std::string RatioText(const Verification& verification, const VerifiedCell& cell) {
  if (!verification.ratio || !cell.before || !cell.now) return "";
  return fmt::format("{:.3f} times ({:.3f} to {:.3f})", *cell.now / *cell.before, verification.ratio->low,
                     verification.ratio->high);
}

std::string VerdictText(const Verification& verification) {
  return verification.not_comparable.empty() ? std::string(infimum::Name(verification.verdict)) : "not comparable";
}

// What is otherwise: first what keeps cells from being compared.
std::string WhyText(const Verification& verification) {
  std::vector<std::string> words;
  for (const std::string* text : {&verification.not_comparable, &verification.numbers_text, &verification.undecided})
    if (!text->empty()) words.push_back(*text);
  words.insert(words.end(), verification.causes.begin(), verification.causes.end());
  return Join(words, "; ");
}

ordered_json TimeJson(const std::optional<Latency>& time) {
  return time ? ordered_json(time->count()) : ordered_json(nullptr);
}

}  // namespace

std::optional<Latency> TimeOf(const CellResult& result) {
  if (result.repetitions.empty()) return std::nullopt;
  return PointValue(result.repetitions);
}

Section VerificationTable(std::span<const VerifiedCell> cells, double threshold) {
  Section table;
  const auto count = [&](const auto& holds) { return std::ranges::count_if(cells, holds); };
  const auto verdicts = [&](Verdict verdict) {
    return count([&](const VerifiedCell& cell) {
      return cell.verification.not_comparable.empty() && cell.verification.verdict == verdict;
    });
  };
  table.title =
      fmt::format("{}: {} same within {}, {} faster, {} slower, {} undecided, {} not comparable; numbers differ in {}",
                  CountText(cells.size(), "cell"), verdicts(Verdict::kSame), PercentText(threshold),
                  verdicts(Verdict::kFaster), verdicts(Verdict::kSlower), verdicts(Verdict::kUndecided),
                  count([](const VerifiedCell& cell) { return !cell.verification.not_comparable.empty(); }),
                  count([](const VerifiedCell& cell) { return cell.verification.numbers == Numbers::kDiffer; }));
  table.columns = {"cell",
                   NameColumn("model"),
                   NameColumn("conditions"),
                   "numbers",
                   "verdict",
                   NumberColumn("before"),
                   NumberColumn("now"),
                   "ratio",
                   "why, and what is otherwise"};
  for (const VerifiedCell& cell : cells)
    table.rows.push_back({ShortHash(cell.hash), cell.name, cell.conditions, Name(cell.verification.numbers),
                          VerdictText(cell.verification), cell.before ? FormatLatency(*cell.before) : "",
                          cell.now ? FormatLatency(*cell.now) : "", RatioText(cell.verification, cell),
                          WhyText(cell.verification)});
  return table;
}

std::string VerificationJson(const std::string& hash, std::span<const VerifiedCell> cells) {
  ordered_json list = ordered_json::array();
  for (const VerifiedCell& cell : cells) {
    const Verification& verified = cell.verification;
    ordered_json one = {{"hash", cell.hash},
                        {"model", cell.name},
                        {"conditions", cell.conditions},
                        {"numbers", Name(verified.numbers)},
                        {"verdict", VerdictText(verified)},
                        {"before_us", TimeJson(cell.before)},
                        {"now_us", TimeJson(cell.now)},
                        {"ratio", nullptr},
                        {"causes", verified.causes},
                        {"why", WhyText(verified)}};
    if (verified.ratio) one["ratio"] = {verified.ratio->low, verified.ratio->high};
    list.push_back(std::move(one));
  }
  const ordered_json document = {{"schema", "infimum.verification/1"}, {"evaluation", hash}, {"cells", list}};
  return DumpJson(document, 2) + "\n";
}

std::vector<KnownEffect> KnownEffectsOf(std::span<const FieldDifference> differences,
                                        std::span<const CellAttempt> attempts,
                                        const std::map<std::string, std::string>& texts) {
  struct NewestTime {
    std::map<std::string, std::string> fields;
    double time = 0;
  };
  std::vector<NewestTime> known;
  for (const CellAttempt& attempt : attempts) {
    const auto text = texts.find(attempt.cell);
    if (!attempt.result || !TimeOf(*attempt.result) || text == texts.end()) continue;
    const Result<EvaluationCell> cell = ParseCell(text->second);
    if (!cell.ok()) continue;
    const auto fields = FieldsOf(*cell);
    NewestTime& one = known.emplace_back();
    one.fields = {fields.begin(), fields.end()};
    one.fields["on the device"] = attempt.device;
    one.time = TimeOf(*attempt.result)->count();
  }
  std::vector<KnownEffect> effects;
  for (const FieldDifference& difference : differences) {
    // By everything else the times with a value of either side.
    std::map<std::map<std::string, std::string>, std::pair<std::vector<double>, std::vector<double>>> groups;
    for (const NewestTime& one : known) {
      std::map<std::string, std::string> others = one.fields;
      const auto value = others.extract(difference.field);
      const std::string text = value.empty() ? std::string() : value.mapped();
      const auto is_in = [&](const std::vector<std::string>& values) {
        return std::ranges::find(values, text) != values.end();
      };
      if (is_in(difference.only_here)) groups[others].first.push_back(one.time);
      if (is_in(difference.only_there)) groups[others].second.push_back(one.time);
    }
    std::vector<double> ratios;
    for (const auto& [others, times] : groups)
      for (const double here : times.first)
        for (const double there : times.second) ratios.push_back(there / here);
    KnownEffect effect{ratios.size(), 1};
    if (!ratios.empty()) {
      std::ranges::sort(ratios);
      effect.median = std::sqrt(ratios[(ratios.size() - 1) / 2] * ratios[ratios.size() / 2]);
    }
    effects.push_back(effect);
  }
  return effects;
}

Section DifferenceTable(std::span<const FieldDifference> differences, std::span<const KnownEffect> effects) {
  Section table;
  table.title = differences.empty() ? "The two mean the same cells"
                                    : CountText(differences.size(), "field") + " of the cells differ";
  table.columns = {"field", NameColumn("only in the first"), NameColumn("only in the second"),
                   "second over first, by the store"};
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const KnownEffect& effect = effects[i];
    table.rows.push_back(
        {differences[i].field, Join(differences[i].only_here, ", "), Join(differences[i].only_there, ", "),
         effect.pairs == 0
             ? std::string("not known: no two results differ in it alone")
             : fmt::format("{:.2f} times (median of {})", effect.median, CountText(effect.pairs, "pair"))});
  }
  return table;
}

std::string DifferenceJson(const std::string& hash, const std::string& other,
                           std::span<const FieldDifference> differences, std::span<const KnownEffect> effects) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < differences.size(); ++i)
    list.push_back({{"field", differences[i].field},
                    {"only_first", differences[i].only_here},
                    {"only_second", differences[i].only_there},
                    {"pairs", effects[i].pairs},
                    {"ratio", effects[i].pairs > 0 ? ordered_json(effects[i].median) : ordered_json(nullptr)}});
  const ordered_json document = {
      {"schema", "infimum.evaluation-diff/1"}, {"first", hash}, {"second", other}, {"differences", list}};
  return DumpJson(document, 2) + "\n";
}

}  // namespace infimum
