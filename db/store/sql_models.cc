#include <algorithm>
#include <string>
#include <vector>

#include "db/store/run_details.h"
#include "db/store/sql_store.h"
#include "infimum/base/enum_names.h"
#include "infimum/base/sha256.h"
#include "infimum/measurement/contract.h"

namespace infimum {

Result<std::int64_t> NextId(Connection& connection, const char* table) {
  return connection.AskInteger(std::string("SELECT coalesce(max(id), 0) + 1 FROM ") + table);
}

namespace {

std::string_view StatusOf(const Layer& layer) {
  constexpr EnumNames<LayerStatus::kUnknown> kNames = {"measurable", "free", "unknown"};
  return kNames[layer.status];
}

// `executions` of the graph as a whole.
void Describe(const ModelGraph& graph, std::int64_t executions, std::vector<ModelLayer>& layers) {
  for (const Layer& layer : graph.layers) {
    ModelLayer& described = layers.emplace_back();
    described.name = layer.name;
    described.op = layer.op;
    described.status = StatusOf(layer);
    described.reason = layer.reason;
    described.executions = executions;
    if (layer.workload) {
      described.workload = KeyOf(*layer.workload).text;
      described.contract = Name(NativeContract(*layer.workload));
    }
    described.bytes = layer.work.read().value + layer.work.written.value;
    described.flops = layer.work.conventional.value;
    for (const SubGraph& body : layer.bodies) {
      if (body.graph == nullptr) continue;
      const std::int64_t least = std::clamp<std::int64_t>(body.least_executions, 0, kMaxExecutions);
      const bool too_many = least > 0 && executions > kMaxExecutions / least;
      Describe(*body.graph, too_many ? kMaxExecutions : executions * least, layers);
    }
  }
}

// Equal for models of which everything that is kept is equal.
std::string KeyOf(const StoredModel& model) {
  Sha256Hash hash;
  const auto add = [&](std::string_view text) {
    const std::string size = std::to_string(text.size()) + ":";  // so that no two lists of texts run together
    hash.Add(std::as_bytes(std::span(size)));
    hash.Add(std::as_bytes(std::span(text)));
  };
  add(model.name);
  add(model.sha256);
  add(FormatDims(model.dims));
  for (const ModelLayer& layer : model.layers) {
    for (const std::string& text : {layer.name, layer.op, layer.status, layer.reason, layer.workload, layer.contract})
      add(text);
    for (const std::int64_t number : {layer.executions, layer.bytes, layer.flops}) add(std::to_string(number));
  }
  return hash.Text();
}

class ModelWriter {
 public:
  static Result<ModelWriter> Make(Connection& connection) {
    ModelWriter writer(connection);
    INFIMUM_ASSIGN_OR_RETURN(writer.find_, connection.Prepare("SELECT id FROM models WHERE key = $1"));
    INFIMUM_ASSIGN_OR_RETURN(
        writer.add_model_,
        connection.Prepare("INSERT INTO models (id, key, name, sha256, dims) VALUES ($1, $2, $3, $4, $5)"));
    INFIMUM_ASSIGN_OR_RETURN(
        writer.add_layer_,
        connection.Prepare("INSERT INTO model_layers (model_id, position, name, op, status, reason, workload_id, "
                           "contract, executions, bytes, flops) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
                           "$11)"));
    INFIMUM_ASSIGN_OR_RETURN(writer.find_workload_, connection.Prepare("SELECT id FROM workloads WHERE text = $1"));
    INFIMUM_ASSIGN_OR_RETURN(writer.add_workload_,
                             connection.Prepare("INSERT INTO workloads (id, text, family) VALUES ($1, $2, $3)"));
    return writer;
  }

