#include "microbench/gpu/gpu_replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/measurement/contract.h"
#include "microbench/gpu/bound_program.h"
#include "microbench/gpu/device/launch_timer.h"
#include "microbench/gpu/placement_order.h"
#include "microbench/gpu/replay_branches.h"
#include "microbench/gpu/replay_step.h"
#include "microbench/reference/replay_tensors.h"
#include "microbench/reference/step_reference.h"
#include "src/core/base/prepared.h"

namespace infimum::cuda {
namespace {

using cpu::HostTensor;
using Role = StepProgram::Role;

constexpr std::size_t kAlignment = 1024;
// Parts that are timed between their neighbours are queued behind a kernel that holds the stream: as many as fit.
// A part may be several kernels.
constexpr std::size_t kQueuedParts = 32;

// Changes of layout as something to enqueue. It has no bindings: the calls know where.
class ReorderProgram : public GpuProgram {
 public:
  ReorderProgram(Gpu& gpu, std::vector<KernelCall> calls) : gpu_(gpu), calls_(std::move(calls)) {}
  Status Enqueue(Gpu::Stream stream) override {
    for (const KernelCall& call : calls_) INFIMUM_RETURN_IF_ERROR(gpu_.Launch(call, stream));
    return {};
  }

 private:
  Gpu& gpu_;
  std::vector<KernelCall> calls_;
};

// A graph that is launched again and again, as the launch timer sees it: nothing to capture.
class GraphLaunches : public ProgramLaunches {
 public:
  GraphLaunches(Gpu& gpu, Gpu::Graph graph)
      : ProgramLaunches(gpu, [&gpu, graph](Gpu::Stream) { return gpu.LaunchGraph(graph); }) {}
  Result<Graph> Capture(std::int64_t) override { return Error{"a graph is launched as it is"}; }
};

class GpuReplay : public PreparedReplay {
 public:
  GpuReplay(Gpu& gpu, GpuLibraries& libraries, ReplaySchedule schedule, const GpuReplayOptions& options)
      : gpu_(gpu), libraries_(libraries), schedule_(std::move(schedule)), options_(options) {}
  ~GpuReplay() override {
    timer_.reset();
    if (graph_) gpu_.DropGraph(*graph_);
  }

  Status Prepare(const TensorFolder* folder) {
    INFIMUM_ASSIGN_OR_RETURN(tensors_, cpu::ReplayTensors::Of(schedule_, folder, options_.seed));
    std::vector<StepProgram> found(schedule_.steps.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ReplayStep& step = schedule_.steps[i];
      step = tensors_.WithNumbers(step);
      const Status status = RunsOnce(schedule_, step) ? RunOnce(step) : FindProgram(step, found[i]);
      if (!status.ok()) return Within("step " + Quoted(step.name), status.error());
    }
    std::vector<cpu::StepOrders> wanted(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].program == nullptr) continue;
      // A weight is there in the order that its program names, and in no other.
      for (std::size_t k = 0; k < schedule_.steps[i].operands.size(); ++k)
        found[i].any_order &= !IsWeight(schedule_.steps[i], k);
      wanted[i] = OrdersOf(schedule_.steps[i], found[i]);
    }
    INFIMUM_ASSIGN_OR_RETURN(layout_, cpu::LayOut(schedule_, wanted, orders_));
    INFIMUM_RETURN_IF_ERROR(PlaceBuffers());
    branches_ = PlanBranches(layout_, options_.streams);
    INFIMUM_RETURN_IF_ERROR(PlaceScratch(found));
    for (const cpu::ReplayOperation& operation : layout_.operations) {
      const Status status = operation.is_reorder ? AddReorder(operation) : AddStep(operation, found[operation.step]);
      if (!status.ok()) return Within("step " + Quoted(schedule_.steps[operation.step].name), status.error());
    }
    // Libraries load and allocate at the first call, which nothing that is captured may do.
    for (std::size_t part = 0; part < parts_.size(); ++part) INFIMUM_RETURN_IF_ERROR(Run(part));
    INFIMUM_ASSIGN_OR_RETURN(graph_, gpu_.Capture([&] { return EnqueueAll(); }));
    return {};
  }

  const std::vector<ReplayPart>& parts() const override { return parts_; }
  Bytes weights() const override { return weight_bytes_; }
  Bytes arena() const override { return arena_bytes_; }
  Bytes constants(std::size_t part) const override { return programs_[part].constants(); }
  Status RotateConstants(std::size_t part, std::size_t copies) override {
    timer_.reset();
    copies_ = std::max<std::size_t>(copies, 1);
    return programs_[part].RotateConstants(copies);
  }

