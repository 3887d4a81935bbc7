#include "tests/readers/paradnn_points.h"

#include <array>
#include <utility>

#include "infimum/base/text.h"
#include "src/readers/files/json_document.h"

namespace infimum {
namespace {

using List = std::optional<std::vector<double>>;

// A file as it is: one element a point in each list. FLOPs are in units of 1e9, shares in percent.
struct Sweep {
  std::vector<std::string> labels, err_jobs, states;
  List step_per_sec, params, fl, intensity, flops_perc, infeed;
};

constexpr Limits kPercent{0, 100};

constexpr std::array<std::pair<std::string_view, const char*>, 5> kParts = {
    {{"layer", "layers"}, {"node", "nodes"}, {"input", "inputs"}, {"output", "outputs"}, {"bs", "batch"}}};

Result<ParaDnnPoint> PointOf(const std::string& label, std::string_view device) {
  ParaDnnPoint point;
  point.family = "fc";
  point.device = device;
  const std::vector<std::string_view> parts = Split(label, '-');
  for (std::size_t i = 0; i < kParts.size() && parts.size() == kParts.size(); ++i) {
    const auto& [theirs, ours] = kParts[i];
    if (!parts[i].starts_with(theirs) || !parts[i].substr(theirs.size()).starts_with('_')) break;
    const std::optional<std::int64_t> value = ParseInteger(parts[i].substr(theirs.size() + 1));
    if (!value || *value < 1 || *value > std::int64_t{1} << 31) break;
    point.parameters[ours] = *value;
  }
  if (point.parameters.size() == kParts.size()) return point;
  return Error{"label " + Quoted(label) + ": expected layer_N-node_N-input_N-output_N-bs_N, each N from 1 to 2^31"};
}

Result<ParaDnnPoint::State> StateOf(const std::string& text) {
  if (text == "OOM") return ParaDnnPoint::State::kOutOfMemory;
  if (text == "no error but not finished") return ParaDnnPoint::State::kUnfinished;
  return Error{"'states' has " + Quoted(text) + ", expected 'OOM' or 'no error but not finished'"};
}

}  // namespace

static void VisitFields(auto& visit, Like<Sweep> auto& sweep) {
  visit("labels", sweep.labels);
  visit.Lenient("err_jobs", sweep.err_jobs);
  visit.Lenient("states", sweep.states);
  visit("step_per_sec", sweep.step_per_sec);
  visit("params", sweep.params);
  visit("fl", sweep.fl);
  visit("intensity", sweep.intensity);
  visit("flops_perc", sweep.flops_perc, kPercent);
  visit("infeed", sweep.infeed, kPercent);
}

namespace {

Result<std::vector<ParaDnnPoint>> PointsOf(const Sweep& sweep, std::string_view device) {
  if (!sweep.step_per_sec && !sweep.flops_perc) return Error{"neither 'step_per_sec' nor 'flops_perc' is there"};
  for (const auto& [name, list] : {std::pair("step_per_sec", &sweep.step_per_sec), std::pair("params", &sweep.params),
                                   std::pair("fl", &sweep.fl), std::pair("intensity", &sweep.intensity),
                                   std::pair("flops_perc", &sweep.flops_perc), std::pair("infeed", &sweep.infeed)})
    if (*list && (*list)->size() != sweep.labels.size())
      return Error{Quoted(name) + " has " + std::to_string((*list)->size()) + " numbers for " +
                   std::to_string(sweep.labels.size()) + " 'labels'"};
  if (sweep.err_jobs.size() != sweep.states.size())
    return Error{"'states' has " + std::to_string(sweep.states.size()) + " texts for " +
                 std::to_string(sweep.err_jobs.size()) + " 'err_jobs'"};
  const auto at = [](const List& list, std::size_t i, double unit) {
    return list ? std::optional((*list)[i] * unit) : std::nullopt;
  };
  std::vector<ParaDnnPoint> points;
  for (std::size_t i = 0; i < sweep.labels.size(); ++i) {
    INFIMUM_ASSIGN_OR_RETURN(ParaDnnPoint point, PointOf(sweep.labels[i], device));
    if (sweep.step_per_sec) {
      const double microseconds = 1e6 / (*sweep.step_per_sec)[i];
      if (!(microseconds <= kMaxMicroseconds))
        return Error{"label " + Quoted(sweep.labels[i]) + ": 'step_per_sec' is too small"};
      point.step = Latency(microseconds);
    }
    point.weights = at(sweep.params, i, 1);
    point.flops = at(sweep.fl, i, 1e9);
    point.intensity = at(sweep.intensity, i, 1);
    point.share_of_peak = at(sweep.flops_perc, i, 0.01);
    point.share_of_waiting = at(sweep.infeed, i, 0.01);
    points.push_back(std::move(point));
  }
  for (std::size_t i = 0; i < sweep.err_jobs.size(); ++i) {
    INFIMUM_ASSIGN_OR_RETURN(ParaDnnPoint point, PointOf(sweep.err_jobs[i], device));
    INFIMUM_ASSIGN_OR_RETURN(point.state, StateOf(sweep.states[i]));
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

Result<std::vector<ParaDnnPoint>> ReadParaDnn(std::istream& input, std::string_view origin, std::string_view device) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ingest::ReadWhole(input, origin));
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ingest::ParseDocument(text, origin));
  Sweep sweep;
  if (const Status read = FromJson(document, "", sweep); !read.ok()) return Within(std::string(origin), read.error());
  return Within(std::string(origin), PointsOf(sweep, device));
}

}  // namespace infimum
