// How a time is made on a GPU: what one more launch costs, without what events and starting a graph cost.
//
//   a kernel of 3 us; events and the start of a graph take 6 us
//     graph of 512 launches   1542 us
//     graph of 1024           3078 us
//     (3078 - 1542) / 512     3.00 us a launch, where one launch alone would seem to take 9
//
// Launches are captured in CUDA graphs of N and of 2N, since in a stream they would wait for the host, which needs
// some microseconds for each. A library that does something which cannot be captured is launched into a stream, by the
// same difference; then the host's time may be in it, and the label says `uncaptured`.
//
// A graph starts behind a callback that holds the stream until all is queued, so that drivers which start its launches
// one by one add nothing.
//
// Warm-up: 25 ms and three launches. Then samples until there are 30 and their median is known within 0.5 %, or 0.2 s
// on the GPU or 5 s are spent. Clocks are left as they are: lock them for less noise (nvidia-smi --lock-gpu-clocks).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "cuda_memory.h"
#include "timing.h"

namespace gpu {

// Queues one launch, and throws where the library refuses.
using Launch = std::function<void(cudaStream_t)>;

struct GpuTimes {
  Times times;
  bool captured = true;
};

class LaunchTimer {
 public:
  LaunchTimer(Launch launch, cudaStream_t stream) : launch_(std::move(launch)), stream_(stream) {
    Check(cudaEventCreate(&start_), "no event");
    Check(cudaEventCreate(&end_), "no event");
  }
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;
  ~LaunchTimer() {
    for (const cudaGraphExec_t graph : {few_, many_})
      if (graph != nullptr) (void)cudaGraphExecDestroy(graph);
    for (const cudaEvent_t event : {start_, end_})
      if (event != nullptr) (void)cudaEventDestroy(event);
  }

  // So many launches into the stream, in microseconds.
  double TimeInStream(long launches) {
    return TimeBetweenEvents(
        [&] {
          for (long i = 0; i < launches; ++i) launch_(stream_);
        },
        [] {});
  }

  // Captures graphs of so many launches and of twice as many; false where that cannot be done.
  bool Capture(long launches) {
    few_ = CaptureOne(launches);
    if (few_ != nullptr) many_ = CaptureOne(2 * launches);
    if (many_ == nullptr) return false;
    // The first time a graph is started, it is also uploaded.
    for (const cudaGraphExec_t graph : {few_, many_}) TimeGraph(graph);
    return true;
  }
  double TimeFew() { return TimeGraph(few_); }
  double TimeMany() { return TimeGraph(many_); }

 private:
  // `release` comes when all is queued.
  template <class Work, class Release>
  double TimeBetweenEvents(const Work& work, const Release& release) {
    Check(cudaEventRecord(start_, stream_), "an event could not be recorded");
    work();
    Check(cudaEventRecord(end_, stream_), "an event could not be recorded");
    release();
    Check(cudaEventSynchronize(end_), "the launch failed");
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, start_, end_), "no time between events");
    return 1e3 * milliseconds;
  }

  // Holds the stream while this lives, or for two seconds: what is queued may wait for the device itself. The callback
  // may come later, or never where the device failed.
  class Hold {
   public:
    explicit Hold(cudaStream_t stream) {
      auto state = std::make_unique<State>(is_over_);
      Check(cudaLaunchHostFunc(stream, Wait, state.get()), "the stream could not be held");
      (void)state.release();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { *is_over_ = true; }

   private:
    using State = std::shared_ptr<std::atomic<bool>>;
    static void CUDART_CB Wait(void* state) {
      const std::unique_ptr<State> is_over(static_cast<State*>(state));
      const timing::Clock::time_point start = timing::Clock::now();
      while (!**is_over && timing::Microseconds(timing::Clock::now() - start) < 2e6) std::this_thread::yield();
    }
    State is_over_ = std::make_shared<std::atomic<bool>>(false);
  };

  double TimeGraph(cudaGraphExec_t graph) {
    std::optional<Hold> hold(std::in_place, stream_);
    return TimeBetweenEvents([&] { Check(cudaGraphLaunch(graph, stream_), "a graph could not be started"); },
                             [&] { hold.reset(); });
  }

  // Null where something within a launch cannot be captured.
  cudaGraphExec_t CaptureOne(long launches) {
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
      (void)cudaGetLastError();
      return nullptr;
    }
    bool launched = true;
    try {
      for (long i = 0; i < launches; ++i) launch_(stream_);
    } catch (const std::exception&) {
      launched = false;
    }
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    // The capture ends in any case: else the stream could not be used again.
    if (cudaStreamEndCapture(stream_, &graph) != cudaSuccess || !launched ||
        cudaGraphInstantiateWithFlags(&ready, graph, 0) != cudaSuccess) {
      ready = nullptr;
    }
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return ready;
  }

  Launch launch_;
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
  cudaGraphExec_t few_ = nullptr, many_ = nullptr;
};

inline GpuTimes TakeGpuSamples(const Launch& launch, cudaStream_t stream) {
  constexpr double kWarmUp = 25'000, kBatch = 2'000, kMostOnGpu = 200'000, kMost = 5'000'000;  // us
  constexpr long kMostLaunches = 512;
  const timing::Clock::time_point start = timing::Clock::now();
  const auto elapsed = [&] { return timing::Microseconds(timing::Clock::now() - start); };

  LaunchTimer timer(launch, stream);
  double warm = 0, one = 0;
  for (long launches = 0, batch = 1; warm < kWarmUp || launches < 3;) {
    const double time = timer.TimeInStream(batch);
    one = time / static_cast<double>(batch);
    warm += time;
    launches += batch;
    batch = std::clamp(static_cast<long>(kBatch / std::max(one, 0.01)), 1L, kMostLaunches);
    if (elapsed() > kMost && launches >= 3) break;
  }

  GpuTimes result;
  Times& times = result.times;
  times.launches_per_sample = std::clamp(static_cast<long>(kBatch / std::max(one, 0.01)), 1L, kMostLaunches);
  result.captured = timer.Capture(times.launches_per_sample);
  std::vector<double> sorted;
  double on_gpu = 0;
  while (true) {
    const double few = result.captured ? timer.TimeFew() : timer.TimeInStream(times.launches_per_sample);
    const double many = result.captured ? timer.TimeMany() : timer.TimeInStream(2 * times.launches_per_sample);
    const double sample = (many - few) / static_cast<double>(times.launches_per_sample);
    on_gpu += few + many;
    // Those that are not positive count too: the others alone would be too long for a short kernel.
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), sample), sample);
    if (sample <= 0) ++times.disturbed;
    if (sorted.size() >= 30 && timing::IsKnown(sorted)) break;
    if (on_gpu >= kMostOnGpu && sorted.size() >= 3) break;
    if (elapsed() >= kMost) break;
  }
  times.median_us = timing::Quantile(sorted, 0.5);
  if (times.median_us <= 0)
    throw std::runtime_error(
        "twice as many launches took no longer in the median: something else is at work on this GPU");
  times.min_us = *std::upper_bound(sorted.begin(), sorted.end(), 0.0);
  times.p95_us = timing::Quantile(sorted, 0.95);
  times.samples = sorted.size();
  return result;
}

}  // namespace gpu