  Status Run(std::size_t part) override {
    INFIMUM_RETURN_IF_ERROR(programs_[part].Enqueue(gpu_.stream()));
    return gpu_.Wait();
  }

  Result<std::optional<Clock::Duration>> TimeParts(std::size_t first, std::size_t last,
                                                   std::int64_t launches) override {
    if (!timer_ || timed_ != std::pair(first, last)) {
      MakeTimer(first, last);
      timed_ = {first, last};
    }
    INFIMUM_ASSIGN_OR_RETURN(const Clock::Duration time, timer_->Time(launches));
    return std::optional<Clock::Duration>(time);
  }

  Result<std::optional<std::vector<Latency>>> TimeEach() override {
    std::vector<Latency> times;
    for (std::size_t first = 0; first < parts_.size(); first += kQueuedParts) {
      const std::size_t last = std::min(first + kQueuedParts, parts_.size());
      INFIMUM_RETURN_IF_ERROR(gpu_.BlockStream());
      Status queued = gpu_.RecordEvent(0);
      for (std::size_t part = first; part < last && queued.ok(); ++part) {
        queued = programs_[part].Enqueue(gpu_.stream());
        if (queued.ok()) queued = gpu_.RecordEvent(part - first + 1);
      }
      gpu_.UnblockStream();
      INFIMUM_RETURN_IF_ERROR(queued);
      INFIMUM_RETURN_IF_ERROR(gpu_.Wait());
      for (std::size_t part = first; part < last; ++part) {
        INFIMUM_ASSIGN_OR_RETURN(const Latency time, gpu_.ElapsedTime(part - first, part - first + 1));
        times.push_back(time);
      }
    }
    return std::optional(std::move(times));
  }

