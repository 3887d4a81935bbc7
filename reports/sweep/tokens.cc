// The table of a language model: its cells as pairs of a prefill and a step of decoding.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "infimum/base/text.h"
#include "reports/sweep/sweep_report.h"
#include "reports/text/fact_text.h"

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
  bool has_room = true;  // for the caches

  std::optional<Latency> least() const { return cell != nullptr && fits() ? cell->facts.floor : std::nullopt; }
  std::optional<Latency> roofline() const { return cell != nullptr && fits() ? cell->roofline : std::nullopt; }
  std::optional<KnownTime> known() const { return cell != nullptr && fits() ? cell->known : std::nullopt; }
  std::optional<Latency> measured() const { return cell != nullptr ? cell->time : std::nullopt; }
  bool fits() const { return has_room && (cell == nullptr || cell->state != CellState::kOutOfMemory); }
  // Of a floor that leaves out layers, how many: "without 16 layers". A remark of the report says which and why.
  std::string lacks() const {
    return cell != nullptr && !cell->state ? cell->reason.substr(0, cell->reason.find(" (")) : "";
  }
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

// "12.3 ms" of rows of the device alone, else an estimate: "~12.3 ms", "~12.3 ms (9.1 to 16.5)".
Cell KnownCell(const std::optional<KnownTime>& known) {
  if (!known) return Cell();
  Cell cell = TimeCell(known->latency);
  if (known->measured < 1)
    cell.text = fmt::format("~{}{}", cell.text,
                            known->between ? fmt::format(" ({} to {})", FormatLatency(known->between->low),
                                                         FormatLatency(known->between->high))
                                           : "");
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
  if (!phase.has_room) return "does not fit: caches";
  if (!phase.fits()) return "does not fit: " + phase.cell->reason;
  if (phase.cell->state && *phase.cell->state != CellState::kOk)
    return std::string(Name(*phase.cell->state)) + ": " + phase.cell->reason;
  const std::string& decided = phase.cell->facts.decided_by;
  return decided.ends_with(", weights") ? "weights" : decided.ends_with(", inputs") ? "caches" : decided;
}

TokenRow LeastOf(const Row& row) {
  return {.place = PlaceOf(row.any()),
          .weights = FieldOf(row.any(), "weights"),
          .batch = NumberOf(row.any(), "batch"),
          .context = NumberOf(row.any(), "context"),
          .first = row.prefill.lacks().empty() ? row.prefill.least() : std::nullopt,
          .token = row.decode.lacks().empty() ? row.decode.least() : std::nullopt,
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
    for (auto& [key, row] : rows) {
      // Where the caches of a step have no room there is none for those that the prefill makes.
      if (!row.decode.fits()) row.prefill.has_room = false;
      list.push_back(row);
    }
  }
  return list;
}

}  // namespace

bool IsOfTokens(const SweepReport& report) {
  return !report.cells.empty() && std::ranges::all_of(report.cells, [](const SweepCell& cell) {
    return cell.fields.contains("phase") && cell.fields.contains("context");
  });
}

