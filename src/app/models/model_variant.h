// A model as it could be instead: with less precision, of other dimensions, with other caches, with every tensor in one
// layout. The other half of the what-ifs: those of analyzer/bracket/what_if.h assume times of layers, these look at
// other rows.
//
//   contract:bf16         every f32 value stored as bf16, and candidates that keep that contract
//   dim:batch=8           another extent of a dimension that the file leaves open
//   cache:cold-weights    measured with weights from memory; warm and cold likewise
//   layout:channels-last  of convolutions, poolings and resamplings only candidates whose tensors all lie so
//   layout:aBcd16b        or so; tensors of another rank are free
//
//   INFIMUM_ASSIGN_OR_RETURN(ModelVariant variant, ParseModelVariant("contract:bf16"));
//   INFIMUM_ASSIGN_OR_RETURN(WhatIfOutcome outcome, SolveVariant(variant, as_it_is, store));
//
// What a quantized model needs beside its types (scales) a file of f32 does not have: it is a model of its own.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {

struct ModelVariant {
  std::string name;  // as written
  std::optional<NumericContract> contract;
  std::map<std::string, std::int64_t> dims;  // added to those that are bound, or in their place
  std::optional<CacheState> cache;
  std::string layout;  // "channels-last", "row-major" or letters; empty: any
};

// Whether a what-if is meant to be one of these, right or wrong.
bool IsModelVariant(std::string_view text);

// An error says what could stand there.
Result<ModelVariant> ParseModelVariant(std::string_view text);

// What a contract stores floating-point values as: f32 (strict-f32, tf32), f16, bf16; nullopt for int8 and fp8, which
// take more than another type.
std::optional<DataType> StorageOf(NumericContract contract);

// A model that is to be bounded under a contract: every value of f32, f16 or bf16 in the contract's storage; without a
// contract as it is.
struct ModelUnder {
  ModelGraph graph;
  // What rows have to be selected by: nothing, where the types of the layers imply the contract.
  std::optional<NumericContract> selected;

  // An error where layers could not be measured so: of a contract that no change of storage brings about (int8, fp8), a
  // model that is not quantized.
  Status CanBePlanned() const;
};
Result<ModelUnder> ReadModelUnder(const std::filesystem::path& model, const std::map<std::string, std::int64_t>& dims,
                                  const std::optional<NumericContract>& contract, bool apply_rewrites = true,
                                  bool needs_weights = false, std::optional<DataType> weights = std::nullopt);

// The model that a variant is one of, as it was asked about, and its bracket.
struct ModelAsItIs {
  const std::filesystem::path& model;
  const std::map<std::string, std::int64_t>& dims;
  std::optional<NumericContract> contract;
  const ModelGraph& graph;
  const Bracket& bracket;
};

// The variant's bounds from `source`, and what they win. Of a variant of which nothing is measured the outcome has no
// bounds. An error where the model cannot be read so, or the source fails.
Result<WhatIfOutcome> SolveVariant(const ModelVariant& variant, const ModelAsItIs& as_it_is, MeasurementSource& source);

// `contract:` and `cache:` for each contract and cache state but the bracket's own that rows of the model say something
// new about.
Result<std::vector<WhatIfOutcome>> SolveMeasuredVariants(const ModelAsItIs& as_it_is, MeasurementSource& source);

}  // namespace infimum
