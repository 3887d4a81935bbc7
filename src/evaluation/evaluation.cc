#include "src/evaluation/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/core/results/evaluation_json.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {

static void VisitFields(auto& visit, Like<EvaluatedModel> auto& model) {
  visit.Sparse("file", model.file);
  visit.Sparse("family", model.family);
  visit.Sparse("choices", model.choices);
  visit.Sparse("dims", model.dims);
  visit("weights", model.weights);
  visit.Sparse("devices", model.devices);
  visit.Sparse("frameworks", model.frameworks);
  visit.Sparse("contracts", model.contracts);
  visit.Sparse("threads", model.threads, {1, 4096});
}

static void VisitFields(auto& visit, Like<Evaluation> auto& evaluation) {
  visit.Sparse("name", evaluation.name);
  visit.Sparse("description", evaluation.description);
  visit("models", evaluation.models);
  visit.Sparse("devices", evaluation.devices);
  visit.Sparse("frameworks", evaluation.frameworks);
  visit.Sparse("contracts", evaluation.contracts);
  visit.Sparse("threads", evaluation.threads, {1, 4096});
  visit.Sparse("cores", evaluation.cores);
  visit.Lenient("input", evaluation.input);
  visit.Lenient("method", evaluation.method);
}

namespace {

constexpr std::string_view kSchema = "infimum.evaluation/1";
constexpr std::string_view kHere = "here", kOwn = "own";

// The names of a struct's fields.
struct NameVisitor {
  std::vector<std::string_view> names;