  Result<ReplayResult> Check() override {
    ReplayResult result;
    result.parts = parts_;
    cpu::OutputTolerance tolerance;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const cpu::ReplayOperation& operation = layout_.operations[i];
      INFIMUM_RETURN_IF_ERROR(Spoil(operation.writes));
      INFIMUM_RETURN_IF_ERROR(Run(i));
      if (operation.is_reorder) continue;
      INFIMUM_ASSIGN_OR_RETURN(result.parts[i].error, ErrorOf(operation));
      tolerance.Add(schedule_.steps[operation.step], parts_[i].tolerance);
    }
    if (!tensors_.are_expected()) {
      for (const std::size_t buffer : layout_.outputs) {
        INFIMUM_ASSIGN_OR_RETURN(const HostTensor left, DownloadedWhole(buffer));
        INFIMUM_RETURN_IF_ERROR(tensors_.Expect(layout_.buffers[buffer].tensor, left));
      }
    }
    // What is timed is the graph, so its outputs are what counts.
    for (const cpu::ReplayOperation& operation : layout_.operations) INFIMUM_RETURN_IF_ERROR(Spoil(operation.writes));
    INFIMUM_RETURN_IF_ERROR(gpu_.LaunchGraph(*graph_));
    INFIMUM_RETURN_IF_ERROR(gpu_.Wait());
    for (const std::size_t buffer : layout_.outputs) {
      INFIMUM_ASSIGN_OR_RETURN(const HostTensor found, DownloadedWhole(buffer));
      ReplayOutput output = tensors_.Compared(layout_.buffers[buffer].tensor, found);
      output.tolerance = tolerance.value();
      result.outputs.push_back(std::move(output));
    }
    return result;
  }

 private:
  const ReplayTensor& TensorOf(std::size_t buffer) const { return schedule_.tensors[layout_.buffers[buffer].tensor]; }
  TensorPlacement PlacementOf(std::size_t buffer) const {
    return orders_.PlacementOf(layout_.buffers[buffer].order, TensorOf(buffer).shape);
  }
  Bytes BytesOf(std::size_t buffer) const { return PlacementOf(buffer).bytes(TensorOf(buffer).type); }
  // Places that are no element's have to stay zero.
  bool HasGaps(std::size_t buffer) const { return !orders_.IsDense(layout_.buffers[buffer].order); }
  bool IsWeight(const ReplayStep& step, std::size_t operand) const {
    return schedule_.tensors[step.operands[operand]].kind == ReplayTensorKind::kWeight;
  }

  // A step that makes a weight, by the reference: nobody times it.
  Status RunOnce(const ReplayStep& step) {
    cpu::StepTensors seen;
    INFIMUM_RETURN_IF_ERROR(seen.Take(
        step.workload, [&](std::size_t i, const Operand& as) { return tensors_.View(step.operands[i], as); },
        [&](std::size_t i, const Operand& as) { return tensors_.View(step.outputs[i], as); }));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<cpu::LayerValues> values, cpu::ValuesOf(step));
    const auto* config = std::get_if<LayerConfig>(&step.workload);
    if (config == nullptr || !cpu::ComputeReference(*config, values[0], seen.operands, seen.outputs))
      return Error{"unsupported: a weight cannot be made by the reference"};
    return {};
  }

  Status FindProgram(const ReplayStep& step, StepProgram& found) {
    INFIMUM_ASSIGN_OR_RETURN(found, FindStepProgram(gpu_, libraries_, step, cpu::ContractOf(step.workload, schedule_)));
    return {};
  }

  // Weights have no part in the layout: each lies where its program wants it.
  cpu::StepOrders OrdersOf(const ReplayStep& step, const StepProgram& found) {
    cpu::StepOrders orders{found.any_order, std::vector<cpu::OrderId>(step.operands.size(), cpu::kRowMajorOrder),
                           std::vector<cpu::OrderId>(step.outputs.size(), cpu::kRowMajorOrder)};
    if (found.any_order) return orders;
    const std::vector<GpuBinding>& bindings = found.program->bindings();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const Role& role = found.roles[i];
      if (role.kind == Role::Kind::kOutput) orders.writes[role.index] = orders_.Add(bindings[i].placement);
      if (role.kind == Role::Kind::kOperand && !IsWeight(step, role.index))
        orders.reads[role.index] = orders_.Add(bindings[i].placement);
    }
    return orders;
  }

  Result<void*> Own(Bytes size, bool zeroed) {
    INFIMUM_ASSIGN_OR_RETURN(DeviceMemory memory, DeviceMemory::Allocate(gpu_, size));
    if (zeroed) INFIMUM_RETURN_IF_ERROR(gpu_.Fill(memory.data(), 0, size));
    return memory_.emplace_back(std::move(memory)).data();
  }

  // Inputs as they came; intermediates share a block as long as their lives allow, if nothing runs beside anything.
  Status PlaceBuffers() {
    const std::size_t count = layout_.buffers.size();
    data_.assign(count, nullptr);
    std::vector<std::size_t> bytes, place(count, count);
    for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::size_t>(BytesOf(i).value));
    const std::vector<BufferLife> lives = cpu::LivesOf(layout_, bytes);
    std::vector<BufferLife> shared;
    for (std::size_t i = 0; i < count; ++i) {
      if (layout_.IsGiven(schedule_, i)) {
        // Weights are placed with the steps that read them.
        if (TensorOf(i).kind == ReplayTensorKind::kWeight && !IsRead(i)) continue;
        const HostTensor& given = tensors_.given(layout_.buffers[i].tensor);
        INFIMUM_ASSIGN_OR_RETURN(data_[i], Own(BytesOf(i), false));
        INFIMUM_RETURN_IF_ERROR(gpu_.Upload(data_[i], given.data(), BytesOf(i)));
      } else if (HasGaps(i) || options_.streams > 1) {
        INFIMUM_ASSIGN_OR_RETURN(data_[i], Own(BytesOf(i), true));
        arena_bytes_ += BytesOf(i);
      } else {
        place[i] = shared.size();
        shared.push_back(lives[i]);
      }
    }
    const MemoryPlan plan = PlanMemory(shared, kAlignment);
    if (plan.bytes == 0) return {};
    const Bytes block{static_cast<std::int64_t>(plan.bytes)};
    INFIMUM_ASSIGN_OR_RETURN(void* const arena, Own(block, false));
    arena_bytes_ += block;
    for (std::size_t i = 0; i < count; ++i)
      if (place[i] < shared.size()) data_[i] = static_cast<char*>(arena) + plan.offsets[place[i]];
    return {};
  }

  // Whether a weight is read as a buffer: by a change of layout, or as an output of the model.
  bool IsRead(std::size_t buffer) const {
    const auto reads = [&](const cpu::ReplayOperation& operation) {
      return operation.is_reorder && operation.reads[0] == buffer;
    };
    return std::ranges::any_of(layout_.operations, reads) ||
           std::ranges::find(layout_.outputs, buffer) != layout_.outputs.end();
  }

  // One for each stream, whose programs run one after the other.
  Status PlaceScratch(const std::vector<StepProgram>& found) {
    std::vector<Bytes> most(options_.streams);
    const auto wanted = [&](std::size_t operation) {
      const cpu::ReplayOperation& one = layout_.operations[operation];
      return one.is_reorder ? Bytes{} : found[one.step].program->workspace();
    };
    for (std::size_t i = 0; i < layout_.operations.size(); ++i) {
      Bytes& of_stream = most[branches_.operations[i].stream];
      of_stream = std::max(of_stream, wanted(i));
    }
    std::vector<void*> memory(options_.streams, nullptr);
    for (std::size_t stream = 0; stream < memory.size(); ++stream) {
      if (most[stream].value == 0) continue;
      INFIMUM_ASSIGN_OR_RETURN(memory[stream], Own(most[stream], false));
    }
    for (const BranchPlan::Place& place : branches_.operations) scratch_.push_back(memory[place.stream]);
    return {};
  }

  // The weight as the binding wants it, once for all that want it so.
  Result<void*> WeightFor(std::size_t tensor, const GpuBinding& binding) {
    const cpu::OrderId order = orders_.Add(binding.placement);
    // What a program rewrites is its own.
    const bool is_shared = binding.rewritten.value == 0;
    const auto found = weights_.find({tensor, order});
    if (is_shared && found != weights_.end()) return found->second;
    const HostTensor& given = tensors_.given(tensor);
    INFIMUM_ASSIGN_OR_RETURN(const HostTensor seen,
                             HostTensor::Over(given.data(), binding.placement.shape, binding.type));
    const std::vector<std::byte> packed = Packed(seen, binding.placement, binding.type);
    const Bytes size{static_cast<std::int64_t>(packed.size())};
    INFIMUM_ASSIGN_OR_RETURN(void* const data, Own(size, false));
    INFIMUM_RETURN_IF_ERROR(gpu_.Upload(data, packed.data(), size));
    weight_bytes_ += size;
    if (is_shared) weights_[{tensor, order}] = data;
    return data;
  }

  Status AddReorder(const cpu::ReplayOperation& operation) {
    const std::size_t from = operation.reads[0], to = operation.writes[0];
    const ReplayTensor& tensor = TensorOf(from);
    INFIMUM_ASSIGN_OR_RETURN(std::vector<KernelCall> calls,
                             orders_.Reorder(layout_.buffers[from].order, layout_.buffers[to].order, tensor.shape,
                                             tensor.type, data_[from], data_[to]));
    ReplayPart part;
    part.name = "reorder of " + tensor.name;
    part.candidate = "infimum/reorder";
    part.is_reorder = true;
    part.step = operation.step;
    parts_.push_back(std::move(part));
    programs_.emplace_back(gpu_, std::make_unique<ReorderProgram>(gpu_, std::move(calls)), std::vector<void*>(),
                           nullptr, std::vector<std::size_t>());
    return programs_.back().Prepare();
  }

  Status AddStep(const cpu::ReplayOperation& operation, StepProgram& found) {
    const ReplayStep& step = schedule_.steps[operation.step];
    std::vector<void*> addresses;
    std::vector<std::size_t> constants;
    const std::vector<GpuBinding>& bindings = found.program->bindings();
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const Role& role = found.roles[i];
      if (role.kind == Role::Kind::kInner) {
        INFIMUM_ASSIGN_OR_RETURN(void* const data, Own(bindings[i].placement.bytes(bindings[i].type), false));
        addresses.push_back(data);
      } else if (role.kind == Role::Kind::kOutput) {
        addresses.push_back(data_[operation.writes[role.index]]);
      } else if (IsWeight(step, role.index)) {
        INFIMUM_ASSIGN_OR_RETURN(void* const data, WeightFor(step.operands[role.index], bindings[i]));
        constants.push_back(addresses.size());
        addresses.push_back(data);
      } else {
        addresses.push_back(data_[operation.reads[role.index]]);
      }
    }
    ReplayPart part;
    part.name = step.name;
    part.candidate = found.candidate;
    part.step = operation.step;
    part.tolerance = cpu::StepTolerance(step, cpu::ContractOf(step.workload, schedule_));
    parts_.push_back(std::move(part));
    programs_.emplace_back(gpu_, std::move(found.program), std::move(addresses), scratch_[programs_.size()],
                           std::move(constants));
    return programs_.back().Prepare();
  }

  Status EnqueueAll() {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const BranchPlan::Place& place = branches_.operations[i];
      INFIMUM_ASSIGN_OR_RETURN(const Gpu::Stream stream, StreamAt(place.stream));
      for (const std::size_t other : place.follows) {
        INFIMUM_ASSIGN_OR_RETURN(const Gpu::Stream earlier, StreamAt(other));
        INFIMUM_RETURN_IF_ERROR(gpu_.StreamWait(stream, earlier));
      }
      INFIMUM_RETURN_IF_ERROR(programs_[i].Enqueue(stream));
    }
    for (const std::size_t other : branches_.last) {
      INFIMUM_ASSIGN_OR_RETURN(const Gpu::Stream earlier, StreamAt(other));
      INFIMUM_RETURN_IF_ERROR(gpu_.StreamWait(gpu_.stream(), earlier));
    }
    return {};
  }
  Result<Gpu::Stream> StreamAt(std::size_t number) {
    if (number == 0) return gpu_.stream();
    return gpu_.Branch(number);
  }

  void MakeTimer(std::size_t first, std::size_t last) {
    timer_.reset();
    LaunchTimerOptions options;
    if (gpu_.facts().clock_mhz > 0) options.usual_mhz = gpu_.facts().clock_mhz;
    if (first == 0 && last == parts_.size() && last > 1) {
      launches_ = std::make_unique<GraphLaunches>(gpu_, *graph_);
    } else {
      options.launch_multiple = static_cast<std::int64_t>(copies_);
      launches_ = std::make_unique<ProgramLaunches>(gpu_, [this, first, last](Gpu::Stream stream) -> Status {
        for (std::size_t part = first; part < last; ++part) INFIMUM_RETURN_IF_ERROR(programs_[part].Enqueue(stream));
        return {};
      });
    }
    timer_.emplace(*launches_, options);
  }

  // What is left over from before must not pass.
  Status Spoil(const std::vector<std::size_t>& buffers) {
    for (const std::size_t buffer : buffers)
      INFIMUM_RETURN_IF_ERROR(gpu_.Fill(data_[buffer], HasGaps(buffer) ? 0 : 0xcb, BytesOf(buffer)));
    return {};
  }

  // A buffer's elements in row-major order, seen as an operand.
  Result<HostTensor> Downloaded(std::size_t buffer, const Operand& as) {
    std::vector<std::byte> packed(static_cast<std::size_t>(BytesOf(buffer).value));
    INFIMUM_RETURN_IF_ERROR(gpu_.Download(packed.data(), data_[buffer], BytesOf(buffer)));
    INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(as.shape, as.type));
    Unpack(packed, PlacementOf(buffer), TensorOf(buffer).type, tensor);
    return tensor;
  }

  Result<HostTensor> DownloadedWhole(std::size_t buffer) {
    const ReplayTensor& tensor = TensorOf(buffer);
    return Downloaded(buffer, {tensor.shape, tensor.type, false});
  }

  Result<std::optional<double>> ErrorOf(const cpu::ReplayOperation& operation) {
    const ReplayStep& step = schedule_.steps[operation.step];
    cpu::StepTensors seen;
    INFIMUM_RETURN_IF_ERROR(seen.Take(
        step.workload,
        [&](std::size_t i, const Operand& as) {
          return IsWeight(step, i) ? tensors_.View(step.operands[i], as) : Downloaded(operation.reads[i], as);
        },
        [&](std::size_t i, const Operand& as) { return Downloaded(operation.writes[i], as); }));
    return cpu::StepError(step, seen.operands, seen.outputs, options_.seed);
  }

  Gpu& gpu_;
  GpuLibraries& libraries_;
  ReplaySchedule schedule_;
  GpuReplayOptions options_;
  cpu::ReplayTensors tensors_;
  PlacementOrders orders_;
  cpu::ReplayLayout layout_;
  std::vector<DeviceMemory> memory_;
  std::vector<void*> data_;     // of the layout's buffers
  std::vector<void*> scratch_;  // by operation
  std::map<std::pair<std::size_t, cpu::OrderId>, void*> weights_;
  std::deque<BoundProgram> programs_;  // by operation
  std::vector<ReplayPart> parts_;
  BranchPlan branches_;
  std::optional<Gpu::Graph> graph_;  // one inference
  std::unique_ptr<ProgramLaunches> launches_;
  std::optional<LaunchTimer> timer_;
  std::pair<std::size_t, std::size_t> timed_;
  std::size_t copies_ = 1;  // of the constants of the part that is timed
  Bytes weight_bytes_, arena_bytes_;
};

}  // namespace

Result<std::unique_ptr<PreparedReplay>> PrepareGpuReplay(Gpu& gpu, GpuLibraries& libraries,
                                                         const ReplaySchedule& schedule, const TensorFolder* folder,
                                                         const GpuReplayOptions& options) {
  INFIMUM_RETURN_IF_ERROR(Validate(schedule));
  if (!schedule.factors.empty()) return Error{"unsupported: a graph of kernels cannot switch between two candidates"};
  return Prepared<PreparedReplay>(std::make_unique<GpuReplay>(gpu, libraries, schedule, options), folder);
}

}  // namespace infimum::cuda
