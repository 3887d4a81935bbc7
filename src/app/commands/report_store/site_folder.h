// The folder of a site: only what changed is written, what no longer is in the site goes, and what else is there stays.
//
//   DIR/site.json    what the site says and which files are its own: "infimum.site/1"
//
//   INFIMUM_ASSIGN_OR_RETURN(SiteFolder folder, SiteFolder::Open("site"));   // an error where other files are in it
//   folder.AddChanges(report);                                               // since the site that is there
//   INFIMUM_ASSIGN_OR_RETURN(const SiteCounts counts, folder.Write(report));
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "reports/site/site_report.h"
#include "src/core/results/json_struct.h"

namespace infimum {

void VisitFields(auto& visit, Like<SiteChange> auto& change) {
  visit("what", change.what);
  visit("where", change.where);
  visit("before", change.before);
  visit("after", change.after);
}

namespace cli {

// Of a place, as far as later sites compare it.
struct PlaceState {
  std::string key;    // the pages of its model and device, and the threads
  std::string where;  // "resnet50 batch=1 on NVIDIA H100, 4 threads"
  Latency bound{0}, low{0}, high{0};
  std::int64_t measured = 0;
  bool is_complete = false, is_inverted = false;
  std::string libraries;
  std::string framework;  // empty without a run
  Latency run{0};
};

void VisitFields(auto& visit, Like<PlaceState> auto& place) {
  visit("key", place.key);
  visit("where", place.where);
  visit("bound_us", place.bound);
  visit("low_us", place.low);
  visit("high_us", place.high);
  visit("measured", place.measured);
  visit("complete", place.is_complete);
  visit("inverted", place.is_inverted);
  visit("libraries", place.libraries);
  visit.Sparse("framework", place.framework);
  visit("run_us", place.run);
}

struct SiteState {
  std::string store;  // its fingerprint; empty while the site is written
  std::string data_as_of, since;
  bool is_anonymous = false;
  std::vector<std::string> files;  // by path
  std::vector<SiteChange> changes;
  std::vector<std::string> upgrades;
  std::vector<PlaceState> places;
};

void VisitFields(auto& visit, Like<SiteState> auto& state) {
  visit("store", state.store);
  visit("data_as_of", state.data_as_of);
  visit("since", state.since);
  visit("anonymous", state.is_anonymous);
  visit("files", state.files);
  visit("changes", state.changes);
  visit("upgrades", state.upgrades);
  visit("places", state.places);
}

struct SiteCounts {
  std::size_t written = 0, unchanged = 0, removed = 0;
};

class SiteFolder {
 public:
  // Made where it is not there. One at a time: an error while another process writes it.
  static Result<SiteFolder> Open(const std::filesystem::path& path, bool is_anonymous);

  // The site that is there, if it is of a store with this fingerprint and has all its files.
  std::optional<SiteCounts> Current(const std::string& fingerprint) const;
  // What the report says otherwise than the site that is there; where that is nothing, the changes that it had.
  void AddChanges(SiteReport& report) const;
  Result<SiteCounts> Write(const SiteReport& report, const std::string& fingerprint) const;

 private:
  SiteFolder(std::filesystem::path path, bool is_anonymous) : path_(std::move(path)), is_anonymous_(is_anonymous) {}
  Status Save(const SiteState& state) const;

  std::filesystem::path path_;
  bool is_anonymous_;
  std::shared_ptr<const int> lock_;  // an open descriptor of the folder
  SiteState before_;
};

}  // namespace cli
}  // namespace infimum