  template <class T>
  void operator()(const char* name, const T&, const Limits& = {}) {
    names.emplace_back(name);
  }
  template <class T>
  void Sparse(const char* name, const T&, const Limits& = {}) {
    names.emplace_back(name);
  }
  template <class T>
  void Lenient(const char* name, const T&, const Limits& = {}) {
    names.emplace_back(name);
  }
};

template <class T>
Status CheckMembers(const Json& json, const std::string& where, std::initializer_list<std::string_view> more = {}) {
  if (!json.is_object()) return {};
  NameVisitor known{more};
  VisitFields(known, std::as_const(static_cast<const T&>(T())));
  for (const auto& [name, value] : json.items())
    if (std::ranges::find(known.names, name) == known.names.end())
      return Error{fmt::format("{}unknown member {}{}", where, Quoted(name), DidYouMean(name, known.names))};
  return {};
}

template <class T>
Status CheckList(const Json& json, const char* name, const std::string& where) {
  const Json* const list = FindMember(json, name);
  if (list == nullptr || !list->is_array()) return {};
  for (std::size_t i = 0; i < list->size(); ++i)
    INFIMUM_RETURN_IF_ERROR(CheckMembers<T>((*list)[i], fmt::format("{}{}[{}]: ", where, name, i)));
  return {};
}

// A number, a list of numbers and words, or a text: all as text.
Status ValuesAsText(Json& model, const char* name) {
  const auto found = model.find(name);
  if (found == model.end() || !found->is_object()) return {};
  for (auto& [key, value] : found->items()) {
    if (value.is_string()) continue;
    const Json list = value.is_array() ? value : Json::array({value});
    std::vector<std::string> texts;
    for (const Json& element : list) {
      if (!element.is_string() && !element.is_number_integer())
        return Unexpected(element, std::string(name) + "." + key, "a whole number, a word, a range or a list of them");
      texts.push_back(element.is_string() ? element.get<std::string>() : DumpJson(element));
    }
    value = Join(texts, ",");
  }
  return {};
}

// "models.py:net" by the content of the file, as "9f86...:net"; what is no file ("package.module:net") as it is.
std::string ContentOfModule(const std::filesystem::path& folder, const std::string& module) {
  const std::size_t colon = std::min(module.rfind(':'), module.size());
  const std::filesystem::path file(module.substr(0, colon));
  if (!std::set<std::filesystem::path>{".py", ".pt2", ".pt"}.contains(file.extension())) return module;
  return Sha256OfFile(folder / file).value_or("absent") + module.substr(colon);
}

// src/synth names what is wrong as an option of the command line.
Error InMember(const std::string& member, const Error& error) {
  const bool is_option = error.message.starts_with("--");
  return Error{member + (is_option ? "." + error.message.substr(2) : ": " + error.message)};
}

// All bindings of the values, the last varying first.
Result<std::vector<std::map<std::string, std::int64_t>>> BindingsOf(const ValueTexts& values, std::size_t most) {
  std::vector<std::map<std::string, std::int64_t>> bindings{{}};
  for (const auto& [name, text] : values) {
    const synth::Parameter parameter{.name = name, .what = "", .usual = 1, .least = 0};
    const Result<std::vector<std::int64_t>> axis = synth::ParseValues(parameter, text);
    if (!axis.ok()) return InMember("dims", axis.error());
    if (bindings.size() * axis->size() > most) return Error{"dims: more than " + std::to_string(most) + " of them"};
    std::vector<std::map<std::string, std::int64_t>> more;
    for (const auto& binding : bindings)
      for (const std::int64_t value : *axis) {
        more.push_back(binding);
        more.back()[name] = value;
      }
    bindings = std::move(more);
  }
  return bindings;
}

// A family's model, or a file with its dimensions: a cell of which only the conditions lack. `contents`: hashes of
// files.
Result<std::vector<PlannedCell>> ModelsOf(const EvaluatedModel& model, const std::filesystem::path& folder,
                                          std::size_t most, bool hashes_weights,
                                          std::map<std::string, std::string>& contents) {
  std::vector<PlannedCell> planned;
  if (model.family.empty() == model.file.empty()) return Error{"either 'file' or 'family' says which model it is"};
  if (!model.file.empty()) {
    if (!model.choices.empty())
      return Error{"'choices' are of a family, and this is a file; its 'dims' bind dimensions"};
    if (model.weights) return Error{"'weights' are of a family; `infimum synth bricks --weights` gives a file others"};
    PlannedCell one;
    one.file = folder / model.file;
    one.name = ModelName(one.file);
    std::string& content = contents[one.file.string()];
    if (content.empty()) {
      const std::optional<std::string> sha256 = Sha256OfFile(one.file);
      if (!sha256) return Error{one.file.string() + ": cannot be read"};
      content = *sha256 + (hashes_weights ? HashOfExternalData(one.file) : "");
    }
    one.cell.model.sha256 = content;
    INFIMUM_ASSIGN_OR_RETURN(const auto bindings, BindingsOf(model.dims, most));
    for (const auto& dims : bindings) {
      planned.push_back(one);
      planned.back().cell.dims = dims;
    }
    return planned;
  }
  if (!model.dims.empty()) return Error{"'dims' are of a file; of a family 'choices' say all, 'batch' among them"};
  const synth::Family* const family = synth::FindFamily(model.family);
  if (family == nullptr) {
    std::vector<std::string_view> known;
    for (const synth::Family& one : synth::Families()) known.push_back(one.name);
    return Error{fmt::format("unknown family {}{}; there are: {}", Quoted(model.family),
                             DidYouMean(model.family, known), fmt::join(known, ", "))};
  }
  const Result<std::vector<synth::Point>> points = synth::PointsOf(*family, model.choices, most);
  if (!points.ok()) return InMember("choices", points.error());
  for (const synth::Point& point : *points) {
    PlannedCell one;
    one.family = family;
    one.point = point;
    one.cell.model.family = model.family;
    one.cell.model.weights = model.weights;
    for (const synth::Parameter& parameter : family->parameters)
      if (const std::int64_t value = point.at(parameter.name); value != parameter.usual)
        one.cell.model.choices[std::string(parameter.name)] = synth::TextOf(parameter, value);
    planned.push_back(std::move(one));
  }
  return planned;
}

// A family's models by what is not the same in all of them.
void NameModels(std::vector<PlannedCell>& cells) {
  std::map<const synth::Family*, const PlannedCell*> first;
  std::map<const synth::Family*, std::set<std::string_view>> varying;
  for (const PlannedCell& cell : cells) {
    if (cell.family == nullptr) continue;
    const PlannedCell& other = *first.try_emplace(cell.family, &cell).first->second;
    for (const auto& [parameter, value] : cell.point)
      if (value != other.point.at(parameter)) varying[cell.family].insert(parameter);
  }
  for (PlannedCell& cell : cells) {
    if (cell.family == nullptr) continue;
    cell.name = cell.family->name;
    for (const synth::Parameter& parameter : cell.family->parameters)
      if (varying[cell.family].contains(parameter.name))
        cell.name += fmt::format(" {}={}", parameter.name, synth::TextOf(parameter, cell.point.at(parameter.name)));
  }
}

Status CheckContracts(const std::vector<std::string>& contracts) {
  for (const std::string& contract : contracts)
    if (!StorageOfCell(contract)) return Error{"contracts: unknown contract " + Quoted(contract)};
  return {};
}

}  // namespace

