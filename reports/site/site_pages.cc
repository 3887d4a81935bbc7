#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <set>
#include <tuple>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/site/site_report.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

// Rows that a page shows until all are asked for, and the most that it has.
constexpr std::size_t kShownRows = 20, kShownModels = 30, kMostRows = 200;
constexpr double kMatters = 0.05;  // of a run against its bound

using Places = std::vector<const SitePlace*>;

Cell LinkCell(std::string text, std::string link) {
  Cell cell(std::move(text));
  cell.link = std::move(link);
  return cell;
}

Cell RatioCell(double ratio) { return {fmt::format("{:.3g}", ratio), ratio}; }

Cell TimeCell(Latency time) { return {FormatLatency(time), time.count()}; }

// "2026-11-20" of "2026-11-20T08:15:00Z".
std::string DayOf(const std::string& utc) { return utc.substr(0, utc.find('T')); }

// "gpu-7" of "devices/gpu-7.html": a device's row in a model's page, and the other way round.
std::string AnchorOf(const std::string& path) {
  const std::size_t slash = path.find('/') + 1;
  return path.substr(slash, path.rfind('.') - slash);
}

std::string NameOf(const SiteModel& model) { return model.name + (model.dims.empty() ? "" : " " + model.dims); }
const std::string& NameOf(const SiteDevice& device) { return device.name; }

// To the page of a model or a device; the pages of a site stand one folder below the index.
Cell LinkTo(const auto& of, bool from_index = true) {
  return LinkCell(NameOf(of), (from_index ? "" : "../") + of.path);
}

// What most layers say is left to the hint: "convolution f32 in=1x960x7x7 out_channels=160 kernel=1x1".
Cell LayerCell(const std::string& workload) {
  constexpr std::array<std::string_view, 6> kUsual = {"bias=no",     "dilation=1x1", "groups=1",
                                                      "pad=0,0,0,0", "stride=1x1",   "weights=const"};
  constexpr std::string_view kTypes = "dtype=";
  std::vector<std::string> words;
  for (const std::string_view word : Split(workload, ' ')) {
    if (IsOneOf(word, kUsual)) continue;
    words.emplace_back(word);
    if (!word.starts_with(kTypes)) continue;
    const std::vector<std::string_view> types = Split(word.substr(kTypes.size()), ':');
    if (std::ranges::all_of(types, [&](std::string_view type) { return type == types.front(); }))
      words.back() = types.front();
  }
  Cell cell(Join(words, " "));
  cell.hint = workload;
  return cell;
}

std::string LayersText(const SitePlace& place, const SiteModel& model) {
  return fmt::format("{} of {}", place.measured, model.layers + model.unknown);
}

// `infimum query NAME PARAMETER... --db STORE`
std::string AskedBy(const SiteReport& report, std::string_view query, const std::vector<std::string>& parameters = {}) {
  std::string text = fmt::format("`infimum query {}", query);
  for (const std::string& parameter : parameters) text += " " + ShellQuoted(parameter);
  if (!report.address.empty()) text += " --db " + ShellQuoted(report.address);
  return text + "`";
}

// Of processors alone.
Cell ThreadsCell(const SiteDevice& device, std::int64_t threads) {
  return device.is_gpu ? Cell() : CountCell(static_cast<std::size_t>(threads));
}
bool HasThreads(const SiteReport& report, const auto& facts) {
  return std::ranges::any_of(facts, [&](const auto& fact) { return !report.devices[fact.device].is_gpu; });
}

// How far the best run is from what was shown to be possible, as a colour and in words.
void SetGap(const SitePlace& place, Cell& cell) {
  const std::optional<double> gap = place.gap();
  if (!gap) return;
  cell.ratio = gap;
  cell.aside = fmt::format("{:.3g}x", *gap);
  cell.tone = *gap > 1 + kMatters ? CellTone::kSlower : *gap < 1 ? CellTone::kFaster : CellTone::kSame;
}

// A device, of a processor by so many threads: a column of the index.
struct Column {
  std::size_t device = 0;
  std::int64_t threads = 1;
};

