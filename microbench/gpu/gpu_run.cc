#include "microbench/gpu/gpu_run.h"

#include <algorithm>
#include <utility>

#include "infimum/measurement/statistics.h"
#include "microbench/gpu/bound_program.h"
#include "microbench/gpu/device/launch_timer.h"
#include "src/core/base/prepared.h"

namespace infimum::cuda {
namespace {

constexpr int kSamples = 11;  // of what every time contains

LaunchTimerOptions TimerOptions(const Gpu& gpu) {
  LaunchTimerOptions options;
  if (gpu.facts().clock_mhz > 0) options.usual_mhz = gpu.facts().clock_mhz;
  return options;
}

// Whether a tensor is known before the first inference.
bool IsConstant(const Region& region, const RegionOperand& operand) {
  if (operand.source != RegionOperand::Source::kInput) return operand.source == RegionOperand::Source::kWeight;
  // Of a layer alone its configuration says it.
  if (region.members.size() != 1) return false;
  const RegionMember& member = region.members.front();
  const std::vector<Operand> operands = OperandsOf(member.config);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (member.operands[i] == operand) return operands[i].constant;
  return false;
}

class GpuRun : public PreparedRun {
 public:
  GpuRun(Gpu& gpu, std::unique_ptr<cpu::RegionTensors> tensors, const GpuRunOptions& options)
      : gpu_(gpu),
        tensors_(std::move(tensors)),
        launches_(gpu, [this](Gpu::Stream stream) { return program_->Enqueue(stream); }),
        options_(options) {}

  Status Prepare(std::unique_ptr<GpuProgram> program) {
    std::vector<void*> addresses;
    std::vector<std::size_t> constants;
    for (const GpuBinding& binding : program->bindings()) {
      INFIMUM_ASSIGN_OR_RETURN(DeviceMemory memory,
                               DeviceMemory::Allocate(gpu_, binding.placement.bytes(binding.type)));
      if (binding.is_written()) {
        INFIMUM_RETURN_IF_ERROR(gpu_.Fill(memory.data(), 0, memory.size()));
      } else {
        const std::vector<std::byte> packed =
            Packed(*tensors_->problem().Find(binding.tensor), binding.placement, binding.type);
        INFIMUM_RETURN_IF_ERROR(gpu_.Upload(memory.data(), packed.data(), memory.size()));
        if (IsConstant(tensors_->problem().region, binding.tensor)) {
          constants.push_back(addresses.size());
        }
      }
      footprint_ += memory.size();
      addresses.push_back(memory.data());
      memory_.push_back(std::move(memory));
    }
    if (program->workspace().value > 0) {
      INFIMUM_ASSIGN_OR_RETURN(workspace_, DeviceMemory::Allocate(gpu_, program->workspace()));
    }
    program_.emplace(gpu_, std::move(program), std::move(addresses), workspace_.data(), std::move(constants));
    INFIMUM_RETURN_IF_ERROR(program_->Prepare());
    // Libraries load and allocate at the first call, which nothing that is captured may do.
    INFIMUM_RETURN_IF_ERROR(Run());
    MakeTimer(1);
    return {};
  }

  // Also behind an error: a library may return what an earlier kernel has done, and where that lost the context the
  // wait ends this process with the candidate whose kernel it was.
  Status Run() override {
    const Status queued = program_->Enqueue(gpu_.stream());
    const Status waited = gpu_.Wait();
    return queued.ok() ? waited : queued;
  }

  Result<std::optional<Clock::Duration>> TimeLaunches(std::int64_t launches) override {
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration time, timer_->Time(launches));
    return std::optional<Clock::Duration>(time);
  }
  Result<std::optional<Clock::Duration>> TimeColdLaunch(bool constants_alone) override {
    INFIMUM_ASSIGN_OR_RETURN(
        const Clock::Duration time,
        timer_->TimeAlone(constants_alone ? LaunchCaches::kWithoutConstants : LaunchCaches::kEmptied));
    const auto cost = std::chrono::duration_cast<Clock::Duration>(options_.event_cost);
    return std::optional<Clock::Duration>(std::max(time - cost, Clock::Duration(1)));
  }
  std::optional<Latency> TimingFloor() override { return options_.launch_floor; }
  std::vector<std::string> TimingFlags() override { return timer_->flags(); }

