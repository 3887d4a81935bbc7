// Small models of tests, written where a command finds them.
//
//   WriteExample(program, "small_network")   // of models/small_network.txt, whose first lines say what it is
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <string>

#include "tests/app/commands/program.h"
#include "tests/support/folders.h"

namespace infimum::testing {

inline std::string WriteModel(const ProgramTest& program, const std::string& graph,
                              const std::string& name = "model.onnx") {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, ("<ir_version: 9, opset_import: [\"\" : 18]>" + graph).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return program.Write(name, model.SerializeAsString());
}

inline std::string WriteExample(const ProgramTest& program, const std::string& example,
                                const std::string& name = "model.onnx") {
  std::ifstream file(SourceFolder() + "/tests/app/commands/models/" + example + ".txt");
  std::string graph;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#")) graph += line + "\n";
  return WriteModel(program, graph, name);
}

}  // namespace infimum::testing
