// A site over a store: its models on its devices, what changed, what is missing; a page a model, a device and a
// library's upgrade.
//
//   SiteReport report = *MakeSiteReport(*store, options, log);   // src/app/commands/report_store
//   SitePages(report)[0].sections                                 // tables of the index, without HTML
//   SiteFiles(report)["index.html"]                               // "<!DOCTYPE ..."
//
// Times are of one inference. Every text may be hostile but paths. Equal reports give equal bytes (no clock is read).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/units.h"
#include "infimum/measurement/statistics.h"
#include "reports/text/section.h"

namespace infimum {

// One configuration of a layer in a model, and the best known time of it on each device.
struct SiteLayer {
  std::string workload;
  std::int64_t executions = 0;                // in an inference, of all layers that are so
  std::vector<std::optional<Latency>> times;  // by device, of one execution
};

struct SiteModel {
  std::string name;
  std::string dims;                        // "batch=8"; may be empty
  std::vector<std::string> bindings = {};  // of it, each an argument of --dim
  std::string sha256;                      // of its file
  std::string contract;                    // that its types ask for
  std::string path;                        // of its page: "models/resnet50-1f3a.html"
  std::int64_t layers = 0, unknown = 0;
  Flops flops;
  Bytes bytes;
  std::vector<SiteLayer> most = {};  // those that take longest, in their order
};

// Rows of a device that share their libraries.
struct SiteLibraries {
  std::string libraries;       // "cudnn 9.1.0, cublas 12.6"
  std::string oldest, newest;  // UTC
  std::int64_t measurements = 0;
};

struct SitePeak {
  std::string kind, dtype, source;
  std::int64_t threads = 1;
  double per_second = 0;
};

// A layer for which the library's own choice is slower than another candidate of it.
struct SiteRegret {
  std::string layer, contract, choice, best;
  Latency choice_time{0}, best_time{0};
};

struct SiteDevice {
  std::string name;   // of several of one name with their cores
  std::string asked;  // what queries know it by: its name, or its key where others have the name
  std::string generation;
  std::optional<std::int64_t> year;
  bool is_gpu = true;
  std::string path;
  std::vector<SiteLibraries> libraries = {};  // the newest first
  std::vector<SitePeak> peaks = {};
  std::vector<SiteRegret> regrets = {};  // the largest first
};

struct SiteRun {
  std::string framework;  // "onnxruntime 1.31.0"
  Latency time{0};
  Interval interval;
};

// A model on a device, by so many threads (1 of a GPU): the libraries by which most of it was measured, then the
// fastest.
struct SitePlace {
  std::size_t model = 0, device = 0;
  std::int64_t threads = 1;
  Latency bound{0};  // of one layer after the other, of those that were measured
  Interval interval;
  std::int64_t measured = 0;  // layers
  std::string libraries;
  std::string newest = {};                    // UTC of the newest row of these libraries on the device
  std::string newer = {};                     // libraries of a newer version that the device has rows of; empty: none
  std::optional<SiteRun> run = std::nullopt;  // the fastest that keeps the model's contract
  bool is_complete = false;                   // nothing of the model lacks a time

  // Run over bound; of a complete bound alone.
  std::optional<double> gap() const;
  // The run is below the bound's interval: something in the store is missing or old.
  bool is_inverted() const;
};

// Configurations of a model's layers that lack a time on a device by so many threads.
struct SiteHole {
  std::size_t model = 0, device = 0;
  std::int64_t threads = 1;
  std::int64_t missing = 0, failed = 0, unsupported = 0;  // never tried (or left out), failed, no candidate has it
};

// A layer whose best time two versions of a library do not share.
struct UpgradedLayer {
  std::size_t device = 0;
  std::string layer, contract, cache;
  std::int64_t threads = 1;
  Latency before{0}, after{0};
};

struct SiteUpgrade {
  std::string library, from, to;
  std::string path;
  std::vector<UpgradedLayer> layers;  // the most slowed down first
};

// What is other than when the site was written before.
struct SiteChange {
  std::string what;    // "bound is faster"
  std::string where;   // "resnet50 on NVIDIA H100"
  std::string before;  // "1.24 ms"; empty: nothing
  std::string after;

  friend bool operator==(const SiteChange&, const SiteChange&) = default;
};

struct SiteReport {
  std::vector<SiteModel> models;
  std::vector<SiteDevice> devices;  // by year
  std::vector<SitePlace> places;    // by model, then device, then threads
  std::vector<SiteUpgrade> upgrades;
  std::vector<SiteHole> holes;
  std::vector<SiteChange> changes;
  std::string since;    // the newest row of the site before those changes; empty where there was none
  std::string address;  // of the store, for commands
  std::string data_as_of;
  std::string infimum_version;
};

// nullptr where nothing is known.
const SitePlace* FindPlace(const SiteReport& report, std::size_t model, std::size_t device, std::int64_t threads);

struct SitePage {
  std::string path;
  std::string title, headline, facts;
  std::vector<Section> sections;
};
std::vector<SitePage> SitePages(const SiteReport& report);

// Every file of the site by its path, style and script too; in page/site_page.cc.
std::map<std::string, std::string> SiteFiles(const SiteReport& report);

}  // namespace infimum
