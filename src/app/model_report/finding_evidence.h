// The evidence behind findings: the commands by which a reader sees for himself what a finding says, how many
// candidates were tried for its cases, and the sources of those that ran.
//
//   infimum bench --layer 'convolution ...' --db measurements.db --candidate onednn/brgconv:avx512_core
//   infimum emit --layer 'convolution ...' -o slower-algorithm-1
//   infimum synth bricks resnet50.onnx --layer Conv_0 -o slower-algorithm-1
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "infimum/measurement/contract.h"
#include "reports/model/report_model.h"

namespace infimum {

// Fills Finding::commands and the commands of its cases: the largest case measured again with all candidates, its
// source, and its layer as an ONNX file of its own. `bench_options` as BenchOptions; absent where this device is not
// the one to measure on. `model` as ModelArguments. What cannot be emitted has no command for it.
void AddCommands(const std::optional<std::string>& bench_options, std::optional<NumericContract> contract,
                 const std::string& model, std::vector<Finding>& findings);

// Fills the cases' counts and intervals, and ReportModel::sources. Needs the findings, the workloads and
// ReportModel::bench_options. `contract` is the selection's.
void FillFindingEvidence(std::optional<NumericContract> contract, ReportModel& report);

}  // namespace infimum
