// Facts of bounds and runs in words, and quantities with three significant digits and a unit that fits.
//
//   BytesText(Bytes{1536}) == "1.54 kB"             SignedLatencyText(Latency(80)) == "+80.0 µs"
//   FlopsText(Flops{8178892800}) == "8.18 GFLOP"    PercentText(0.1517) == "15.2 %"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/bracket/bracket.h"
#include "infimum/base/units.h"

namespace infimum {

std::string SignedLatencyText(Latency latency);  // "+80.0 µs"
std::string BytesText(Bytes bytes);              // decimal units, as bandwidths use them
std::string FlopsText(Flops flops);
std::string PercentText(double share);                           // of 1
std::string RateText(double per_second, std::string_view unit);  // (2.65e11, "FLOP/s") is "265 GFLOP/s"

// "measured 97.9 %, estimated 1.2 %, missing 0.9 % and with it 16.1 % of the FLOPs"
std::string CoverageText(const Coverage& coverage);

// "0.9 % of the time, 16.1 % of the FLOPs"; of the time alone where there is no arithmetic.
std::string ShareText(double time, double flops);

// What has no time, by the larger share: "2.1 % of its work", "16.1 % of its work by FLOPs".
std::string LackingText(const Coverage& coverage);

// "7.15 ms to 8.67 ms"
std::string IntervalText(const Interval& interval);
// "5.79 ms, between 1.82 ms and 9.75 ms"
std::string WithInterval(Latency latency, const std::optional<Interval>& interval);

// What the libraries' own choices cost: "382 µs over 70 layers"; where it comes to nothing "nothing that could be told
// from noise (-2.10 ms over 3 layers)".
std::string RegretText(const AlgorithmRegret& regret);

// "1.053 times its parts alone with weights 18 % in the caches (1.141 times with all caches warm, 1.035 with weights
// from memory)"
std::string CompositionText(const CompositionError& error);

// "8 machines with the same processor and libraries; their clocks differ (performance, powersave; ...): ..."
std::string HostsText(const SeveralHosts& hosts);

// "warm caches", "weights in context"
std::string CacheText(const std::optional<CacheState>& cache);

// "layers with weights +4.90 ms, changes of layout +0.80 ms, other layers +1.60 ms; most: conv_51 402 us for 371 us"
std::string ShownLossText(const ModelGraph& graph, const ShownLoss& loss);

// "measured", "measured in one process, held to the metronome"
std::string LimitText(const UpperLimit& limit);

// "faster in a framework, alone, than by the best known kernels: 5 of layers and fused groups, conv_1+relu_1 80 us for
// 95 us (openvino-2026.4.1), ...": the first three.
std::string ObservedText(const ModelGraph& graph, const std::vector<ObservedNode>& nodes);
// "products of one input as one (12), 3x3 convolutions by Winograd filtering (33)".
std::string NotTriedText(const std::vector<NotTried>& kinds);

// "108 MB an inference; 9.3 % of the weights count as near, 85.1 % were measured from memory or need not be"
std::string ContextText(const ModelContext& context);

// 1 for a singular and everything else in the plural: CountText(2, "layer") == "2 layers".
std::string CountText(std::size_t count, const std::string& noun);

// ", without about 25 % of the layers' time, which could not be read"; empty where hardly anything is missing.
std::string SkippedText(double share, std::string_view whose);

}  // namespace infimum