std::vector<Column> ColumnsOf(const SiteReport& report) {
  std::vector<std::set<std::int64_t>> threads(report.devices.size());
  for (const SitePlace& place : report.places) threads[place.device].insert(place.threads);
  std::vector<Column> columns;
  for (std::size_t device = 0; device < threads.size(); ++device) {
    if (threads[device].empty()) threads[device].insert(1);
    for (const std::int64_t number : threads[device]) columns.push_back({device, number});
  }
  return columns;
}

std::string TitleOf(const SiteReport& report, const Column& column) {
  const SiteDevice& device = report.devices[column.device];
  if (device.is_gpu) return device.name;
  return device.name + ", " + CountText(static_cast<std::size_t>(column.threads), "thread");
}

Cell MatrixCell(const SiteReport& report, const SiteModel& model, const SitePlace* place) {
  if (place == nullptr) {
    Cell none("–");
    none.tone = CellTone::kUnknown;
    return none;
  }
  Cell cell =
      place->is_complete ? TimeCell(place->bound) : Cell(LayersText(*place, model) + (model.unknown > 0 ? "?" : ""));
  if (place->is_complete) {
    SetGap(*place, cell);
  } else {
    cell.tone = CellTone::kUnknown;
  }
  cell.link = model.path + "#" + AnchorOf(report.devices[place->device].path);
  cell.hint = fmt::format("{}, {}\n{} layers\n{}{}", NameOf(model), TitleOf(report, {place->device, place->threads}),
                          LayersText(*place, model), place->libraries,
                          place->newest.empty() ? std::string() : ", rows up to " + DayOf(place->newest));
  if (place->run) cell.hint += fmt::format("\n{} {}", place->run->framework, FormatLatency(place->run->time));
  return cell;
}

Section Matrix(const SiteReport& report) {
  Section section{.id = "models",
                  .title = "Models by devices",
                  .note =
                      "The sequential bound with warm caches: the best known time of each layer, in sum. Behind it how "
                      "many times as long the fastest run of a framework takes, which its colour says too. In italics: "
                      "how many layers have a time, where not all have."};
  section.columns = {NameColumn("model"), NumberColumn("layers")};
  section.first_side = section.columns.size();
  section.shown = kShownModels;
  const std::vector<Column> columns = ColumnsOf(report);
  for (const Column& column : columns) section.columns.push_back(NumberColumn(TitleOf(report, column)));
  for (std::size_t model = 0; model < report.models.size(); ++model) {
    const SiteModel& of = report.models[model];
    TableRow& row = section.rows.emplace_back();
    row = {LinkTo(of), CountCell(static_cast<std::size_t>(of.layers + of.unknown))};
    for (const Column& column : columns)
      row.push_back(MatrixCell(report, of, FindPlace(report, model, column.device, column.threads)));
  }
  return section;
}

Section Changes(const SiteReport& report) {
  Section section{.id = "changes",
                  .title = "What changed",
                  .note = report.since.empty()
                              ? std::string("Nothing since the first site in this folder.")
                              : fmt::format("Since the site with rows up to {}.{}", DayOf(report.since),
                                            report.changes.empty() ? " Nothing of what it shows." : "")};
  section.shown = kShownRows;
  if (!report.changes.empty()) section.columns = {"what", NameColumn("of"), "before", "now"};
  AddRows(report.changes, kMostRows, section, [](const SiteChange& change) {
    return TableRow{change.what, change.where, change.before, change.after};
  });
  return section;
}

