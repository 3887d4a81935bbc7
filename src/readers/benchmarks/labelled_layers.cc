#include "src/readers/benchmarks/labelled_layers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 16;  // a region of 256 members fits
constexpr std::size_t kMaxAlgorithm = 200;
constexpr int kMostCuts = 32;

// What Google Benchmark itself appends to names.
bool IsSuffix(std::string_view piece) {
  constexpr std::array<std::string_view, 3> kWhole = {"manual_time", "real_time", "process_time"};
  constexpr std::array<std::string_view, 5> kBegin = {
      "iterations:", "min_time:", "min_warmup_time:", "repeats:", "threads:"};
  return std::ranges::find(kWhole, piece) != kWhole.end() ||
         std::ranges::any_of(kBegin, [&](std::string_view begin) { return piece.starts_with(begin); });
}

// A name on one line, as candidates are called.
std::string Name(std::string_view text, std::string_view fallback) {
  std::string name(TrimSpace(text).substr(0, kMaxAlgorithm));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::iscntrl(c) != 0; }, '_');
  // A cut may have split a character.
  while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xc0U) == 0x80U) name.pop_back();
  if (!name.empty() && static_cast<unsigned char>(name.back()) >= 0xc0U) name.pop_back();
  return name.empty() ? std::string(fallback) : name;
}

std::string AlgorithmOf(std::string_view rest) {
  std::vector<std::string> pieces;
  for (const std::string_view piece : Split(rest, '/')) {
    if (!TrimSpace(piece).empty() && !IsSuffix(TrimSpace(piece))) pieces.emplace_back(TrimSpace(piece));
  }
  return Name(Join(pieces, "/"), "default");
}

std::string LibraryOf(std::string_view executable) {
  const std::size_t folder = executable.find_last_of("/\\");
  if (folder != std::string_view::npos) executable.remove_prefix(folder + 1);
  if (executable.ends_with(".exe")) executable.remove_suffix(4);
  return Name(executable, "unknown");
}

}  // namespace

std::optional<LabelledLayer> FindLabelledLayer(const BenchmarkEntry& entry, std::string_view executable) {
  if (entry.label.size() > kMaxText || entry.name.size() > kMaxText) return std::nullopt;
  const auto layer = [&](Workload workload, std::string_view rest) {
    Candidate candidate{LibraryOf(executable), AlgorithmOf(rest), "any", "any", false};
    return LabelledLayer{std::move(workload), std::move(candidate)};
  };
  const std::string_view name = entry.name, label = TrimSpace(entry.label);
  if (Result<Workload> workload = ParseWorkload(label); workload.ok())
    return layer(*std::move(workload), name.starts_with(label) ? name.substr(label.size()) : name);
  std::size_t end = name.size();
  for (int cuts = 0; cuts < kMostCuts; ++cuts) {
    if (Result<Workload> workload = ParseWorkload(name.substr(0, end)); workload.ok())
      return layer(*std::move(workload), name.substr(end));
    end = end == 0 ? std::string_view::npos : name.find_last_of("/ ", end - 1);
    if (end == std::string_view::npos) break;
  }
  return std::nullopt;
}

}  // namespace infimum::ingest
