// A cell, run: its model as a file, what is known of it beforehand, and the framework's time of it.
//
//   Result<CellRunner> runner = CellRunner::Make({}, installation, *store, log);
//   Result<CellRunner::Prepared> prepared = runner->Prepare(planned, true);   // facts, or why it cannot be run
//   Result<CellResult> result = runner->Run(planned, *prepared, planned.cell.method, log);
//
// A model of a family is a file for as long as it is needed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/bracket/what_if.h"
#include "analyzer/estimate/estimate.h"
#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/sweep/sweep.h"
#include "analyzer/types/device_model.h"
#include "infimum/db/store.h"
#include "reports/inspect/inspect_totals.h"
#include "src/app/models/model_variant.h"
#include "src/app/processes/temporary_folder.h"
#include "src/app/runners/campaign.h"
#include "src/app/runners/framework_run.h"
#include "src/evaluation/evaluation.h"

namespace infimum {

// Of a run that is kept: the canonical text of the cell that it was made for.
inline constexpr const char* kCellSetting = "cell";

struct CellRunnerOptions {
  CampaignOptions campaign;
  std::string python;
  bool measures_peaks = true;  // where the store has none of this device
};

class CellRunner {
 public:
  // Describes the device here; its peaks are measured where floors need them and the store has none.
  static Result<CellRunner> Make(const CellRunnerOptions& options, const Installation& installation, Store& store,
                                 ProgressLog& log);

  const RunnerDescription& here() const { return here_; }
  // An error where a cell is of a device that nothing is known of, or of a framework, mode or option that there is not.
  Status CheckCells(std::span<const PlannedCell> cells);

  struct Prepared {
    CellFacts facts;
    std::optional<CellResult> refusal;     // no use to run it: this is its result
    std::vector<std::string> assumptions;  // of the floor, where it was asked for
    std::string omitted;                   // "16 layers, GroupQueryAttention: a table ...": what the floor leaves out
  };
  // What is known without running it. With `floors` also the least time on the cell's device, which takes a reading of
  // the model. An error where the file cannot be read at all. `peaks`: of the device as it could be.
  Result<Prepared> Prepare(const PlannedCell& planned, bool floors, std::span<const PeakChange> peaks = {});

  // What its layers take one after the other at the device's rates, and by the rows that the store has.
  struct Rows {
    std::optional<Latency> roofline;
    std::optional<Latency> launches;  // of it what starts of kernels add, where the device's is known
    std::optional<KnownTime> known;
  };
  // `floor`: the textbook's.
  Result<Rows> RowsOf(const PlannedCell& planned, Latency floor);

  // Measures it, by its own method or another; what goes wrong in the framework is a state of the result. An error
  // where we ourselves cannot go on.
  Result<CellResult> Run(const PlannedCell& planned, const Prepared& prepared, const CellMethod& method,
                         ProgressLog& log);

 private:
  CellRunner(const CellRunnerOptions& options, const Installation& installation, Store& store, RunnerDescription here,
             TemporaryFolder folder)
      : options_(options),
        installation_(installation),
        store_(store),
        here_(std::move(here)),
        folder_(std::move(folder)) {}

  struct File {
    std::filesystem::path path;
    bool is_ours = false;

    void Remove() const;  // of ours, with its weights
  };
  Result<File> FileOf(const PlannedCell& planned, bool for_reading);
  struct Place {
    Selection selection;
    DeviceModel model;
  };
  Result<const Place*> PlaceOf(const std::string& name, std::int64_t threads, NumericContract contract,
                               std::span<const PeakChange> peaks = {});
  Result<EstimateQuestion*> QuestionOf(const ModelGraph& graph, const Selection& selection);
  struct ReadCell {
    std::string key;
    ModelUnder under;
    InspectTotals totals;
    CompulsoryTraffic traffic;
  };
  Result<const ReadCell*> ReadModelOf(const PlannedCell& planned, bool needs_weights);
  Status AddFloor(const PlannedCell& planned, std::span<const PeakChange> peaks, Prepared& prepared);

  CellRunnerOptions options_;
  const Installation& installation_;
  Store& store_;
  RunnerDescription here_;
  TemporaryFolder folder_;
  std::optional<ReadCell> read_;
  std::map<std::string, Place> places_;                               // by name, threads, contract and changed peaks
  std::map<std::string, std::optional<EstimateQuestion>> questions_;  // likewise, of a model's content
};

}  // namespace infimum