Section Devices(const SiteReport& report) {
  Section section{.id = "devices", .title = "Devices", .note = AskedBy(report, "staleness")};
  section.columns = {NameColumn("device"),
                     "generation",
                     "year",
                     NumberColumn("models"),
                     NumberColumn("complete bounds"),
                     NameColumn("libraries"),
                     "newest row",
                     NumberColumn("rows"),
                     NumberColumn("library sets")};
  for (std::size_t device = 0; device < report.devices.size(); ++device) {
    const SiteDevice& of = report.devices[device];
    std::set<std::size_t> models, complete;
    for (const SitePlace& place : report.places) {
      if (place.device != device) continue;
      models.insert(place.model);
      if (place.is_complete) complete.insert(place.model);
    }
    std::int64_t rows = 0;
    for (const SiteLibraries& libraries : of.libraries) rows += libraries.measurements;
    const SiteLibraries newest = of.libraries.empty() ? SiteLibraries{} : of.libraries.front();
    section.rows.push_back({LinkTo(of), of.generation, of.year ? std::to_string(*of.year) : "",
                            CountCell(models.size()), CountCell(complete.size()), newest.libraries,
                            DayOf(newest.newest), CountCell(static_cast<std::size_t>(rows)),
                            CountCell(of.libraries.size())});
  }
  return section;
}

// Of one model or one device, or all of them.
Section Holes(const SiteReport& report, std::optional<std::size_t> model, std::optional<std::size_t> device) {
  Section section{.id = "holes", .title = "Layers without a time", .shown = kShownRows};
  std::vector<std::string> parameters;
  if (model) parameters.push_back("model=" + report.models[*model].name);
  if (device) parameters.push_back("device=" + report.devices[*device].asked);
  const std::string asked = AskedBy(report, "coverage", parameters);
  const auto is_shown = [&](const SiteHole& hole) {
    return (!model || hole.model == *model) && (!device || hole.device == *device);
  };
  if (std::ranges::none_of(report.holes, is_shown)) {
    section.note = "Every layer that can be measured has a time.";
    return section;
  }
  std::vector<SiteHole> holes;
  std::ranges::copy_if(report.holes, std::back_inserter(holes), is_shown);
  const bool has_threads = HasThreads(report, holes);
  section.note = "Configurations of layers. The command, run on the device, measures what is missing. " + asked +
                 (has_threads ? " names those of one thread; `threads=2` those of two." : " names them.");
  section.columns = {NameColumn("model"), NameColumn("device")};
  if (has_threads) section.columns.push_back(NumberColumn("threads"));
  for (const char* title : {"missing", "failed", "unsupported"}) section.columns.push_back(NumberColumn(title));
  section.columns.push_back(NameColumn("filled by"));
  std::ranges::stable_sort(holes, std::greater<>(), &SiteHole::missing);
  const bool is_index = !model && !device;
  AddRows(holes, kMostRows, section, [&](const SiteHole& hole) {
    const SiteModel& of = report.models[hole.model];
    const SiteDevice& on = report.devices[hole.device];
    std::string command;
    if (hole.missing + hole.failed > 0) {
      command = fmt::format("infimum analyze {}", ShellQuoted(of.name + ".onnx"));
      for (const std::string& binding : of.bindings) command += " --dim " + ShellQuoted(binding);
      if (on.is_gpu) command += " --backend cuda";
      if (hole.threads != 1) command += fmt::format(" --threads {}", hole.threads);
      if (!report.address.empty()) command += " --db " + ShellQuoted(report.address);
    }
    Cell filled(command);
    filled.is_code = true;
    TableRow row{LinkTo(of, is_index), LinkTo(on, is_index)};
    if (has_threads) row.push_back(ThreadsCell(on, hole.threads));
    for (const std::int64_t layers : {hole.missing, hole.failed, hole.unsupported})
      row.push_back(CountCell(static_cast<std::size_t>(layers)));
    row.push_back(filled);
    return row;
  });
  return section;
}

Section Upgrades(const SiteReport& report) {
  Section section{.id = "upgrades",
                  .title = "Upgrades of libraries",
                  .note =
                      "Layers whose best time by the library's candidates changed by more than 5 % and beyond both "
                      "intervals, on the same device."};
  section.columns = {NameColumn("upgrade"), NumberColumn("slower"), NumberColumn("faster"), NumberColumn("devices"),
                     NumberColumn("median ratio")};
  for (const SiteUpgrade& upgrade : report.upgrades) {
    std::vector<double> ratios;
    std::set<std::size_t> devices;
    for (const UpgradedLayer& layer : upgrade.layers)
      ratios.push_back(layer.after / layer.before), devices.insert(layer.device);
    std::ranges::sort(ratios);
    const auto slower = static_cast<std::size_t>(std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; }));
    const double median = ratios[ratios.size() / 2];
    section.rows.push_back(
        {LinkCell(fmt::format("{} {} to {}", upgrade.library, upgrade.from, upgrade.to), upgrade.path),
         CountCell(slower), CountCell(ratios.size() - slower), CountCell(devices.size()), RatioCell(median)});
  }
  return section;
}

