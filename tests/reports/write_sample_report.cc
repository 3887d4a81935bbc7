// write_sample_report FILE [STAGES]: the sample report as HTML, for the browser test and for eyes.
//   write_sample_report sample.html          about 170 layers
//   write_sample_report large.html 18        about 3,000
//   write_sample_report plain.html 1 bare    no run, nothing missing; also: empty, floors, inversion, and other edges
//   than a
//                                            residual network's: dense, transformer
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>

#include "infimum/base/text.h"
#include "reports/page/html_report.h"
#include "tests/reports/layout_graphs.h"
#include "tests/reports/sample_report.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: write_sample_report FILE [STAGES [bare|empty|floors|inversion|dense|transformer]]\n";
    return 2;
  }
  infimum::SampleOptions options;
  if (argc > 2) {
    options.stages = static_cast<std::size_t>(infimum::ParseInteger(argv[2]).value_or(1));
  }
  std::string_view kind = argc > 3 ? argv[3] : "";
  if (kind == "bare") {
    options.with_run = false;
    options.with_missing = false;
  }
  infimum::ReportModel report = infimum::SampleReport(options);
  if (kind == "dense") report.edges = infimum::DenseGraph(report.graph.layers.size());
  if (kind == "transformer") report.edges = infimum::TransformerGraph(report.graph.layers.size());
  infimum::MarkLongestPath(report);
  if (kind == "empty") report = infimum::ReportModel();
  if (kind == "floors") report = infimum::SampleFloors();
  // The framework beats our candidates: the bound is above the run.
  if (kind == "inversion") {
    for (infimum::AlignedRow& row : report.run->rows) *row.measured *= 0.7;
    report.run->latency *= 0.7;
    report.run->interval = infimum::Interval{report.run->latency * 0.99, report.run->latency * 1.01};
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << infimum::HtmlReport(report);
  out.close();
  if (!out) {
    std::cerr << argv[1] << ": could not be written\n";
    return 1;
  }
  return 0;
}
