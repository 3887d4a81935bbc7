#include "src/app/commands/report_store/site_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "infimum/base/file_text.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "src/app/options.h"

namespace infimum::cli {
namespace {

constexpr std::string_view kSchema = "infimum.site/1";
constexpr double kMatters = 0.05;  // of two runs
constexpr std::array kFolders = {"assets", "models", "devices", "upgrades"};

std::string ReadText(const std::filesystem::path& path) {
  const Result<std::string> text = ReadFile(path);
  return text ? *text : "";
}

// A file that a site may have, so that nothing else is ever removed, whatever a site.json says.
bool IsOfSite(const std::string& path) {
  if (path == "index.html") return true;
  const std::size_t slash = path.find('/');
  const std::string folder = path.substr(0, slash);
  return slash != std::string::npos && path.find('/', slash + 1) == std::string::npos &&
         path.find("..") == std::string::npos && std::ranges::find(kFolders, folder) != kFolders.end() &&
         std::ranges::all_of(path.substr(slash + 1),
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; });
}

PlaceState StateOf(const SitePlace& place, const SiteReport& report) {
  const SiteModel& model = report.models[place.model];
  const SiteDevice& device = report.devices[place.device];
  PlaceState state;
  state.where = fmt::format("{}{}{} on {}", model.name, model.dims.empty() ? "" : " ", model.dims, device.name);
  if (!device.is_gpu) state.where += ", " + CountText(static_cast<std::size_t>(place.threads), "thread");
  state.bound = place.bound, state.low = place.interval.low, state.high = place.interval.high;
  state.measured = place.measured, state.is_complete = place.is_complete, state.is_inverted = place.is_inverted();
  state.key = fmt::format("{} {} {}", model.path, device.path, place.threads);
  state.libraries = place.libraries;
  if (place.run) state.framework = place.run->framework, state.run = place.run->time;
  return state;
}

SiteState StateOf(const SiteReport& report, bool is_anonymous) {
  SiteState state;
  state.data_as_of = report.data_as_of, state.since = report.since;
  state.is_anonymous = is_anonymous;
  state.changes = report.changes;
  for (const SitePlace& place : report.places) state.places.push_back(StateOf(place, report));
  for (const SiteUpgrade& upgrade : report.upgrades)
    state.upgrades.push_back(fmt::format("{} {} to {}", upgrade.library, upgrade.from, upgrade.to));
  return state;
}

std::string BoundText(const PlaceState& place) {
  if (place.measured == 0) return "";
  return place.is_complete ? FormatLatency(place.bound) : CountText(static_cast<std::size_t>(place.measured), "layer");
}

std::string RunText(const PlaceState& place) {
  return place.framework.empty() ? "" : fmt::format("{}, {}", FormatLatency(place.run), place.framework);
}

// `before` and `now` at one place; empty states stand for none.
void Compare(const PlaceState& before, const PlaceState& now, std::vector<SiteChange>& changes) {
  const std::string& where = now.where.empty() ? before.where : now.where;
  const auto add = [&](const char* what, const std::string& from, const std::string& to) {
    changes.push_back({what, where, from, to});
  };
  const bool both = before.is_complete && now.is_complete;
  if (!both && BoundText(before) != BoundText(now)) {
    const bool is_more = now.is_complete || (!before.is_complete && now.measured > before.measured);
    add(now.is_complete ? "bound is complete"
        : is_more       ? "more layers have a time"
                        : "fewer layers have a time",
        BoundText(before), BoundText(now));
  }
  if (both && now.high < before.low) add("bound is lower", BoundText(before), BoundText(now));
  if (both && now.low > before.high) add("bound is higher", BoundText(before), BoundText(now));
  if (both && now.libraries != before.libraries) add("bound is by other libraries", before.libraries, now.libraries);
  const bool had = !before.framework.empty(), has = !now.framework.empty();
  if (had != has) {
    add(has ? "has a run" : "has no run", RunText(before), RunText(now));
  } else if (has && std::abs(std::log(now.run / before.run)) > std::log1p(kMatters)) {
    add(now.run < before.run ? "run is faster" : "run is slower", RunText(before), RunText(now));
  }
  if (now.is_inverted && !before.is_inverted) add("run is below its bound", BoundText(now), RunText(now));
}

}  // namespace