// Runs that are faster than what the store's rows add up to, which says that something in it is missing or old.
Section Inversions(const SiteReport& report) {
  Section section{.id = "inversions",
                  .title = "Runs below their bound",
                  .note =
                      "A framework ran faster than the best known kernels in sum: it fuses more, has a kernel that "
                      "no candidate is, or the rows are of slower clocks. `infimum compare` tells which layers."};
  section.columns = {NameColumn("model"),  NameColumn("device"),  "run",
                     NumberColumn("time"), NumberColumn("bound"), NumberColumn("ratio")};
  for (const SitePlace& place : report.places) {
    if (!place.is_inverted()) continue;
    section.rows.push_back({LinkTo(report.models[place.model]), LinkTo(report.devices[place.device]),
                            place.run->framework, TimeCell(place.run->time), TimeCell(place.bound),
                            RatioCell(*place.gap())});
  }
  return section;
}

// Places whose device has rows of newer versions than those that the bound rests on.
Section Stale(const SiteReport& report) {
  Section section{.id = "stale",
                  .title = "Measured with older libraries",
                  .note = "The device has rows of newer versions, which lack layers of the model or are slower.",
                  .shown = kShownRows};
  section.columns = {NameColumn("model"), NameColumn("device"), NameColumn("bound by"), NameColumn("newer there")};
  Places stale;
  for (const SitePlace& place : report.places)
    if (!place.newer.empty()) stale.push_back(&place);
  AddRows(stale, kMostRows, section, [&](const SitePlace* place) {
    return TableRow{LinkTo(report.models[place->model]), LinkTo(report.devices[place->device]), place->libraries,
                    place->newer};
  });
  return section;
}

// Places of a model by device, or of a device by model.
Section PlacesOf(const SiteReport& report, const Places& places, bool is_model, std::string note) {
  Section section{.id = "bounds", .title = "Bounds and runs", .note = std::move(note)};
  const bool has_threads = HasThreads(report, places | std::views::transform([](auto* of) -> auto& { return *of; }));
  section.columns = {NameColumn(is_model ? "device" : "model")};
  if (has_threads) section.columns.push_back(NumberColumn("threads"));
  for (const char* title : {"bound", "run over bound", "layers"}) section.columns.push_back(NumberColumn(title));
  section.columns.push_back(NameColumn("fastest run"));
  section.columns.push_back(NumberColumn("takes"));
  section.columns.push_back(NameColumn("libraries"));
  section.columns.push_back("their newest row");
  std::set<std::string> anchors;
  for (const SitePlace* place : places) {
    const SiteModel& model = report.models[place->model];
    const SiteDevice& device = report.devices[place->device];
    const std::string& path = is_model ? device.path : model.path;
    Cell name = is_model ? LinkTo(device, false) : LinkTo(model, false);
    if (anchors.insert(path).second) name.id = AnchorOf(path);
    TableRow& row = section.rows.emplace_back(TableRow{name});
    if (has_threads) row.push_back(ThreadsCell(device, place->threads));
    Cell bound = place->is_complete ? TimeCell(place->bound) : Cell("–");
    if (place->is_complete) {
      bound.hint = IntervalText(place->interval);
    } else {
      bound.tone = CellTone::kUnknown;
      bound.hint = fmt::format("{} of the layers that were measured", FormatLatency(place->bound));
    }
    Cell gap;
    SetGap(*place, gap);
    std::swap(gap.text, gap.aside);
    gap.number = gap.ratio;
    row.insert(row.end(),
               {bound, gap, Cell(LayersText(*place, model), static_cast<double>(place->measured)),
                Cell(place->run ? place->run->framework : std::string()),
                place->run ? TimeCell(place->run->time) : Cell(), Cell(place->libraries), Cell(DayOf(place->newest))});
  }
  return section;
}

