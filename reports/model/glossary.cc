#include "reports/model/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "reports/text/fact_text.h"

namespace infimum {
namespace {

struct Explained {
  std::string_view tag;  // a * at its start or its end stands for anything
  std::string_view meaning;
};

constexpr auto kTags = std::to_array<Explained>({
    {"estimated", "No data sheet is known for this device: its peaks are the best rates ever measured on it."},
    {"any-program",
     "No floor holds for every program: one may skip zeros, store weights by their information or merge layers by "
     "algebra."},
    {"launched", "Programs that the host starts for each inference: one start of a kernel."},
    {"dense-read",
     "Programs that read each weight and input that is needed once, as it is stored, for all weights of their types "
     "and "
     "the input that takes longest: none skips zeros, compresses weights or merges layers by algebra."},
    {"winograd",
     "Programs of the class dense-read whose convolutions are direct or use minimal filtering up to F(4x4), on the "
     "units "
     "of the type."},
    {"textbook",
     "Programs of the class dense-read that do each layer’s sums as they are defined, on the units of the type: no "
     "Winograd, FFT or Strassen, no f32 out of several bf16 products."},
    {"free-layouts", "Each layer may use its best layout; changing layouts between layers costs nothing."},
    {"in-context",
     "Each layer’s weights are as near as an inference of the whole model leaves them: by the share of them that "
     "caches keep until their turn comes again, predicted from the memory’s measured curve, between its time with all "
     "caches warm and its time with "
     "weights from memory."},
    {"borrowed-cold-weights",
     "The best candidate of some layers was not measured with weights from memory: it is taken to lose as little by "
     "them "
     "as the candidate of the layer, or of a layer with as many weights, that loses least in all or for each byte."},
    {"some-weights-warm",
     "Some layers have no row with weights from memory and count with all caches warm: the true bound is higher."},
    {"warm-caches", "Inputs and weights of a layer may already be in the caches."},
    {"cold-caches", "Each layer finds its inputs and weights in memory, not in the caches."},
    {"cold-weights",
     "Each layer finds its weights in memory and its inputs in the caches, as where the weights of all layers together "
     "exceed them."},
    {"one-thread", "Bound and measured run use this many threads."},
    {"*-threads", "Bound and measured run use this many threads."},
    {"held-to-metronome",
     "Two fixed loops, of arithmetic and of memory, were timed around each measurement: what changed times by more "
     "than "
     "a hundredth as it changed the loops, a clock or a neighbour, is taken off, from the layers and from the runs."},
    {"several-hosts",
     "The measurements come from several machines with the same processor and libraries: no single one showed all of "
     "them."},
    {"missing-libraries",
     "cuDNN or cuBLASLt was not found where it was measured: none of its kernels is a candidate, and the true bound is "
     "lower."},
    {"estimated-layers", "Some layers are estimated by the bytes they must move and the measured copy rate."},
    {"integers-without-scales",
     "Element-wise layers and poolings on 8 bits were measured on plain integers: with the scales that a model’s have "
     "they take somewhat longer."},
    {"unmeasured-layers", "Some layers have no time at all: the true bound is higher."},
    {"missing-layers", "Some layers have no time at all: the true bound is higher."},
    {"unknown-layers-omitted", "Layers of unknown kind count nothing: the true floor may be higher."},
    {"sparse-weights",
     "Many of the stored weights are zero: programs that skip zeros may take less than this floor. Where "
     "they are 2:4, as Sparse Tensor Cores skip them, they are not counted."},
    {"compressible-weights",
     "The stored weights take more bits than they need: programs that store them by their information read fewer bytes "
     "and may take less than this floor."},
    {"if-cheaper-branch", "An If counts its cheaper branch."},
    {"least-loop-iterations", "A loop counts the iterations that every inference runs at least."},
    {"assumed-*", "A number that only a run decides, as it was stated with --assume."},
    {"least-*", "A number that only a run decides and that was not stated: what every run does counts."},
    {"unconverged-rows",
     "The times of layers that hold a tenth of the bound or more did not settle within the time that measuring had: "
     "the "
     "interval says how far that goes."},
    {"throttled-rows",
     "The times of layers that hold a tenth of the bound or more were taken while the device ran below its usual "
     "clocks: "
     "the bound may be too high."},
    {"uncaptured-rows",
     "The times of layers that hold a tenth of the bound or more contain what the host needs for a launch: no CUDA "
     "graph "
     "could be had of them."},
    {"launch-bound-rows",
     "Kernels of layers that hold a tenth of the bound or more take less than three times as long as an empty one: the "
     "times say more about launching than about the kernels."},
    {"host-bound-rows",
     "The times of layers that hold a tenth of the bound or more may contain the host's: it took longer than the "
     "stream could be held."},
    {"overlapping-rows",
     "Kernels of layers that hold a tenth of the bound or more begin before the one ahead of them has ended: behind "
     "another kernel they may take longer."},
    {"launch-gaps",
     "A tenth of the layers' times or more is the gap between a kernel and the next one, which each row holds once. "
     "Programs whose kernels begin before the one ahead has ended (programmatic dependent launch), or are one for many "
     "layers, save it: `--what-if gapless:all` says how much."},
    {"observed-candidates",
     "Frameworks' own times of layers and fused groups count as candidates. R cannot run their kernels."},
    {"plan-of-R", "The kernels and layouts that the demonstrated run executes: what it predicts is R."},
    {"changes-of-layout-paid", "A tensor lies as its producer writes it; who reads another order waits for a copy."},
    {"estimated-changes-of-layout", "Some of these copies were not measured and count by their bytes."},
    {"row-major-where-unstated", "Some candidates do not say how their tensors lie and count as row-major."},
    {"unfolded-layers", "The layers of the file one by one, as the rules of 2019 count them."},
    {"zero-cost-operators", "Operators that cost nothing by the rules of 2019, though they move bytes."},
    {"convolutions-without-their-bias", "Convolutions whose bias has no row count alone."},
    {"first-to-last-layer",
     "The path that the rules of 2019 take: from the first listed layer to the last, which is left out."},
    {"without-last-layer",
     "The path that the rules of 2019 take: from the first listed layer to the last, which is left out."},
    {"no-path-from-first-to-last-layer",
     "The path that the rules of 2019 take: from the first listed layer to the last, which is left out."},
    {"borrowed-peak-*",
     "The peak for this type was not measured; the best of the types that are no wider stands in for it."},
    {"coarse-tau",
     "The memory's rates are known at a few working sets only: between them the floor is lower than it could be said. "
     "`infimum analyze` measures the others after the layers."},
    {"unknown-peak-*", "No arithmetic peak is known for this type: its arithmetic counts nothing."},
    {"longest-path-decides", "Even with every layer beside every other, the longest chain of layers takes this long."},
    {"core-time-decides", "All cores are busy all the time: more overlap wins nothing."},
    {"memory-decides", "The memory is busy all the time: more overlap wins nothing."},
    {"arithmetic-*", "The arithmetic units of this type are busy all the time: more overlap wins nothing."},
    {"no-measured-regions", "No region of several layers was measured as one, so nothing is fused."},
    {"relaxed-selection",
     "Which regions to fuse was not solved exactly: no selection is faster than this, and perhaps none is as fast."},
    {"best-candidate-where-no-library-chooses", "Layers that no library has a choice for count their best candidate."},
});

bool Fits(std::string_view pattern, std::string_view tag) {
  if (pattern.starts_with('*')) return tag.ends_with(pattern.substr(1));
  if (pattern.ends_with('*')) return tag.starts_with(pattern.substr(0, pattern.size() - 1));
  return tag == pattern;
}

}  // namespace

std::vector<GlossaryEntry> GlossaryOf(const ReportModel& report) {
  std::vector<GlossaryEntry> entries;
  const auto add = [&](std::string_view tag) {
    const auto known = std::ranges::find_if(kTags, [&](const Explained& one) { return Fits(one.tag, tag); });
    if (known == kTags.end()) return;
    std::string meaning(known->meaning);
    if (const std::optional<WeightSample>& weights = report.graph.weights) {
      if (tag == "sparse-weights") meaning += fmt::format(" In a sample {} are.", PercentText(weights->zero_share));
      if (tag == "compressible-weights")
        meaning += fmt::format(" In a sample they need {}.", PercentText(weights->information_share));
    }
    entries.push_back({std::string(tag), std::move(meaning)});
  };
  std::set<std::string> tags;
  for (const Floor& floor : report.bracket.floors) {
    add(Name(floor.program_class));
    tags.insert(floor.assumptions.begin(), floor.assumptions.end());
  }
  for (const Bound& bound : report.bracket.bounds) tags.insert(bound.assumptions.begin(), bound.assumptions.end());
  for (const std::string& tag : tags) add(tag);
  return entries;
}

}  // namespace infimum