Section TokensSection(const SweepReport& report, bool rooflines) {
  Section section{
      .id = "tokens",
      .title = "Tokens",
      .note =
          "TTFT: time to the first token, the whole context as a prompt, with logits of all of it where the "
          "model returns them. TPOT: time of each token behind "
          "it, of all sequences of the batch together, each the last of so many positions. Least: "
          "no program that reads the weights and caches as they are stored, and computes all that the model "
          "does in its types, is below. Roofline: layer after layer at the device's rates, each a kernel that is "
          "started "
          "where the time of a start is known."};
  constexpr double kMuch = 0.1;
  const auto any = [&](const auto& has) { return std::ranges::any_of(report.cells, has); };
  const bool is_known = any([](const SweepCell& cell) { return cell.known.has_value(); });
  rooflines = rooflines && any([](const SweepCell& cell) { return cell.roofline.has_value(); });
  if (is_known)
    section.note +=
        " Kernels: the best that the store has rows of, added up; with ~ an estimate from other devices and other "
        "shapes, with the interval where four devices or more have rows.";
  section.columns = {NameColumn("device"), NameColumn("weights"), NumberColumn("batch"), NumberColumn("context")};
  // Of each phase those that some cell has.
  struct Columns {
    std::string time, phase;
    bool known = false, measured = false;
  };
  std::array<Columns, 2> phases{Columns{"TTFT", "prefill"}, Columns{"TPOT", "decode"}};
  for (Columns& columns : phases) {
    const auto in_phase = [&](const SweepCell& cell) { return FieldOf(cell, "phase") == columns.phase; };
    columns.known = any([&](const SweepCell& cell) { return in_phase(cell) && cell.known; });
    columns.measured = any([&](const SweepCell& cell) { return in_phase(cell) && cell.time; });
    section.columns.push_back(NumberColumn(columns.time + ", least"));
    if (rooflines) section.columns.push_back(NumberColumn(columns.time + ", roofline"));
    if (columns.known) section.columns.push_back(NumberColumn(columns.time + ", kernels"));
    if (columns.measured) section.columns.push_back(NumberColumn(columns.time + ", measured"));
  }
  section.columns.push_back(NumberColumn("tokens/s, most"));
  if (phases[1].measured) section.columns.push_back(NumberColumn("measured"));
  section.columns.push_back(NumberColumn("caches"));
  section.columns.push_back(NameColumn("decided by"));
  for (const Row& row : RowsOf(report)) {
    const TokenRow least = LeastOf(row);
    TableRow& cells = section.rows.emplace_back(
        TableRow{least.place, least.weights, FieldOf(row.any(), "batch"), FieldOf(row.any(), "context")});
    for (const Columns& columns : phases) {
      const Phase& phase = columns.phase == "prefill" ? row.prefill : row.decode;
      cells.push_back(TimeCell(phase.least()));
      if (rooflines) cells.push_back(TimeCell(phase.roofline()));
      if (columns.known) cells.push_back(KnownCell(phase.known()));
      if (columns.measured) cells.push_back(TimeCell(phase.measured()));
    }
    cells.push_back(RateCell(least.rate()));  // none where layers are left out
    if (phases[1].measured) cells.push_back(RateCell(RateOf(least.batch, row.decode.measured())));
    Cell& caches = cells.emplace_back();
    if (row.decode.cell != nullptr && row.decode.cell->facts.inputs && row.decode.lacks().empty()) {
      caches = Cell(BytesText(*row.decode.cell->facts.inputs));
      caches.number = static_cast<double>(row.decode.cell->facts.inputs->value);
    }
    std::string decided = row.decode.cell != nullptr ? least.token_by : least.first_by;
    const std::string first = row.prefill.cell != nullptr && row.prefill.cell->state == CellState::kSkipped
                                  ? row.prefill.cell->reason
                                  : row.prefill.lacks();
    const Phase& step = row.decode.cell != nullptr ? row.decode : row.prefill;
    if (step.cell->launches && step.roofline() && *step.cell->launches >= kMuch * *step.roofline())
      decided += fmt::format("; {} of its roofline are launches", PercentText(*step.cell->launches / *step.roofline()));
    // The same of both is said once.
    const std::string lacks = row.decode.lacks();
    if (!lacks.empty()) decided += "; " + lacks;
    const bool is_said = first == lacks || (row.decode.cell != nullptr && first == row.decode.cell->reason);
    if (!first.empty() && row.decode.cell != nullptr && !is_said) decided += "; TTFT: " + first;
    cells.emplace_back(std::move(decided));
  }
  return section;
}

std::vector<TokenRow> TokenRows(const SweepReport& report) {
  std::vector<TokenRow> rows;
  for (const Row& row : RowsOf(report)) rows.push_back(LeastOf(row));
  return rows;
}

Section TokenDeciders(const SweepReport& report) {
  Section section{.id = "deciders",
                  .title = "Where something else begins to decide",
                  .note = "Along the context: what the least time goes into, of the prefill and of a token behind it.",
                  .columns = {NameColumn("device"), NameColumn("weights"), NumberColumn("batch"),
                              NameColumn("first token"), NameColumn("a token")}};
  // Of the rows from one context to the next, "weights up to 8192, caches from 32768".
  struct Along {
    std::string text, last;
    std::int64_t to = 0;
    bool changes = false;

    void Add(const std::optional<Latency>& time, const std::string& by, std::int64_t context) {
      const std::string now = time ? by : "does not fit, or is not known";
      if (last != now) {
        changes = changes || !last.empty();
        text += last.empty() ? now : fmt::format(" up to {}, {} from {}", to, now, context);
      }
      last = now;
      to = context;
    }
  };
  const std::vector<TokenRow> rows = TokenRows(report);
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const TokenRow& first = rows[begin];
    Along prefill, decode;
    for (; end < rows.size() && rows[end].place == first.place && rows[end].weights == first.weights &&
           rows[end].batch == first.batch;
         ++end) {
      prefill.Add(rows[end].first, rows[end].first_by, rows[end].context);
      decode.Add(rows[end].token, rows[end].token_by, rows[end].context);
    }
    if (prefill.changes || decode.changes)
      section.rows.push_back({first.place, first.weights, std::to_string(first.batch), prefill.text, decode.text});
  }
  return section;
}

std::string TokensText(const SweepReport& report, std::size_t width) {
  // Rooflines where there is room.
  std::string text = SectionTable(TokensSection(report, true), 0);
  const auto lines = Split(text, '\n');
  if (width > 0 && std::ranges::any_of(lines, [&](std::string_view line) { return DisplayWidth(line) > width; }))
    text = SectionTable(TokensSection(report, false), width);
  if (const Section deciders = TokenDeciders(report); !deciders.rows.empty())
    text += fmt::format("\n{}\n{}", deciders.title, SectionTable(deciders, width));
  for (const std::string& remark : report.remarks) text += "\n" + remark + "\n";
  return text;
}

}  // namespace infimum
