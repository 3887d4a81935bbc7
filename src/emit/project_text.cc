#include "src/emit/project_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum::emit {
namespace {

// One line of a code block, which nothing in it can leave: control characters become spaces.
std::string CodeLine(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return "    " + line + "\n";
}

// What the first layer's text begins with, which a benchmark's name does: letters alone, none of which a pattern has
// another meaning for.
std::string FilterOf(const std::vector<EmittedLayer>& layers) {
  const std::string& text = layers.front().text;
  const std::size_t start = text.starts_with("region [") ? std::string_view("region [").size() : 0;
  return text.substr(start, text.find(' ', start) - start);
}

std::string Program(const Library& library) { return fmt::format("{}_benchmarks", library.name); }

}  // namespace

std::string CMakeListsText(const Library& library, const std::vector<EmittedLayer>& layers,
                           const EmitOptions& options) {
  std::string text = fmt::format(
      "# Benchmarks that call {} directly, written by infimum {}. README.md says how to build and run them.\n"
      "cmake_minimum_required(VERSION {})\n"
      "project({} LANGUAGES CXX)\n\n"
      "set(CMAKE_CXX_STANDARD 20)\n"
      "set(CMAKE_CXX_STANDARD_REQUIRED ON)\n"
      "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n"
      "  set(CMAKE_BUILD_TYPE Release)\n"
      "endif()\n\n"
      "{}\n"
      "find_package(benchmark REQUIRED)\n\n"
      "add_executable({}\n",
      library.title, options.version, library.cmake_version, Program(library), library.find_package, Program(library));
  for (const EmittedLayer& layer : layers) text += fmt::format("  {}\n", layer.file);
  std::vector<std::string> shared;
  for (const std::string_view file : library.shared_files)
    if (file.ends_with(".cc")) shared.push_back("  " + std::string(file));
  std::sort(shared.begin(), shared.end());
  text += Join(shared, "\n") + ")\n";
  text += fmt::format("target_link_libraries({} PRIVATE {} benchmark::benchmark)\n", Program(library), library.target);
  // Most of a source's compile time is the library's header.
  if (!library.precompiled_header.empty()) {
    text += fmt::format("target_precompile_headers({} PRIVATE {})\n", Program(library), library.precompiled_header);
  }
  return text;
}

std::string ReadmeText(const Library& library, const std::vector<EmittedLayer>& layers,
                       const std::vector<LeftOut>& left_out, const std::vector<std::string>& comments,
                       const EmitOptions& options) {
  const std::string program = Program(library);
  std::string text = fmt::format(
      "# {} benchmarks\n\n"
      "Written by infimum {}: each source is one layer, calls {} directly, and registers a Google Benchmark for each\n"
      "candidate{}.\nNothing here needs infimum, and all of it is yours to change.\n\n",
      library.title, options.version, library.title,
      options.candidates.empty() ? ", that is each implementation that the library has where the program runs, in the\n"
                                   "layouts that it likes best and in common ones"
                                 : " that was asked for");
  if (!comments.empty()) {
    text += "The plan says:\n\n";
    for (const std::string& comment : comments) text += CodeLine(comment);
    text += "\n";
  }
  text += fmt::format(
      "## Build and run\n\n"
      "```sh\n"
      "cmake -S . -B build && cmake --build build\n"
      "build/{0} --benchmark_filter='{4}'\n"
      "{1}"
      "infimum import results.json\n"
      "```\n\n"
      "CMake, a C++20 compiler and Google Benchmark (Debian: `libbenchmark-dev`) are needed.\n{2}\n"
      "{3}"
      "With `--benchmark_context=infimum_device=KEY`, a key that `infimum devices` lists, the rows that\n"
      "`infimum import` reads are of that device.\n\n",
      program, library.commands, library.notes, library.running, FilterOf(layers));
  text += "## Layers\n\n";
  for (const EmittedLayer& layer : layers) text += fmt::format("`{}`\n\n{}\n", layer.file, CodeLine(layer.text));
  if (!left_out.empty()) {
    text += "## Not here\n\n";
    for (const LeftOut& left : left_out) text += CodeLine(left.what) + fmt::format("\n{}\n\n", left.reason);
  }
  text += fmt::format("## What infimum measures beside these\n\n{}", library.beside);
  return text;
}

}  // namespace infimum::emit
