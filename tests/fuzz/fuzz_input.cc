#include "tests/fuzz/fuzz_input.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace infimum::fuzz {
namespace {

std::size_t refusals = 0;

bool IsTime(Latency time) { return std::isfinite(time.count()) && time.count() >= 0; }

bool IsBeat(const Beat& beat) {
  return IsTime(beat.arithmetic) && IsTime(beat.memory) && std::min(beat.arithmetic, beat.memory) > Latency(0);
}

// Removed when the process ends.
class ProcessFile {
 public:
  ProcessFile() : path_(std::filesystem::temp_directory_path() / ("infimum-fuzz-" + std::to_string(::getpid()))) {}
  ~ProcessFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ProcessFile(const ProcessFile&) = delete;
  ProcessFile& operator=(const ProcessFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void Require(bool holds, const std::string& promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise.c_str());
  std::abort();
}

std::istringstream TextOf(const std::uint8_t* data, std::size_t size) {
  return std::istringstream(std::string(reinterpret_cast<const char*>(data), size));
}

std::filesystem::path FileOf(const std::uint8_t* data, std::size_t size) {
  static const ProcessFile file;
  std::ofstream output(file.path(), std::ios::binary | std::ios::trunc);
  output.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  output.close();
  Require(!output.fail(), "the input cannot be written to " + file.path().string());
  return file.path();
}

void CheckRefusal(const Error& error, std::string_view origin) {
  ++refusals;
  Require(error.message.starts_with(origin), "an error does not name the input: " + error.message);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  Require(std::none_of(error.message.begin(), error.message.end(), is_control),
          "an error has control characters: " + error.message);
}

std::size_t Refusals() { return refusals; }

void CheckRun(const RunProfile& run) {
  Require(!run.layers.empty() || !run.end_to_end.empty(), "a run without layers and samples");
  for (const ProfiledLayer& layer : run.layers) {
    Require(std::all_of(layer.samples.begin(), layer.samples.end(), IsTime), "a layer's sample is no time");
    for (const auto* tensors : {&layer.input_tensors, &layer.output_tensors})
      for (const ProfiledTensor& tensor : *tensors)
        for (const std::int64_t dim : tensor.dims) Require(dim >= 0, "a tensor has a negative extent");
  }
  for (const RunRepetition& repetition : run.end_to_end) {
    Require(std::all_of(repetition.samples.begin(), repetition.samples.end(), IsTime), "a sample is no time");
    Require(!repetition.beat || IsBeat(*repetition.beat), "a process's beat is no time");
  }
  Require(std::all_of(run.profiled.begin(), run.profiled.end(), IsTime), "a profiled sample is no time");
  Require(run.threads.value_or(1) > 0, "a run on no thread");
}

void CheckTimeline(const Timeline& timeline) {
  const auto has_name = [&](NameId id) {
    return id == kNoName || static_cast<std::size_t>(id) < timeline.names.size();
  };
  std::int64_t before = INT64_MIN;
  for (const HostCall& call : timeline.host_calls) {
    Require(call.start_ns >= before && call.duration_ns >= 0, "host calls are not in order");
    Require(call.start_ns >= timeline.first_ns && call.start_ns + call.duration_ns <= timeline.last_ns,
            "a host call is outside of its timeline");
    Require(call.thread < timeline.threads.size() && has_name(call.name) && has_name(call.shapes),
            "a host call refers to what is not there");
    before = call.start_ns;
  }
  before = INT64_MIN;
  for (const DeviceWork& work : timeline.device_work) {
    Require(work.start_ns >= before && work.duration_ns >= 0, "device work is not in order");
    Require(work.start_ns >= timeline.first_ns && work.start_ns + work.duration_ns <= timeline.last_ns,
            "device work is outside of its timeline");
    Require(work.stream < timeline.streams.size() && has_name(work.name) && has_name(work.launch),
            "device work refers to what is not there");
    before = work.start_ns;
  }
  Require(timeline.duration_ns() >= 0, "a timeline of a negative duration");
}

ResultsTaker CheckingTaker() {
  ResultsTaker taker;
  taker.rows = [](const Device&, const Environment&, std::span<const Measurement> rows,
                  std::span<const PeakRate>) -> Status {
    for (const Measurement& row : rows) {
      Require(row.outcome == Outcome::kMeasured || !row.reason.empty(), "a row that was not measured has no reason");
      for (const Repetition& repetition : row.repetitions) {
        Require(IsTime(repetition.minimum) && repetition.minimum <= repetition.median,
                "a row's statistics contradict each other");
        Require(!repetition.beat || IsBeat(*repetition.beat), "a repetition's beat is no time");
      }
    }
    return {};
  };
  taker.run = [](const RunProfile& run) -> Status {
    CheckRun(run);
    return {};
  };
  taker.remark = [](const std::string&) {};
  return taker;
}

}  // namespace infimum::fuzz