  Result<std::optional<double>> NumericError() override {
    const std::vector<GpuBinding>& bindings = program_->bindings();
    // Nonsense first, on both sides, so that nothing from before can pass.
    tensors_->PoisonResults();
    for (std::size_t i = 0; i < bindings.size(); ++i)
      if (bindings[i].is_written()) INFIMUM_RETURN_IF_ERROR(gpu_.Fill(memory_[i].data(), 0xcb, memory_[i].size()));
    INFIMUM_RETURN_IF_ERROR(Run());
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      if (!bindings[i].is_written()) continue;
      std::vector<std::byte> packed(static_cast<std::size_t>(memory_[i].size().value));
      INFIMUM_RETURN_IF_ERROR(gpu_.Download(packed.data(), memory_[i].data(), memory_[i].size()));
      const auto member = static_cast<std::size_t>(bindings[i].tensor.index);
      Unpack(packed, bindings[i].placement, bindings[i].type, *tensors_->problem().members[member][bindings[i].output]);
    }
    if (options_.known != nullptr) options_.known->Begin(Format(Workload(tensors_->problem().region)));
    return RegionError(tensors_->problem(), options_.seed, options_.known);
  }

  Bytes footprint() const override { return footprint_; }
  Bytes constants() const override { return program_->constants(); }

  Status RotateConstants(std::size_t copies) override {
    INFIMUM_RETURN_IF_ERROR(program_->RotateConstants(copies));
    // Graphs hold addresses; and one must go through all copies, else the next finds some of them in the cache.
    MakeTimer(static_cast<std::int64_t>(std::max<std::size_t>(copies, 1)));
    return {};
  }

 private:
  void MakeTimer(std::int64_t launch_multiple) {
    LaunchTimerOptions options = TimerOptions(gpu_);
    options.launch_multiple = launch_multiple;
    timer_.emplace(launches_, options);
  }

  Gpu& gpu_;
  std::unique_ptr<cpu::RegionTensors> tensors_;
  std::optional<BoundProgram> program_;
  ProgramLaunches launches_;
  GpuRunOptions options_;
  std::vector<DeviceMemory> memory_;  // by binding
  DeviceMemory workspace_;
  Bytes footprint_;
  std::optional<LaunchTimer> timer_;
};

}  // namespace

Result<std::unique_ptr<PreparedRun>> PrepareGpuRun(Gpu& gpu, const cpu::ValuedRegion& problem, const GpuOffer& offer,
                                                   const GpuRunOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<cpu::RegionTensors> tensors,
                           cpu::RegionTensors::Random(problem.region, options.seed));
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> program, offer.make(gpu));
  tensors->problem().values = problem.values;
  return Prepared<PreparedRun>(std::make_unique<GpuRun>(gpu, std::move(tensors), options), std::move(program));
}

Result<Latency> MeasureLaunchFloor(Gpu& gpu, double quantile) {
  ProgramLaunches launches(gpu, [&gpu](Gpu::Stream) { return gpu.LaunchEmpty(); });
  LaunchTimer timer(launches, TimerOptions(gpu));
  constexpr std::int64_t kLaunches = 256;
  // An idle device needs some 100 ms to reach its usual frequency.
  constexpr int kAwakening = 80;
  for (int i = 0; i < kAwakening; ++i) INFIMUM_RETURN_IF_ERROR(timer.Time(kLaunches));
  std::vector<Latency> samples;
  for (int i = 0; i < kSamples; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration time, timer.Time(kLaunches));
    samples.push_back(Latency(time) / static_cast<double>(kLaunches));
  }
  return Quantile(samples, quantile);
}

Result<Latency> MeasureEventCost(Gpu& gpu, Latency launch_floor) {
  ProgramLaunches launches(gpu, [&gpu](Gpu::Stream) { return gpu.LaunchEmpty(); });
  LaunchTimer timer(launches, TimerOptions(gpu));
  std::vector<Latency> samples;
  for (int i = 0; i < kSamples; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration time, timer.TimeAlone(LaunchCaches::kAsTheyAre));
    samples.emplace_back(time);
  }
  return std::max(Quantile(samples, 0.5) - launch_floor, Latency(0));
}

}  // namespace infimum::cuda