  Result<bool> Save(const StoredModel& model) {
    const std::string key = KeyOf(model), dims = FormatDims(model.dims);
    find_->Bind(1, key);
    INFIMUM_ASSIGN_OR_RETURN(const bool known, find_->Step());
    find_->Reset();
    if (known) return false;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, NextId(connection_, "models"));
    INFIMUM_RETURN_IF_ERROR(add_model_->RunWith(id, key, model.name, model.sha256, dims));
    std::int64_t position = 0;
    for (const ModelLayer& layer : model.layers) INFIMUM_RETURN_IF_ERROR(SaveLayer(id, position++, layer));
    return true;
  }

 private:
  explicit ModelWriter(Connection& connection) : connection_(connection) {}

  Status SaveLayer(std::int64_t model, std::int64_t position, const ModelLayer& layer) {
    SqlValue workload = nullptr;
    if (!layer.workload.empty()) {
      INFIMUM_ASSIGN_OR_RETURN(workload, IdOfWorkload(layer.workload));
    }
    return add_layer_->RunWith(model, position, layer.name, layer.op, layer.status, layer.reason, workload,
                               layer.contract, layer.executions, layer.bytes, layer.flops);
  }

  Result<std::int64_t> IdOfWorkload(const std::string& text) {
    find_workload_->Bind(1, text);
    INFIMUM_ASSIGN_OR_RETURN(const bool known, find_workload_->Step());
    const std::int64_t known_id = known ? find_workload_->Integer(0) : 0;
    find_workload_->Reset();
    if (known) return known_id;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, NextId(connection_, "workloads"));
    INFIMUM_RETURN_IF_ERROR(add_workload_->RunWith(id, text, std::string_view(text).substr(0, text.find(' '))));
    return id;
  }

  Connection& connection_;
  std::unique_ptr<Statement> find_, add_model_, add_layer_, find_workload_, add_workload_;
};

}  // namespace

StoredModel DescribeModel(const std::string& name, const ModelGraph& graph,
                          const std::map<std::string, std::int64_t>& dims) {
  StoredModel model{name, graph.sha256, dims, {}};
  Describe(graph, 1, model.layers);
  return model;
}

Result<std::int64_t> SaveModels(Connection& connection, std::span<const StoredModel> models) {
  if (models.empty()) return std::int64_t{0};
  INFIMUM_ASSIGN_OR_RETURN(ModelWriter writer, ModelWriter::Make(connection));
  std::int64_t added = 0;
  for (const StoredModel& model : models) {
    INFIMUM_ASSIGN_OR_RETURN(const bool is_new, writer.Save(model));
    if (is_new) ++added;
  }
  return added;
}

Status ReadModels(Connection& connection, const std::function<Status(const StoredModel&)>& take) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto next,
      connection.Prepare("SELECT id, name, sha256, dims FROM models WHERE id > $1 ORDER BY id LIMIT 1"));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection.Prepare("SELECT l.name, l.op, l.status, l.reason, w.text, l.contract, l.executions, l.bytes, l.flops "
                         "FROM model_layers l LEFT JOIN workloads w ON w.id = l.workload_id WHERE l.model_id = $1 "
                         "ORDER BY l.position"));
  std::int64_t id = 0;
  while (true) {
    next->Bind(1, id);
    INFIMUM_ASSIGN_OR_RETURN(const bool more, next->Step());
    if (!more) return {};
    id = next->Integer(0);
    StoredModel model{next->Text(1), next->Text(2), {}, {}};
    INFIMUM_ASSIGN_OR_RETURN(model.dims, ParseDims(next->Text(3)));
    next->Reset();
    find->Bind(1, id);
    while (true) {
      INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
      if (!row) break;
      model.layers.push_back({find->Text(0), find->Text(1), find->Text(2), find->Text(3),
                              find->IsNull(4) ? std::string() : find->Text(4), find->Text(5), find->Integer(6),
                              find->Integer(7), find->Integer(8)});
    }
    find->Reset();
    INFIMUM_RETURN_IF_ERROR(take(model));
  }
}

}  // namespace infimum
