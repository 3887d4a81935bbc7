#include "src/app/commands/report_store/site_filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/app/models/anonymizer.h"
#include "src/app/models/run_conditions.h"
#include "src/app/processes/interrupt.h"
#include "src/app/runners/installation.h"
#include "src/core/results/json_struct.h"

namespace infimum::cli {
namespace {

// Of a model's page: the layers that take longest.
constexpr std::size_t kMostLayers = 30;

// What a named question answers, its cells by the names of columns.
class Answer {
 public:
  static Result<Answer> To(Store& store, std::string_view query, const std::map<std::string, std::string>& given = {}) {
    if (Interrupted()) return Error{"interrupted"};
    Answer answer;
    INFIMUM_ASSIGN_OR_RETURN(answer.table_, store.Ask(*FindQuery(query), given));
    for (std::size_t column = 0; column < answer.table_.columns.size(); ++column)
      answer.columns_[answer.table_.columns[column]] = column;
    return answer;
  }

  std::size_t size() const { return table_.rows.size(); }
  std::string text(std::size_t row, std::string_view column) const {
    const auto* const text = std::get_if<std::string>(&at(row, column));
    return text == nullptr ? std::string() : *text;
  }
  std::optional<double> number(std::size_t row, std::string_view column) const {
    const QueryCell& cell = at(row, column);
    if (const auto* const integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
    const auto* const number = std::get_if<double>(&cell);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }
  std::int64_t integer(std::size_t row, std::string_view column) const {
    return static_cast<std::int64_t>(std::clamp(number(row, column).value_or(0), -9e18, 9e18));
  }
  Latency time(std::size_t row, std::string_view column) const { return Latency(number(row, column).value_or(0)); }
  std::string whole(std::size_t row) const {
    std::string text;
    for (const auto& [name, column] : columns_)
      text += fmt::format(" {}={}{}", name, this->text(row, name), number(row, name).value_or(0));
    return text;
  }
  Interval interval(std::size_t row) const { return {time(row, "low_us"), time(row, "high_us")}; }

 private:
  const QueryCell& at(std::size_t row, std::string_view column) const {
    return table_.rows[row][columns_.find(column)->second];
  }

  QueryTable table_;
  std::map<std::string, std::size_t, std::less<>> columns_;
};

// A file's name of small letters, digits and dashes; what is lost of `name` is in the digits behind it.
std::string PathOf(std::string_view folder, std::string_view name, std::string_view key) {
  std::string slug;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!is_plain && (slug.empty() || slug.back() == '-')) continue;
    slug += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  slug = slug.substr(0, 60);
  if (!slug.empty() && slug.back() != '-') slug += '-';
  return fmt::format("{}/{}{}.html", folder, slug, Sha256(std::as_bytes(std::span(key))).substr(0, 12));
}

// {"cudnn": "9.1"} or {"batch": 8}; what the store cannot have written is `otherwise`.
template <class Value>
std::map<std::string, Value> MapOf(const std::string& json, std::map<std::string, Value> otherwise) {
  std::map<std::string, Value> map;
  const Result<Json> document = ParseJson(json);
  return document && FromJson(*document, "", map) ? map : otherwise;
}
std::map<std::string, std::string> LibrariesOf(const std::string& json) {
  return MapOf<std::string>(json, {{json, ""}});
}

// By numbers first: "9.9" comes before "9.10.1", "9.1-rc1" before "9.1" before "9.1 gomp". A total order.
struct ByVersion {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(PartsOf(a), a) < std::pair(PartsOf(b), b);
  }

