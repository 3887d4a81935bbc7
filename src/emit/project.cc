#include "src/emit/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "infimum/base/text.h"
#include "src/emit/library.h"
#include "src/emit/library_texts.h"
#include "src/emit/project_text.h"
#include "src/emit/source_name.h"

namespace infimum {
namespace emit {

std::span<const Library* const> Libraries() {
  static const Library* const libraries[] = {&OneDnn(), &Cudnn(), &CublasLt()};
  return libraries;
}

namespace {

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
  return !text.empty() && text.size() <= 200 && std::all_of(text.begin(), text.end(), is_plain);
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
    } else if (!name.starts_with(prefix)) {
      reason = fmt::format("not of {}, whose candidates begin with '{}'", library.title, prefix);
    } else {
      reason = library.refusal_of(std::string_view(name).substr(prefix.size()));
    }
    if (!reason.empty()) {
      left_out.push_back({name, reason});
    } else if (std::find(usable.begin(), usable.end(), name) == usable.end()) {
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
    if (std::find(known.begin(), known.end(), entry.contract) == known.end()) known.push_back(entry.contract);
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

}  // namespace infimum
