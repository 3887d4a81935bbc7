// A model's time in a framework, composed of its bricks': each unique one is measured alone and counted as often as it
// occurs, less what a call costs.
//
//   call + sum over bricks of count (time - call)
//
//   ONNX Runtime takes 5 us for a model that does nothing, 105 us for one brick that is there 10 times, 55 us for one
//   that is there twice: 5 + 10 x 100 + 2 x 50 = 1,105 us
//
// Bricks know nothing of each other: a framework's own layouts begin and end at their edges, and caches are as one
// brick in a row leaves them. What that makes is told by a run of the whole model beside it, and is in the interval:
// of ten models, in blocks of 20 layers, nine were composed within 9 % (README.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/run_profile.h"
#include "infimum/measurement/measurement.h"
#include "src/app/runners/framework_run.h"
#include "src/synth/brick_file.h"

namespace infimum {

struct BrickTime {
  synth::Brick brick;              // without its file
  std::optional<Latency> latency;  // of one call
  Interval interval;
  std::string why_not;  // where it has none
  RunProfile run = {};  // its processes
};

struct ComposedTime {
  std::vector<BrickTime> bricks;
  Latency call{0};  // of a model that does nothing
  Latency total{0};
  Interval interval;
  std::int64_t missing = 0;         // occurrences of bricks without a time
  std::size_t known = 0;            // bricks that were measured before
  bool weights_decide = false;      // the whole's time, so that the sum is too low and has no interval
  std::optional<RunProfile> whole;  // of the model, measured after its bricks
  std::string why_not_whole;        // where it has none
};

// Fills total, interval and missing. Half widths of the bricks' intervals and of what composing costs add up as those
// of independent errors do.
void Compose(ComposedTime& composed);

// Where runs of bricks are kept, so that no brick is measured twice, in whichever model it is.
struct BrickRuns {
  std::function<Result<std::optional<RunProfile>>(const std::string& file_sha256)> find;
  std::function<Status(RunProfile&, const std::filesystem::path& file)> keep;
};

Result<ComposedTime> MeasureBricks(const Installation& installation, const std::filesystem::path& model,
                                   const FrameworkOptions& options, const synth::Cut& cut, const BrickRuns& runs,
                                   ProgressLog& log);

// The bricks that are a layer or a region, which the store knows by their text, as rows "observed/openvino-2026.4.1"
// that brackets of any model find: a framework's own time of just that, less what a call costs. Caches are warm.
std::vector<Measurement> ObservedRows(const ComposedTime& composed, const std::string& measured_at);

// As a table with its sum, and as JSON ("infimum.brick-times/1").
std::string ComposedText(const ComposedTime& composed, std::size_t width);
std::string ComposedJson(const ComposedTime& composed);

}  // namespace infimum