Result<SiteFolder> SiteFolder::Open(const std::filesystem::path& path, bool is_anonymous) {
  SiteFolder folder(path, is_anonymous);
  std::error_code error;
  if (path.empty()) return Error{"--output: a site needs a folder"};
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error))
    return Error{fmt::format("{}: is no folder; a site is one", path.string())};
  if (!std::filesystem::create_directories(path, error) && error)
    return Error{fmt::format("{}: cannot be made: {}", path.string(), error.message())};
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  folder.lock_ = std::shared_ptr<const int>(new int(descriptor), [](const int* held) {
    if (*held >= 0) close(*held);
    delete held;
  });
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{fmt::format("{}: another infimum is writing this site; try again when it has ended", path.string())};
  for (const char* part : kFolders)
    if (std::filesystem::is_symlink(path / part, error))
      return Error{
          fmt::format("{}: is a link, and a site writes and removes in its own folders alone", (path / part).string())};
  const std::string file = (path / "site.json").string();
  if (!std::filesystem::exists(file, error)) {
    if (!std::filesystem::is_empty(path, error))
      return Error{fmt::format("{}: holds other files and no site; name a folder that is empty or not there yet",
                               path.string())};
    return folder;
  }
  Result<SiteState> before = ParseDocument<SiteState>(ReadText(file), kSchema);
  if (!before) return Error{fmt::format("{}: {}; remove the folder, or name another", file, before.error().message)};
  folder.before_ = *std::move(before);
  // Names are neither compared with numbers nor kept beside them: of another kind of site only the files are known.
  if (folder.before_.is_anonymous != is_anonymous) {
    std::vector<std::string> files = std::move(folder.before_.files);
    folder.before_ = {};
    folder.before_.files = std::move(files);
  }
  return folder;
}

std::optional<SiteCounts> SiteFolder::Current(const std::string& fingerprint) const {
  std::error_code error;
  const auto is_there = [&](const std::string& file) {
    return std::filesystem::file_size(path_ / file, error) > 0 && !error;
  };
  if (before_.store != fingerprint || !std::ranges::all_of(before_.files, is_there)) return std::nullopt;
  return SiteCounts{.written = 0, .unchanged = before_.files.size(), .removed = 0};
}

void SiteFolder::AddChanges(SiteReport& report) const {
  if (before_.data_as_of.empty() && before_.places.empty()) return;
  const SiteState now = StateOf(report, is_anonymous_);
  std::map<std::string, std::pair<PlaceState, PlaceState>> places;
  for (const PlaceState& place : before_.places) places[place.key].first = place;
  for (const PlaceState& place : now.places) places[place.key].second = place;
  for (const std::string& upgrade : now.upgrades)
    if (std::ranges::find(before_.upgrades, upgrade) == before_.upgrades.end())
      report.changes.push_back({"upgrade of a library", upgrade, "", ""});
  for (const auto& [key, of] : places) Compare(of.first, of.second, report.changes);
  report.since = report.changes.empty() ? before_.since : before_.data_as_of;
  if (report.changes.empty()) report.changes = before_.changes;
}

Status SiteFolder::Save(const SiteState& state) const {
  const std::string text = FormatDocument(kSchema, state, 1);
  const std::filesystem::path file = path_ / "site.json";
  return ReadText(file) == text ? Status() : WriteFile(file, text);
}

Result<SiteCounts> SiteFolder::Write(const SiteReport& report, const std::string& fingerprint) const {
  const std::map<std::string, std::string> files = SiteFiles(report);
  SiteState state = StateOf(report, is_anonymous_);
  for (const auto& [path, content] : files) state.files.push_back(path);
  std::error_code error;
  for (const char* folder : kFolders)
    if (!std::filesystem::create_directories(path_ / folder, error) && error)
      return Error{fmt::format("{}: cannot be made: {}", (path_ / folder).string(), error.message())};
  // Whatever is written from here on is known as the site's own, so that a site that was interrupted loses no page.
  SiteState meanwhile = before_;
  meanwhile.files.clear();
  meanwhile.store.clear();
  std::ranges::set_union(before_.files, state.files, std::back_inserter(meanwhile.files));
  INFIMUM_RETURN_IF_ERROR(Save(meanwhile));
  SiteCounts counts;
  for (const auto& [path, content] : files) {
    const std::filesystem::path file = path_ / path;
    if (std::filesystem::file_size(file, error) == content.size() && !error && ReadText(file) == content) {
      ++counts.unchanged;
      continue;
    }
    INFIMUM_RETURN_IF_ERROR(WriteFile(file, content));
    ++counts.written;
  }
  state.store = fingerprint;
  for (const std::string& path : before_.files)
    if (!files.contains(path) && IsOfSite(path) && std::filesystem::remove(path_ / path, error)) ++counts.removed;
  INFIMUM_RETURN_IF_ERROR(Save(state));
  return counts;
}

}  // namespace infimum::cli
