// The table of a language model: its cells as pairs of a prefill and a step of decoding.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "infimum/base/text.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

std::string FieldOf(const SweepCell& cell, const char* field) {
  const auto found = cell.fields.find(field);
  return found == cell.fields.end() ? "" : found->second;
}

std::int64_t NumberOf(const SweepCell& cell, const char* field) {
  return ParseInteger(FieldOf(cell, field)).value_or(0);
}

// What is least of a cell, and what was measured of it.
struct Phase {
  const SweepCell* cell = nullptr;

  std::optional<Latency> least() const { return cell != nullptr && fits() ? cell->facts.floor : std::nullopt; }
  std::optional<Latency> measured() const { return cell != nullptr ? cell->time : std::nullopt; }
  bool fits() const { return cell == nullptr || cell->state != CellState::kOutOfMemory; }
};

struct Row {
  Phase prefill, decode;
  const SweepCell& any() const { return decode.cell != nullptr ? *decode.cell : *prefill.cell; }
};

// "AMD EPYC, 1 thread", "NVIDIA H200".
std::string PlaceOf(const SweepCell& cell) {
  const std::int64_t threads = cell.kind == DeviceKind::kCpu ? NumberOf(cell, "threads") : 0;
  return cell.device + (threads > 0 ? ", " + CountText(static_cast<std::size_t>(threads), "thread") : "");
}

Cell TimeCell(const std::optional<Latency>& time) {
  Cell cell(time ? FormatLatency(*time) : "");
  if (time) cell.number = time->count();
  return cell;
}

Cell RateCell(const std::optional<double>& rate) {
  if (!rate) return Cell();
  Cell cell(fmt::format("{:.{}f}", *rate, *rate < 100 ? 1 : 0));
  cell.number = *rate;
  return cell;
}

// "weights", "caches", "arithmetic f16": what the time of a token goes into at least.
std::string DecidedBy(const Phase& phase) {
  if (phase.cell == nullptr) return "";
  if (!phase.fits()) return "does not fit: " + phase.cell->reason;
  if (phase.cell->state && *phase.cell->state != CellState::kOk)
    return std::string(Name(*phase.cell->state)) + ": " + phase.cell->reason;
  const std::string& decided = phase.cell->facts.decided_by;
  if (decided.ends_with(", weights")) return "weights";
  if (decided.ends_with(", inputs")) return "caches";
  return decided;
}

TokenRow LeastOf(const Row& row) {
  return {.place = PlaceOf(row.any()),
          .weights = FieldOf(row.any(), "weights"),
          .batch = NumberOf(row.any(), "batch"),
          .context = NumberOf(row.any(), "context"),
          .first = row.prefill.least(),
          .token = row.decode.least(),
          .first_by = DecidedBy(row.prefill),
          .token_by = DecidedBy(row.decode)};
}

// By device, and by weights in the report's order, batch and context.
std::vector<Row> RowsOf(const SweepReport& report) {
  std::vector<Row> list;
  for (std::size_t begin = 0, end = 0; begin < report.cells.size(); begin = end) {
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, Row> rows;
    std::map<std::string, std::size_t> weights;
    for (; end < report.cells.size() && report.cells[end].device == report.cells[begin].device; ++end) {
      const SweepCell& cell = report.cells[end];
      const std::size_t place = weights.try_emplace(FieldOf(cell, "weights"), weights.size()).first->second;
      Row& row = rows[{place, NumberOf(cell, "batch"), NumberOf(cell, "context")}];
      (FieldOf(cell, "phase") == "prefill" ? row.prefill : row.decode).cell = &cell;
    }
    for (auto& [key, row] : rows) list.push_back(row);
  }
  return list;
}

}  // namespace

bool IsOfTokens(const SweepReport& report) {
  return !report.cells.empty() && std::ranges::all_of(report.cells, [](const SweepCell& cell) {
    return cell.fields.contains("phase") && cell.fields.contains("context");
  });
}

Section TokensSection(const SweepReport& report) {
  Section section{.id = "tokens",
                  .title = "Tokens",
                  .note =
                      "Time to the first token: the whole context as a prompt. Tokens a second: of all sequences of "
                      "the batch together, each with so many positions in its caches. All are least times, which "
                      "no program that reads the weights and caches as they are stored is below."};
  section.columns = {NameColumn("device"),
                     NameColumn("weights"),
                     NumberColumn("batch"),
                     NumberColumn("context"),
                     NumberColumn("first token, at least"),
                     NumberColumn("a token, at least"),
                     NumberColumn("tokens/s, at most"),
                     NumberColumn("caches"),
                     NameColumn("decided by")};
  const bool is_measured =
      std::ranges::any_of(report.cells, [](const SweepCell& cell) { return cell.time.has_value(); });
  if (is_measured) {
    section.columns.push_back(NumberColumn("first token"));
    section.columns.push_back(NumberColumn("a token"));
    section.columns.push_back(NumberColumn("tokens/s"));
  }
  for (const Row& row : RowsOf(report)) {
    const TokenRow least = LeastOf(row);
    Cell caches;
    if (row.decode.cell != nullptr && row.decode.cell->facts.inputs) {
      caches = Cell(BytesText(*row.decode.cell->facts.inputs));
      caches.number = static_cast<double>(row.decode.cell->facts.inputs->value);
    }
    TableRow cells{least.place,
                   least.weights,
                   FieldOf(row.any(), "batch"),
                   FieldOf(row.any(), "context"),
                   TimeCell(least.first),
                   TimeCell(least.token),
                   RateCell(least.rate()),
                   std::move(caches),
                   row.decode.cell != nullptr ? least.token_by : least.first_by};
    if (const SweepCell* const prefill = row.prefill.cell; prefill != nullptr && row.decode.cell != nullptr &&
                                                           prefill->state == CellState::kSkipped &&
                                                           prefill->reason != row.decode.cell->reason)
      cells.back().text += "; first token: " + prefill->reason;
    if (is_measured) {
      const TokenRow measured{.place = {},
                              .weights = {},
                              .batch = least.batch,
                              .context = least.context,
                              .first = row.prefill.measured(),
                              .token = row.decode.measured(),
                              .first_by = {},
                              .token_by = {}};
      cells.push_back(TimeCell(measured.first));
      cells.push_back(TimeCell(measured.token));
      cells.push_back(RateCell(measured.rate()));
    }
    section.rows.push_back(std::move(cells));
  }
  return section;
}

std::vector<TokenRow> TokenRows(const SweepReport& report) {
  std::vector<TokenRow> rows;
  for (const Row& row : RowsOf(report)) rows.push_back(LeastOf(row));
  return rows;
}

std::string TokensText(const SweepReport& report, std::size_t width) {
  std::string text = SectionTable(TokensSection(report), width);
  for (const std::string& remark : report.remarks) text += "\n" + remark + "\n";
  return text;
}

}  // namespace infimum
