#include "src/emit/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/source_text.h"

namespace infimum {
namespace emit {

std::span<const Library* const> Libraries() {
  static const Library* const libraries[] = {&OneDnn(), &Cudnn(), &CublasLt()};
  return libraries;
}

namespace {

struct EmittedLayer {
  std::string file;  // of its source
  std::string text;
};

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
      "endif()\n"
      "# GCC 12 warns of its own strings where it optimizes (its bugs 105651, 105329, 105562).\n"
      "if(CMAKE_CXX_COMPILER_ID STREQUAL \"GNU\" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)\n"
      "  add_compile_options(-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized)\n"
      "endif()\n\n"
      "{}\n"
      "find_package(benchmark REQUIRED)\n\n"
      "add_executable({}\n",
      library.title, options.version, library.cmake_version, Program(library), library.find_package, Program(library));
  for (const EmittedLayer& layer : layers) text += fmt::format("  {}\n", layer.file);
  std::vector<std::string> shared;
  for (const std::string_view file : library.shared_files)
    if (file.ends_with(".cc")) shared.push_back("  " + std::string(file));
  std::ranges::sort(shared);
  text += Join(shared, "\n") + ")\n";
  text += fmt::format("target_link_libraries({} PRIVATE {} benchmark::benchmark)\n", Program(library), library.target);
  // Most of a source's compile time is the library's header.
  if (!library.precompiled_header.empty()) {
    text += fmt::format("target_precompile_headers({} PRIVATE {})\n", Program(library), library.precompiled_header);
  }
  return text;
}

// `comments`: of the plan, which name models.
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
      "With `INFIMUM_DEVICE=KEY` in the environment, a key that `infimum devices` lists, the rows that\n"
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

Result<const Library*> FindLibrary(const std::string& name) {
  std::vector<std::string> names = EmittableLibraries();
  for (const Library* library : Libraries())
    if (library->name == name) return library;
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string guess = DidYouMean(name, known);
  return Error{fmt::format("--library: no sources can be written for {}{}", Quoted(name),
                           guess.empty() ? ", only for " + Join(names, ", ") : guess)};
}

// Printable and without spaces, which no candidate's name has.
bool IsName(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return c > 0x20 && c < 0x7f; };
  return !text.empty() && text.size() <= 200 && std::ranges::all_of(text, is_plain);
}

// The candidates that this library's sources can register; the others go to `left_out`.
Result<std::vector<std::string>> UsableCandidates(const Library& library, const std::vector<std::string>& names,
                                                  std::vector<LeftOut>& left_out) {
  std::vector<std::string> usable;
  const std::string prefix = std::string(library.candidates) + "/";
  for (const std::string& name : names) {
    if (!IsName(name) || name.find('/') == std::string::npos) {
      return Error{fmt::format("--candidate: {} is no candidate's name, they are like '{}{}'", Quoted(name), prefix,
                               library.example)};
    }
    std::string reason;
    if (name.starts_with("infimum/")) {
      reason = "a kernel of infimum's own, which is not emitted";
    } else if (const std::string_view of = std::string_view(name).substr(0, name.find('/'));
               of != library.candidates &&
               std::ranges::find(library.further_candidates, of) == library.further_candidates.end()) {
      reason = fmt::format("not of {}, whose candidates begin with '{}'", library.title, prefix);
    } else {
      reason = library.refusal_of(std::string_view(name).substr(of.size() + 1));
    }
    if (!reason.empty()) {
      left_out.push_back({name, reason});
    } else if (std::ranges::find(usable, name) == usable.end()) {
      usable.push_back(name);
    }
  }
  if (!names.empty() && usable.empty())
    return Error{fmt::format("--candidate {}: {}; nothing is left to emit", left_out[0].what, left_out[0].reason)};
  return usable;
}

// Two layers whose names agree so far get more of their hashes.
std::string FreeName(const Library& library, const Workload& workload, std::set<std::string>& taken) {
  for (std::size_t digits = 8;; digits *= 2) {
    std::string name = fmt::format("{}_{}.cc", library.name, SourceName(workload, digits));
    if (taken.insert(name).second || digits >= 64) return name;
  }
}

}  // namespace
}  // namespace emit

std::vector<std::string> EmittableLibraries() {
  std::vector<std::string> names;
  for (const emit::Library* library : emit::Libraries()) names.emplace_back(library->name);
  return names;
}

Result<EmittedProject> EmitProject(const Plan& plan, const EmitOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const emit::Library* const library, emit::FindLibrary(options.library));
  EmittedProject project;
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> candidates,
                           emit::UsableCandidates(*library, options.candidates, project.left_out));
  std::vector<EmittedFile> sources;
  std::vector<emit::EmittedLayer> layers;
  std::set<std::string> names, seen;
  std::map<std::string, std::vector<NumericContract>> contracts;  // by workload
  for (const PlanEntry& entry : plan.entries) {
    std::vector<NumericContract>& known = contracts[Format(entry.workload)];
    if (std::ranges::find(known, entry.contract) == known.end()) known.push_back(entry.contract);
  }
  for (const PlanEntry& entry : plan.entries) {
    const std::string text = Format(entry.workload);
    // The same layer under two contracts is one source.
    if (!seen.insert(text).second) continue;
    Result<std::string> source = library->write_source({entry.workload, contracts[text], candidates, options.version});
    if (!source.ok()) {
      project.left_out.push_back({text, source.error().message});
      continue;
    }
    layers.push_back({emit::FreeName(*library, entry.workload, names), text});
    sources.push_back({layers.back().file, *std::move(source)});
  }
  if (layers.empty()) {
    if (project.left_out.empty()) return Error{"the plan has no workloads, so there is nothing to emit"};
    const LeftOut& first = project.left_out.back();
    return Error{fmt::format("nothing of the plan can be emitted; {}: {}", Quoted(first.what), first.reason)};
  }
  project.layers = layers.size();
  project.files.push_back({"CMakeLists.txt", emit::CMakeListsText(*library, layers, options)});
  project.files.push_back({"README.md", emit::ReadmeText(*library, layers, project.left_out, plan.comments, options)});
  project.files.push_back({"timing.h", std::string(emit::EmbeddedFile("timing.h"))});
  for (const std::string_view name : library->shared_files)
    project.files.push_back({std::string(name), std::string(emit::EmbeddedFile(name))});
  project.files.insert(project.files.end(), sources.begin(), sources.end());
  return project;
}

Status WriteProject(const EmittedProject& project, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error))) {
    if (!fs::is_directory(folder, error))
      return Error{fmt::format("{}: is there already and no folder; name another one", folder.string())};
    const bool empty = fs::is_empty(folder, error);
    if (error) return Error{fmt::format("{}: cannot be read: {}", folder.string(), error.message())};
    if (!empty) {
      return Error{
          fmt::format("{}: is not empty, and may hold sources that were changed; name a new folder, or remove it",
                      folder.string())};
    }
  }
  fs::create_directories(folder, error);
  if (error) return Error{fmt::format("{}: cannot be made: {}", folder.string(), error.message())};
  for (const EmittedFile& file : project.files) {
    INFIMUM_RETURN_IF_ERROR(WriteFile(folder / file.name, file.text));
  }
  return {};
}

}  // namespace infimum
