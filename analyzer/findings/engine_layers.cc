#include "analyzer/findings/engine_layers.h"

#include <algorithm>

#include "analyzer/alignment/engine_work.h"
#include "infimum/measurement/statistics.h"

namespace infimum::findings {

Latency TimeOf(const ProfiledLayer& layer) { return layer.samples.empty() ? Latency(0) : Quantile(layer.samples, 0.5); }

Latency TimeOf(const RunProfile& run) {
  Latency total{0};
  for (const ProfiledLayer& layer : run.layers) total += TimeOf(layer);
  return total;
}

std::string KernelOrName(const ProfiledLayer& layer) { return layer.algorithm.empty() ? layer.name : layer.algorithm; }

bool ChangesLayout(const ProfiledLayer& layer) { return OwnWorkOf(layer) == EngineWork::kLayoutChange; }

void TimeBy::Add(const std::string& what, Latency time) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.what == what; });
  Entry& entry = found == entries_.end() ? entries_.emplace_back(Entry{what}) : *found;
  entry.time += time;
  ++entry.times;
  total_ += time;
  ++count_;
}

std::vector<std::string> TimeBy::Largest(std::size_t count) const {
  std::vector<Entry> sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.time > b.time; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) names.push_back(sorted[i].what);
  return names;
}

std::string TimeBy::Frequencies(std::size_t count) const {
  std::vector<Entry> sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.times > b.times; });
  std::string text;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i)
    text += (i > 0 ? ", " : "") + sorted[i].what +
            (sorted[i].times == 1 ? " (once)" : " (" + std::to_string(sorted[i].times) + " times)");
  return text;
}

}  // namespace infimum::findings
