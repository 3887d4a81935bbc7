// Tables whose cells are coloured by how far their ratios are from 1, of a page that sorts and filters them
// (assets/comparison.js); everything stands in them without the script.
//
//   const HeatLook look{labels, HeatScale(ColouredRatios(sections)), std::nullopt};
//   AddHeatKey(sections, look, html);
//   AddHeatTable(sections.front(), look, html);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/page/html_writer.h"
#include "reports/text/section.h"

namespace infimum {

// Colours of ratios: seven steps faster and seven slower, as wide in logarithms as what they are to tell apart asks
// for, so that neither generations of devices nor two versions of a library all get one colour.
//
//   ratios between 0.6 and 1.8   -> steps of a quarter of an octave: 1.2, 1.4, 1.7, 2, 2.4, 2.8
//   ratios between 0.15 and 1.2  -> of half an octave: 1.4, 2, 2.8, 4, 5.7, 8
class HeatScale {
 public:
  static constexpr int kSteps = 7;

  // For ratios above 0; what only the outermost tenth of them reaches may share the last step.
  explicit HeatScale(std::vector<double> ratios);

  // 1 to kSteps, alike for a ratio and its inverse.
  int StepOf(double ratio) const;
  // From how many times on a step counts: "2.8"; of the first "1".
  std::string BeginOf(int step) const;

 private:
  double octaves_;  // of one step
};

// What all tables of a page share.
struct HeatLook {
  std::vector<std::string> labels;  // of the sides' columns, the whole of them
  HeatScale scale;
  std::optional<std::size_t> winner;
};

// The ratios that are told apart by colour.
std::vector<double> ColouredRatios(const std::vector<Section>& sections);

// In its box, with a filter where it is long. Of Section::shown the rest of the rows is in a <noscript>, of which a
// browser with scripts makes no elements until all are asked for.
void AddHeatTable(const Section& section, const HeatLook& look, HtmlWriter& html);

// Which colour is how much, as far as any cell of the sections goes, and what the signs mean.
void AddHeatKey(const std::vector<Section>& sections, const HeatLook& look, HtmlWriter& html);

// To the sections of a page; and what it rests on, nothing where that is nothing.
std::string LinksHtml(const std::vector<Section>& sections);
std::string RemarksHtml(const std::vector<std::string>& remarks);

}  // namespace infimum