 private:
  using Part = std::tuple<std::int64_t, int, std::string_view>;  // its number, what is behind it, and that
  static std::vector<Part> PartsOf(std::string_view version) {
    std::vector<Part> parts;
    for (const std::string_view part : Split(version, '.')) {
      const std::size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
      const std::string_view rest = part.substr(digits);
      parts.emplace_back(ParseInteger(part.substr(0, digits)).value_or(-1),
                         rest.empty() ? 1 : (rest.starts_with('-') ? 0 : 2), rest);
    }
    return parts;
  }
};

// Whether a library of `there` is of a newer version than in `here`, and none of an older one.
bool IsNewer(const std::map<std::string, std::string>& there, const std::map<std::string, std::string>& here) {
  bool is_newer = false;
  for (const auto& [library, version] : there) {
    const auto own = here.find(library);
    if (own == here.end() || own->second == version) continue;
    if (ByVersion()(version, own->second)) return false;
    is_newer = true;
  }
  return is_newer;
}

class Filling {
 public:
  Filling(Store& store, const SiteOptions& options, ProgressLog& log) : store_(store), options_(options), log_(log) {
    // Their own paths and names are the owner's.
    if (!options.anonymize) report_.address = ShownAddress(options.address);
    report_.infimum_version = std::string(InfimumVersion());
  }

  Result<SiteReport> Make() {
    log_.Counting("bounds of models");
    INFIMUM_RETURN_IF_ERROR(ReadModels());
    INFIMUM_RETURN_IF_ERROR(ReadDevices());
    INFIMUM_RETURN_IF_ERROR(ReadBounds());
    INFIMUM_RETURN_IF_ERROR(ReadRuns());
    log_.Counting("layers without a time");
    INFIMUM_RETURN_IF_ERROR(ReadHoles());
    INFIMUM_RETURN_IF_ERROR(ReadUpgrades());
    INFIMUM_RETURN_IF_ERROR(ReadLayers());
    INFIMUM_RETURN_IF_ERROR(ReadRegrets());
    log_.EndProgress();
    return std::move(report_);
  }

 private:
  // Anonymous without who built it, and without libraries that are nobody's business.
  std::string VersionText(const std::string& version) const {
    return options_.anonymize ? VersionNumber(version) : version;
  }
  std::string AnonymousName(const std::string& library) {
    if (!options_.anonymize || IsOneOf(library, {"cuda", "cuda-driver", "cuda_driver", "cuda_runtime"})) return library;
    Candidate candidate{library, "", "", "", false};
    anonymizer_.Rename(candidate);
    return candidate.library;
  }
  // "cublas 12.6, cudnn 9.1"
  std::string LibrariesText(const std::string& json) {
    std::map<std::string, std::string> libraries = LibrariesOf(json);
    std::vector<std::string> texts;
    for (const auto& [library, version] : libraries)
      texts.push_back(AnonymousName(library) + (version.empty() ? "" : " " + VersionText(version)));
    const std::string text = Join(texts, ", ");
    sets_.try_emplace(text, std::move(libraries));
    return text;
  }
  // "cudnn-graph/eng5"
  std::string CandidateText(const std::string& text) {
    if (!options_.anonymize) return text;
    const std::size_t slash = std::min(text.find('/'), text.size() - 1);
    Candidate candidate{text.substr(0, slash), text.substr(slash + 1), "", "", false};
    anonymizer_.Rename(candidate);
    return candidate.library + "/" + candidate.algorithm;
  }

  // By the file and its dimensions; the same file under two names is two models.
  using ModelKey = std::tuple<std::string, std::string, std::string>;  // SHA-256, dims, name
  using PlaceKey = std::tuple<std::size_t, std::size_t, std::int64_t>;

