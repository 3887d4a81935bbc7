// A GPU that is not there: its memory is the host's, its kernels run by their twins on the host, and its time is
// pretended, so that every number of a timing is known beforehand.
//
//   starting a graph, or a launch in a stream   6 us, 5 us of the host's for each launch in a stream
//   a kernel                                    2 us, 1 us more where the caches were emptied before it
//   a kernel of peaks                           2 us, and 1 us for each MiB that it moves
//
// Replaying a graph takes its time; its launches are computed where `computes_in_graphs` says so, and then only those
// of a graph of up to 500, only when the host has written to memory since, and of a library's launches one after the
// other only the first: those of a timing are all alike. Streams run one after the other; waits between them are
// counted.
//
// Faults are asked for by PRETENDED_GPU=NAME,... in the environment, where a worker inherits them: "lost" loses the
// context at the third element-wise kernel, "slow" halves the clock, "company" has somebody else compute; and
// "computes" sets `computes_in_graphs`; with it "cudnn" has the runner of rehearsals offer what cuDNN has on an H200.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "infimum/base/clock.h"
#include "microbench/gpu/device/gpu.h"

namespace infimum::cuda {

class PretendedGpu : public Gpu {
 public:
  explicit PretendedGpu(const GpuOptions& options, FakeClock* clock = nullptr);
  ~PretendedGpu() override;

  const GpuFacts& facts() const override { return facts_; }
  Result<void*> Allocate(Bytes size) override;
  void Free(void* memory) override;
  Status Upload(void* device, const void* host, Bytes size) override;
  Status Download(void* host, const void* device, Bytes size) override;
  Status Fill(void* device, int byte, Bytes size) override;

  Stream stream() override { return &streams_[0]; }
  Result<Stream> Branch(std::size_t number) override { return static_cast<Stream>(&streams_[number]); }
  Status StreamWait(Stream, Stream) override {
    ++follows_;
    return {};
  }
  Status Wait() override;

  Result<Graph> Capture(const std::function<Status()>& enqueue) override;
  Status LaunchGraph(Graph graph) override;
  void DropGraph(Graph graph) override { graphs_.erase(graph); }

  Status RecordEvent(std::size_t point) override;
  Result<Latency> ElapsedTime(std::size_t first, std::size_t last) override;

  Status BlockStream() override;
  void UnblockStream() override { is_blocked_ = false; }
  Status EmptyCaches() override;

  Status Launch(const KernelCall& call, Stream stream) override;
  Status LaunchEmpty() override;
  Status LaunchPeak(const BandwidthCall& call) override;
  Result<double> LaunchPeak(const ArithmeticCall& call) override;
  std::optional<double> FrequencyMhz() override;
  std::vector<GpuProcess> OtherProcesses() override;

  // What a library of a test puts into a stream: done on the host when its turn comes, for a kernel's time. `program`
  // tells launches of one thing from those of others.
  Status EnqueueHost(std::function<void()> work, Stream stream, const void* program);

  // What a test looks at.
  bool captures = true;
  bool computes_in_graphs = false;
  std::size_t branches_used() const { return branches_.size(); }
  std::size_t follows() const { return follows_; }
  std::size_t live_allocations() const { return memory_.size(); }
  std::size_t live_graphs() const { return graphs_.size(); }
  std::int64_t kernels_run() const { return kernels_run_; }
  std::int64_t waits() const { return waits_; }

 private:
  struct Work {
    KernelCall call;
    bool is_empty = false;
    std::function<void()> on_host = nullptr;
    const void* program = nullptr;  // of on_host
  };
  Status Enqueue(Work work, Stream stream);
  void Run(const Work& work, bool computes);
  void Spend(Latency time);

  GpuFacts facts_;
  GpuOptions options_;
  FakeClock* clock_;
  std::set<std::string> faults_;
  char streams_[16] = {};
  std::map<void*, std::unique_ptr<char[]>> memory_;  // by aligned address
  std::map<void*, Bytes> sizes_;
  Bytes allocated_;
  bool is_capturing_ = false, is_blocked_ = false, is_cold_ = false;
  std::vector<Work> captured_;
  struct Recorded {
    std::vector<Work> work;
    std::int64_t computed_at = -1;  // of `writes_`
  };
  std::map<Graph, Recorded> graphs_;
  std::int64_t writes_ = 0;  // of the host's to memory
  Graph last_graph_ = 0;
  Latency now_{0};
  std::map<std::size_t, Latency> points_;
  std::int64_t kernels_run_ = 0, pointwise_run_ = 0, waits_ = 0;
  std::set<Stream> branches_;
  std::size_t follows_ = 0;
};

}  // namespace infimum::cuda