// The layers that take longest, with their best time on each device, coloured against the fastest.
Section LayersOf(const SiteReport& report, const SiteModel& model) {
  Section section{.id = "layers",
                  .title = "Layers that take longest",
                  .note = fmt::format("The best known time of one execution. {} has all layers, with candidates.",
                                      AskedBy(report, "model-layers", {"model=" + model.name, "threads="}))};
  section.columns = {NameColumn("layer"), NumberColumn("times")};
  section.first_side = section.columns.size();
  for (const SiteDevice& device : report.devices) section.columns.push_back(NumberColumn(device.name));
  for (const SiteLayer& layer : model.most) {
    TableRow& row = section.rows.emplace_back();
    row = {LayerCell(layer.workload), CountCell(static_cast<std::size_t>(layer.executions))};
    std::optional<Latency> best;
    for (const std::optional<Latency>& time : layer.times)
      if (time && (!best || *time < *best)) best = time;
    for (const std::optional<Latency>& time : layer.times) {
      Cell cell = time ? TimeCell(*time) : Cell("–");
      cell.tone = !time || *best <= Latency(0) ? CellTone::kUnknown : CellTone::kSlower;
      if (cell.tone == CellTone::kSlower) cell.ratio = *time / *best;
      if (time && *time == *best) cell.is_best = true, cell.tone = CellTone::kPlain;
      row.push_back(std::move(cell));
    }
  }
  return section;
}

Section LibrariesOf(const SiteReport& report, const SiteDevice& device) {
  Section section{
      .id = "libraries", .title = "Measured with", .note = AskedBy(report, "environments", {"device=" + device.asked})};
  section.columns = {NameColumn("libraries"), "oldest row", "newest row", NumberColumn("rows")};
  for (const SiteLibraries& set : device.libraries)
    section.rows.push_back(
        {set.libraries, DayOf(set.oldest), DayOf(set.newest), CountCell(static_cast<std::size_t>(set.measurements))});
  return section;
}

Section PeaksOf(const SiteReport& report, const SiteDevice& device) {
  Section section{.id = "peaks", .title = "Peaks", .note = AskedBy(report, "peaks", {"device=" + device.asked})};
  section.columns = {"of", "type", NumberColumn("rate"), NameColumn("source")};
  if (!device.is_gpu) section.columns.push_back(NumberColumn("threads"));
  for (const SitePeak& peak : device.peaks) {
    const bool is_arithmetic = peak.kind == "arithmetic";
    const bool is_rate = is_arithmetic || peak.kind == "read" || peak.kind == "write" || peak.kind == "copy";
    if (!is_rate) continue;
    TableRow& row = section.rows.emplace_back();
    row = {peak.kind, peak.dtype, Cell(RateText(peak.per_second, is_arithmetic ? "FLOP/s" : "B/s"), peak.per_second),
           peak.source};
    if (!device.is_gpu) row.push_back(CountCell(static_cast<std::size_t>(peak.threads)));
  }
  return section;
}

Section RegretsOf(const SiteReport& report, const SiteDevice& device) {
  Section section{.id = "regret",
                  .title = "What the libraries' own choices cost",
                  .note = AskedBy(report, "heuristic-regret", {"device=" + device.asked}),
                  .shown = kShownRows};
  section.columns = {NameColumn("layer"),          "contract",         NameColumn("chosen"),
                     NumberColumn("takes"),        NameColumn("best"), NumberColumn("takes"),
                     NumberColumn("times as long")};
  AddRows(device.regrets, kMostRows, section, [](const SiteRegret& regret) {
    const double ratio = regret.choice_time / regret.best_time;
    return TableRow{
        LayerCell(regret.layer),    regret.contract, regret.choice, TimeCell(regret.choice_time), regret.best,
        TimeCell(regret.best_time), RatioCell(ratio)};
  });
  return section;
}