  Status ReadModels() {
    INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store_, "models"));
    std::vector<std::pair<ModelKey, SiteModel>> models;
    for (std::size_t row = 0; row < answer.size(); ++row) {
      const ModelKey key{answer.text(row, "sha256"), answer.text(row, "dims"), answer.text(row, "model")};
      const auto& [sha256, dims, name] = key;
      const std::map<std::string, std::int64_t> sizes = MapOf<std::int64_t>(dims, {});
      std::map<std::string, std::int64_t> shown = sizes;
      SiteModel model;
      model.name = name, model.dims = DimsText(sizes), model.sha256 = sha256;
      model.path = PathOf("models", name + " " + model.dims, fmt::format("{}\n{}\n{}", sha256, dims, name));
      if (options_.anonymize) {
        // In the order in which the store came to know them, so that each keeps its number.
        model.name = fmt::format("model-{}", row + 1);
        shown = anonymizer_.Renamed(sizes);
        model.dims = DimsText(shown);
        model.sha256.clear();
        model.path = fmt::format("models/{}.html", model.name);
      }
      for (const auto& [dim, size] : shown) model.bindings.push_back(fmt::format("{}={}", dim, size));
      model.contract = answer.text(row, "contract");
      model.layers = answer.integer(row, "layers");
      model.unknown = answer.integer(row, "unknown");
      model.flops = Flops{answer.integer(row, "flops")};
      model.bytes = Bytes{answer.integer(row, "bytes")};
      models.emplace_back(key, std::move(model));
    }
    if (!options_.anonymize)
      std::ranges::stable_sort(models, {}, [](const auto& model) { return std::get<2>(model.first); });
    for (auto& [key, model] : models) {
      model_of_[key] = report_.models.size();
      keys_.push_back(key);
      report_.models.push_back(std::move(model));
    }
    return {};
  }

  Status ReadDevices() {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store_.Devices());
    INFIMUM_ASSIGN_OR_RETURN(const Answer ages, Answer::To(store_, "staleness"));
    INFIMUM_ASSIGN_OR_RETURN(const Answer peaks, Answer::To(store_, "peaks"));
    INFIMUM_ASSIGN_OR_RETURN(bounds_, Answer::To(store_, "model-bounds", {{"threads", ""}}));
    std::map<std::string, SiteDevice> by_key;
    std::map<std::string, int> names;
    for (const Device& device : devices) ++names[device.name];
    for (const Device& device : devices) {
      const std::string key = device.Key().text;
      SiteDevice& of = by_key[key];
      of.name = of.asked = device.name;
      if (names[device.name] > 1) {
        of.name += fmt::format(" ({} cores)", device.cores);
        of.asked = key;
      }
      of.generation = device.generation;
      of.is_gpu = device.kind == DeviceKind::kGpu;
      of.path = PathOf("devices", device.name, key);
    }
    const auto of_row = [&](const Answer& answer, std::size_t row) -> SiteDevice& {
      const std::string key = answer.text(row, "device_key");
      SiteDevice& of = by_key[key];
      if (of.path.empty()) of.name = of.asked = answer.text(row, "device"), of.path = PathOf("devices", of.name, key);
      return of;
    };
    for (std::size_t row = 0; row < bounds_->size(); ++row)
      if (const std::optional<double> year = bounds_->number(row, "year"))
        of_row(*bounds_, row).year = static_cast<std::int64_t>(*year);
    for (std::size_t row = 0; row < ages.size(); ++row) {
      SiteDevice& device = of_row(ages, row);
      const std::string libraries = LibrariesText(ages.text(row, "libraries"));
      auto found = std::ranges::find(device.libraries, libraries, &SiteLibraries::libraries);
      if (found == device.libraries.end())
        found = device.libraries.insert(found, {libraries, ages.text(row, "oldest"), ages.text(row, "newest"), 0});
      found->oldest = std::min(found->oldest, ages.text(row, "oldest"));
      found->newest = std::max(found->newest, ages.text(row, "newest"));
      found->measurements += ages.integer(row, "measurements");
      report_.data_as_of = std::max(report_.data_as_of, found->newest);
    }
    for (std::size_t row = 0; row < peaks.size(); ++row)
      of_row(peaks, row)
          .peaks.push_back({peaks.text(row, "kind"), peaks.text(row, "dtype"), peaks.text(row, "source"),
                            peaks.integer(row, "threads"), peaks.number(row, "per_second").value_or(0)});
    std::vector<std::pair<std::string, SiteDevice>> sorted;
    for (auto& [key, device] : by_key) {
      std::ranges::sort(device.libraries, std::greater<>(),
                        [](const SiteLibraries& set) { return std::pair(set.newest, set.libraries); });
      sorted.emplace_back(key, std::move(device));
    }
    std::ranges::stable_sort(sorted, {}, [](const auto& of) {
      return std::tuple(!of.second.year, of.second.year.value_or(0), of.second.name);
    });
    for (auto& [key, device] : sorted) {
      device_of_[key] = report_.devices.size();
      report_.devices.push_back(std::move(device));
    }
    return {};
  }

  // Of a row that names model, dims, SHA-256 and device; absent where the site has one of them not.
  std::optional<std::pair<std::size_t, std::size_t>> PlaceOf(const Answer& answer, std::size_t row) const {
    const auto model =
        model_of_.find({answer.text(row, "sha256"), answer.text(row, "dims"), answer.text(row, "model")});
    const auto device = device_of_.find(answer.text(row, "device_key"));
    if (model == model_of_.end() || device == device_of_.end()) return std::nullopt;
    return std::pair(model->second, device->second);
  }

  // A GPU's threads are no choice of anybody's.
  SitePlace& Place(std::size_t model, std::size_t device, std::int64_t threads) {
    if (report_.devices[device].is_gpu) threads = 1;
    SitePlace& place = places_[{model, device, threads}];
    place.model = model, place.device = device, place.threads = threads;
    return place;
  }

  Status ReadBounds() {
    for (std::size_t row = 0; row < bounds_->size(); ++row) {
      const auto of = PlaceOf(*bounds_, row);
      if (!of) continue;
      SitePlace& place = Place(of->first, of->second, bounds_->integer(row, "threads"));
      const std::int64_t measured = bounds_->integer(row, "layers_measured");
      const Latency bound = bounds_->time(row, "sequential_us");
      if (std::pair(-measured, bound) >= std::pair(-place.measured, place.bound) && place.measured > 0) continue;
      place.measured = measured;
      place.bound = bound;
      place.interval = bounds_->interval(row);
      place.libraries = LibrariesText(bounds_->text(row, "libraries"));
      const std::vector<SiteLibraries>& there = report_.devices[of->second].libraries;
      const auto set = std::ranges::find(there, place.libraries, &SiteLibraries::libraries);
      place.newest = set == there.end() ? std::string() : set->newest;
      place.newer.clear();
      const std::map<std::string, std::string> own = LibrariesOf(bounds_->text(row, "libraries"));
      for (const SiteLibraries& other : there)
        if (IsNewer(sets_.at(other.libraries), own) &&
            (place.newer.empty() || IsNewer(sets_.at(other.libraries), sets_.at(place.newer))))
          place.newer = other.libraries;
      const SiteModel& model = report_.models[of->first];
      place.is_complete = measured == model.layers && model.unknown == 0 && measured > 0;
    }
    bounds_.reset();
    return {};
  }

  // The fastest that keeps the contract of the model's own types, which is the bound's.
  Status ReadRuns() {
    INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store_, "runs"));
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> of_file;
    for (std::size_t model = 0; model < keys_.size(); ++model)
      of_file[{std::get<0>(keys_[model]), std::get<1>(keys_[model])}].push_back(model);
    for (std::size_t row = 0; row < answer.size(); ++row) {
      const auto device = device_of_.find(answer.text(row, "device_key"));
      const auto models = of_file.find({answer.text(row, "sha256"), answer.text(row, "dims")});
      if (device == device_of_.end() || models == of_file.end()) continue;
      for (const std::size_t model : models->second) {
        const std::optional<NumericContract> contract = FindContract(report_.models[model].contract);
        if (!contract || !Keeps(answer.text(row, "contract"), *contract)) continue;
        SitePlace& place = Place(model, device->second, answer.integer(row, "threads"));
        const Latency time = answer.time(row, "run_us");
        if (place.run && place.run->time <= time) continue;
        RunProfile run;
        run.framework = answer.text(row, "framework");
        run.framework_version = answer.text(row, "framework_version");
        if (options_.anonymize) anonymizer_.Rename(run);
        place.run = SiteRun{run.framework + (run.framework_version.empty() ? "" : " " + run.framework_version), time,
                            answer.interval(row)};
      }
    }
    for (auto& [key, place] : places_) report_.places.push_back(std::move(place));
    return {};
  }

  Status ReadHoles() {
    std::map<PlaceKey, SiteHole> holes;
    std::set<std::pair<std::size_t, std::int64_t>> columns;  // devices, with the threads that were measured there
    for (const SitePlace& place : report_.places) columns.emplace(place.device, place.threads);
    for (std::size_t device = 0; device < report_.devices.size(); ++device)
      if (!std::ranges::any_of(columns, [&](const auto& column) { return column.first == device; }))
        columns.emplace(device, 1);
    for (const auto& [device, threads] : columns) {
      const SiteDevice& on = report_.devices[device];
      INFIMUM_ASSIGN_OR_RETURN(
          const Answer answer,
          Answer::To(store_, "coverage",
                     {{"device", on.asked}, {"threads", on.is_gpu ? "" : std::to_string(threads)}}));
      for (std::size_t row = 0; row < answer.size(); ++row) {
        const auto of = PlaceOf(answer, row);
        if (!of) continue;
        SiteHole& hole = holes[{of->first, of->second, threads}];
        hole.model = of->first, hole.device = of->second, hole.threads = threads;
        const std::string state = answer.text(row, "state");
        ++(state == "failed" ? hole.failed : state == "unsupported" ? hole.unsupported : hole.missing);
      }
    }
    for (const auto& [of, hole] : holes) report_.holes.push_back(hole);
    return {};
  }

  // Between versions of a library that follow each other on some device.
  Status ReadUpgrades() {
    INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store_, "environments"));
    std::map<std::pair<std::string, std::string>, std::set<std::string, ByVersion>> versions;  // by library and device
    for (std::size_t row = 0; row < answer.size(); ++row)
      for (const auto& [library, version] : LibrariesOf(answer.text(row, "libraries")))
        versions[{library, answer.text(row, "device_key")}].insert(version);
    std::map<std::string, std::set<std::pair<std::string, std::string>>> upgrades;
    for (const auto& [of, known] : versions)
      for (auto to = known.begin(); to != known.end(); ++to)
        if (to != known.begin()) upgrades[of.first].emplace(*std::prev(to), *to);
    for (const auto& [library, pairs] : upgrades)
      for (const auto& [from, to] : pairs) INFIMUM_RETURN_IF_ERROR(ReadUpgrade(library, from, to));
    return {};
  }

  Status ReadUpgrade(const std::string& library, const std::string& from, const std::string& to) {
    log_.Counting(fmt::format("{} {} to {}", library, from, to));
    INFIMUM_ASSIGN_OR_RETURN(const Answer answer,
                             Answer::To(store_, "library-upgrade", {{"library", library}, {"from", from}, {"to", to}}));
    const std::string name = fmt::format("{} {} {}", AnonymousName(library), VersionText(from), VersionText(to));
    const std::string key = fmt::format("{}\n{}\n{}", library, from, to);
    SiteUpgrade upgrade{.library = AnonymousName(library),
                        .from = VersionText(from),
                        .to = VersionText(to),
                        .path = PathOf("upgrades", name, key),
                        .layers = {}};
    for (std::size_t row = 0; row < answer.size(); ++row)
      if (const auto device = device_of_.find(answer.text(row, "device_key")); device != device_of_.end())
        upgrade.layers.push_back({device->second, answer.text(row, "layer"), answer.text(row, "contract"),
                                  answer.text(row, "cache"), answer.integer(row, "threads"),
                                  answer.time(row, "before_us"), answer.time(row, "after_us")});
    if (!upgrade.layers.empty()) report_.upgrades.push_back(std::move(upgrade));
    return {};
  }

  // Of each model those that take most of its time, by their share on all devices.
  Status ReadLayers() {
    for (std::size_t model = 0; model < report_.models.size(); ++model) {
      log_.Progress("layers of models", static_cast<std::int64_t>(model),
                    static_cast<std::int64_t>(report_.models.size()), std::nullopt);
      const auto& [sha256, dims, name] = keys_[model];
      INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store_, "model-layers",
                                                               {{"model", sha256}, {"dims", dims}, {"threads", ""}}));
      std::map<std::string, SiteLayer> layers;
      std::map<std::string, std::set<std::int64_t>> positions;
      std::vector<double> totals(report_.devices.size());
      for (std::size_t row = 0; row < answer.size(); ++row) {
        const auto device = device_of_.find(answer.text(row, "device_key"));
        if (device == device_of_.end()) continue;
        const std::string workload = answer.text(row, "workload");
        SiteLayer& layer = layers[workload];
        layer.workload = workload;
        layer.times.resize(report_.devices.size());
        const std::int64_t executions = answer.integer(row, "executions");
        if (positions[workload].insert(answer.integer(row, "position")).second) layer.executions += executions;
        const Latency time = answer.time(row, "latency_us");
        std::optional<Latency>& best = layer.times[device->second];
        if (!best || time < *best) best = time;
        totals[device->second] += time.count() * static_cast<double>(executions);
      }
      std::vector<std::pair<double, SiteLayer>> ranked;
      for (auto& [workload, layer] : layers) {
        double share = 0;
        for (std::size_t device = 0; device < totals.size(); ++device)
          if (layer.times[device] && totals[device] > 0)
            share += layer.times[device]->count() * static_cast<double>(layer.executions) / totals[device];
        ranked.emplace_back(share, std::move(layer));
      }
      std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& layer) { return layer.first; });
      if (ranked.size() > kMostLayers) ranked.resize(kMostLayers);
      for (auto& [share, layer] : ranked) report_.models[model].most.push_back(std::move(layer));
    }
    return {};
  }

  Status ReadRegrets() {
    for (SiteDevice& device : report_.devices) {
      INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store_, "heuristic-regret", {{"device", device.asked}}));
      for (std::size_t row = 0; row < answer.size(); ++row)
        device.regrets.push_back({answer.text(row, "layer"), answer.text(row, "contract"),
                                  CandidateText(answer.text(row, "choice")), CandidateText(answer.text(row, "best")),
                                  answer.time(row, "choice_us"), answer.time(row, "best_us")});
    }
    return {};
  }

  Store& store_;
  const SiteOptions& options_;
  ProgressLog& log_;
  Anonymizer anonymizer_;
  SiteReport report_;
  std::vector<ModelKey> keys_;  // by model
  std::map<ModelKey, std::size_t> model_of_;
  std::map<std::string, std::size_t> device_of_;                    // by its key
  std::map<std::string, std::map<std::string, std::string>> sets_;  // of libraries, by their texts
  std::optional<Answer> bounds_;
  std::map<PlaceKey, SitePlace> places_;
};

}  // namespace

Result<std::string> FingerprintOf(Store& store, const SiteOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const Answer answer, Answer::To(store, "fingerprint"));
  // A digest: nobody reads the store's address in it.
  const std::string text =
      fmt::format("{} {} {} {}", InfimumVersion(), ShownAddress(options.address), options.anonymize, answer.whole(0));
  return Sha256(std::as_bytes(std::span(text)));
}

Result<SiteReport> MakeSiteReport(Store& store, const SiteOptions& options, ProgressLog& log) {
  return Filling(store, options, log).Make();
}

}  // namespace infimum::cli