std::optional<CellStorage> StorageOfCell(std::string_view text) {
  CellStorage storage;
  const std::size_t slash = text.find('/');
  const std::string_view contract = text.substr(0, slash);
  if (contract != kOwn && !contract.empty()) {
    storage.contract = FindContract(contract);
    if (!storage.contract) return std::nullopt;
  }
  if (slash == std::string_view::npos) return storage;
  storage.weights = FindDataType(text.substr(slash + 1));
  const bool is_narrow = storage.weights && (*storage.weights == DataType::kS4 || *storage.weights == DataType::kS8 ||
                                             *storage.weights == DataType::kF8E4M3);
  return is_narrow ? std::optional(storage) : std::nullopt;
}

Result<Evaluation> ParseEvaluation(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(Json json, ParseJson(text));
  INFIMUM_RETURN_IF_ERROR(CheckSchema(json, kSchema));
  INFIMUM_RETURN_IF_ERROR(CheckMembers<Evaluation>(json, "", {"schema", "$schema"}));
  if (const Json* const method = FindMember(json, "method"))
    INFIMUM_RETURN_IF_ERROR(CheckMembers<CellMethod>(*method, "method: "));
  INFIMUM_RETURN_IF_ERROR(CheckList<CellFramework>(json, "frameworks", ""));
  INFIMUM_RETURN_IF_ERROR(CheckList<EvaluatedModel>(json, "models", ""));
  if (const auto models = json.find("models"); models != json.end() && models->is_array()) {
    for (std::size_t i = 0; i < models->size(); ++i) {
      Json& model = (*models)[i];
      const std::string where = fmt::format("models[{}]: ", i);
      if (!model.is_object()) return Unexpected(model, fmt::format("models[{}]", i), "an object");
      INFIMUM_RETURN_IF_ERROR(CheckList<CellFramework>(model, "frameworks", where));
      for (const char* const values : {"choices", "dims"})
        if (const Status status = ValuesAsText(model, values); !status.ok())
          return Error{where + status.error().message};
    }
  }
  Evaluation evaluation;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", evaluation));
  if (evaluation.models.empty()) return Error{"'models' is empty: there is nothing to evaluate"};
  std::vector<CellFramework> frameworks = evaluation.frameworks;
  for (const EvaluatedModel& model : evaluation.models)
    frameworks.insert(frameworks.end(), model.frameworks.begin(), model.frameworks.end());
  for (const CellFramework& framework : frameworks)
    for (const auto& [name, member] : {std::pair("seed", "input"), std::pair("cores", "cores")})
      if (framework.options.contains(name))
        return Error{fmt::format("frameworks: options: {} is said by '{}' of the evaluation", Quoted(name), member)};
  if (evaluation.frameworks.empty()) evaluation.frameworks.push_back({.name = "onnxruntime"});
  INFIMUM_RETURN_IF_ERROR(CheckContracts(evaluation.contracts));
  return evaluation;
}