Section UpgradedLayers(const SiteReport& report, const SiteUpgrade& upgrade, bool is_slower) {
  Section section{.id = is_slower ? "slower" : "faster", .title = is_slower ? "Slower" : "Faster", .shown = kShownRows};
  section.note =
      AskedBy(report, "library-upgrade", {"library=" + upgrade.library, "from=" + upgrade.from, "to=" + upgrade.to});
  const bool has_threads = HasThreads(report, upgrade.layers);
  section.columns = {NameColumn("layer"), NameColumn("device"), "contract", "caches"};
  if (has_threads) section.columns.push_back(NumberColumn("threads"));
  for (const char* title : {"before", "after", "ratio"}) section.columns.push_back(NumberColumn(title));
  std::vector<UpgradedLayer> layers;
  std::ranges::copy_if(upgrade.layers, std::back_inserter(layers),
                       [&](const UpgradedLayer& layer) { return (layer.after > layer.before) == is_slower; });
  if (!is_slower) std::ranges::reverse(layers);  // the largest gain first
  AddRows(layers, kMostRows, section, [&](const UpgradedLayer& layer) {
    const SiteDevice& device = report.devices[layer.device];
    const double ratio = layer.after / layer.before;
    Cell cell = RatioCell(ratio);
    cell.tone = is_slower ? CellTone::kSlower : CellTone::kFaster;
    cell.ratio = ratio;
    TableRow row{LayerCell(layer.layer), LinkTo(device, false), layer.contract, layer.cache};
    if (has_threads) row.push_back(ThreadsCell(device, layer.threads));
    row.insert(row.end(), {TimeCell(layer.before), TimeCell(layer.after), cell});
    return row;
  });
  return section;
}

// What has rows, or says why it has none.
void Add(Section section, SitePage& page) {
  if (section.rows.empty() && section.id != "changes" && section.id != "holes") return;
  if (section.left_out > 0) section.note += (section.note.empty() ? "" : " ") + LeftOutText(section);
  page.sections.push_back(std::move(section));
}

// Where a run is slowest against its bound; nullptr where none is slower.
const SitePlace* WidestGap(const Places& places) {
  const auto widest = std::ranges::max_element(places, {}, &SitePlace::gap);
  return widest != places.end() && (*widest)->gap().value_or(0) > 1 ? *widest : nullptr;
}

std::string RunHeadline(const SiteReport& report, const Places& places, bool is_model) {
  const SitePlace *widest = WidestGap(places), *fastest = nullptr;
  for (const SitePlace* place : places)
    if (place->is_complete && (fastest == nullptr || place->bound < fastest->bound)) fastest = place;
  if (fastest == nullptr) return "No bound is complete: layers lack a time.";
  const auto other = [&](const SitePlace& place) {
    return is_model ? report.devices[place.device].name : NameOf(report.models[place.model]);
  };
  std::string text = is_model ? fmt::format("Shortest on {}, {}.", other(*fastest), FormatLatency(fastest->bound)) : "";
  if (widest != nullptr)
    text += fmt::format("{}Most to be won: {} {}, where {} takes {:.3g} times the bound.", text.empty() ? "" : " ",
                        is_model ? "on" : "for", other(*widest), widest->run->framework, *widest->gap());
  return text;
}

SitePage Index(const SiteReport& report) {
  SitePage page{.path = "index.html", .title = "Models and devices", .headline = {}, .facts = {}, .sections = {}};
  const auto complete = std::ranges::count_if(report.places, &SitePlace::is_complete);
  page.headline = fmt::format("{} of {} pairs of a model and a device have a complete bound.", complete,
                              report.models.size() * ColumnsOf(report).size());
  if (report.places.empty()) page.headline = "Nothing of the store's models was measured yet.";
  Places all;
  for (const SitePlace& place : report.places) all.push_back(&place);
  if (const SitePlace* const widest = WidestGap(all))
    page.headline +=
        fmt::format(" Most to be won: {} on {}, {:.3g} times its bound.", NameOf(report.models[widest->model]),
                    report.devices[widest->device].name, *widest->gap());
  page.facts =
      fmt::format("{} · {}", CountText(report.models.size(), "model"), CountText(report.devices.size(), "device"));
  Add(Matrix(report), page);
  Add(Changes(report), page);
  Add(Inversions(report), page);
  Add(Upgrades(report), page);
  Add(Stale(report), page);
  Add(Holes(report, std::nullopt, std::nullopt), page);
  Add(Devices(report), page);
  return page;
}

SitePage PageOf(const SiteReport& report, std::size_t number, const Places& places) {
  const SiteModel& model = report.models[number];
  SitePage page{.path = model.path, .title = NameOf(model), .headline = {}, .facts = {}, .sections = {}};
  page.headline = RunHeadline(report, places, true);
  page.facts =
      fmt::format("{} · {} · {} · {}", CountText(static_cast<std::size_t>(model.layers + model.unknown), "layer"),
                  FlopsText(model.flops), BytesText(model.bytes), model.contract);
  if (model.unknown > 0) page.facts += fmt::format(" · {} unknown", model.unknown);
  Add(PlacesOf(report, places, true,
               "A layer after the other, each by its best known candidate with warm caches; "
               "`infimum report` writes the whole report of one device."),
      page);
  Add(LayersOf(report, model), page);
  Add(Holes(report, number, std::nullopt), page);
  return page;
}

SitePage PageOfDevice(const SiteReport& report, std::size_t number, const Places& places) {
  const SiteDevice& device = report.devices[number];
  SitePage page{.path = device.path, .title = device.name, .headline = {}, .facts = {}, .sections = {}};
  page.headline = RunHeadline(report, places, false);
  page.facts = device.generation + (device.year ? fmt::format(" · {}", *device.year) : "");
  Add(PlacesOf(report, places, false, ""), page);
  Add(RegretsOf(report, device), page);
  Add(LibrariesOf(report, device), page);
  Add(PeaksOf(report, device), page);
  Add(Holes(report, std::nullopt, number), page);
  return page;
}

}  // namespace

std::optional<double> SitePlace::gap() const {
  if (!is_complete || !run || bound <= Latency(0)) return std::nullopt;
  return run->time / bound;
}

bool SitePlace::is_inverted() const { return gap() && run->interval.high < interval.low; }

const SitePlace* FindPlace(const SiteReport& report, std::size_t model, std::size_t device, std::int64_t threads) {
  const auto key = [](const SitePlace& place) { return std::tuple(place.model, place.device, place.threads); };
  const auto found = std::ranges::lower_bound(report.places, std::tuple(model, device, threads), {}, key);
  return found == report.places.end() || key(*found) != std::tuple(model, device, threads) ? nullptr : &*found;
}

std::vector<SitePage> SitePages(const SiteReport& report) {
  std::vector<SitePage> pages = {Index(report)};
  std::vector<Places> by_model(report.models.size()), by_device(report.devices.size());
  for (const SitePlace& place : report.places) {
    by_model[place.model].push_back(&place);
    by_device[place.device].push_back(&place);
  }
  for (std::size_t model = 0; model < by_model.size(); ++model) pages.push_back(PageOf(report, model, by_model[model]));
  for (std::size_t device = 0; device < by_device.size(); ++device)
    pages.push_back(PageOfDevice(report, device, by_device[device]));
  for (const SiteUpgrade& upgrade : report.upgrades) {
    SitePage& page = pages.emplace_back();
    page.path = upgrade.path;
    page.title = fmt::format("{} {} to {}", upgrade.library, upgrade.from, upgrade.to);
    const auto slower = static_cast<std::size_t>(
        std::ranges::count_if(upgrade.layers, [](const UpgradedLayer& layer) { return layer.after > layer.before; }));
    page.headline = fmt::format("{} slower, {} faster.", CountText(slower, "layer"), upgrade.layers.size() - slower);
    page.facts = "Best times by the library's candidates, beyond both intervals and 5 %";
    Add(UpgradedLayers(report, upgrade, true), page);
    Add(UpgradedLayers(report, upgrade, false), page);
  }
  return pages;
}

}  // namespace infimum