std::string FormatEvaluation(const Evaluation& evaluation) {
  Json json = WithoutUsual(ToJson<Json>(evaluation), ToJson<Json>(Evaluation()));
  json["schema"] = kSchema;
  return DumpJson(json, 2) + "\n";
}

Result<std::vector<PlannedCell>> CellsOf(const Evaluation& evaluation, const std::filesystem::path& folder,
                                         std::size_t most, bool hashes_weights) {
  std::vector<PlannedCell> cells;
  std::set<std::string> known;
  std::map<std::string, std::string> modules, contents;  // by how they are named
  for (std::size_t index = 0; index < evaluation.models.size(); ++index) {
    const EvaluatedModel& model = evaluation.models[index];
    const std::string where = fmt::format("models[{}]", index);
    Result<std::vector<PlannedCell>> models = ModelsOf(model, folder, most, hashes_weights, contents);
    if (!models.ok()) return Within(where, models.error());
    if (const Status status = CheckContracts(model.contracts); !status.ok()) return Within(where, status.error());
    const auto own = [](const auto& here, const auto& otherwise) -> const auto& {
      return here.empty() ? otherwise : here;
    };
    for (const PlannedCell& one : *models)
      for (const std::string& device : own(model.devices, evaluation.devices))
        for (const CellFramework& framework : own(model.frameworks, evaluation.frameworks))
          for (const std::string& contract : own(model.contracts, evaluation.contracts))
            for (const std::int64_t threads : own(model.threads, evaluation.threads)) {
              PlannedCell planned = one;
              EvaluationCell& cell = planned.cell;
              cell.contract = contract == kOwn ? "" : contract;
              if (device == kHere) {
                cell.framework = framework;
                const auto [content, is_new] = modules.try_emplace(framework.module);
                if (is_new) content->second = ContentOfModule(folder, framework.module);
                cell.framework.module = content->second;
                planned.module = framework.module;
                if (content->second != framework.module) planned.module = (folder / framework.module).string();
                cell.threads = threads;
                cell.cores = evaluation.cores;
                cell.input = evaluation.input;
                cell.method = evaluation.method;
              } else {
                cell.device = device;
                cell.quantity = CellQuantity::kFloor;
              }
              planned.hash = HashOf(cell);
              if (!known.insert(planned.hash).second) continue;
              if (cells.size() >= most) return Error{fmt::format("more than {} cells: give fewer values", most)};
              cells.push_back(std::move(planned));
            }
  }
  NameModels(cells);
  return cells;
}

std::string HashOf(const std::vector<PlannedCell>& cells) {
  std::vector<std::string> hashes;
  for (const PlannedCell& cell : cells) hashes.push_back(cell.hash);
  std::ranges::sort(hashes);
  const std::string all = Join(hashes, "\n");
  return Sha256(std::as_bytes(std::span(all)));
}

std::vector<FieldDifference> DifferencesOf(const std::vector<PlannedCell>& here,
                                           const std::vector<PlannedCell>& there) {
  using Values = std::map<std::string, std::set<std::string>>;
  const auto values_of = [](const std::vector<PlannedCell>& cells) {
    Values values;
    for (const PlannedCell& cell : cells)
      for (const auto& [name, value] : FieldsOf(cell.cell)) values[name].insert(value);
    return values;
  };
  const Values ours = values_of(here), theirs = values_of(there);
  std::set<std::string> names;
  for (const Values* values : {&ours, &theirs})
    for (const auto& [name, all] : *values) names.insert(name);
  std::vector<FieldDifference> differences;
  const auto less = [](const Values& from, const Values& taken, const std::string& name) {
    std::vector<std::string> left;
    const auto one = from.find(name), other = taken.find(name);
    if (one == from.end()) return left;
    for (const std::string& value : one->second)
      if (other == taken.end() || !other->second.contains(value)) left.push_back(value);
    return left;
  };
  for (const std::string& name : names) {
    FieldDifference difference{name, less(ours, theirs, name), less(theirs, ours, name)};
    if (!difference.only_here.empty() || !difference.only_there.empty()) differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace infimum
