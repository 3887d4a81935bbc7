// Which of a model's dimensions is the batch, the number of tokens, the length of the caches, by the inputs' names as
// exporters write them: Hugging Face and Optimum (past_key_values.0.key), ONNX Runtime GenAI's builder, PyTorch.
//
//   input_ids [b, s], attention_mask [b, t], past_key_values.0.key [b, 8, p, 64]
//   Result<LanguageModel> model = FindRoles(inputs, {});
//   model->DimsAt({.batch = 4, .tokens = 1, .past = 1024})   ->   b=4, s=1, p=1024, t=1025
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/readers/onnx/parse/model_inputs.h"

namespace infimum {

// What an inference of a language model is about. A prefill has no past, a step of decoding one token.
struct TokensAt {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;  // of each sequence that go in
  std::int64_t past = 0;    // positions that are in the caches already
};

enum class TokenRole { kBatch, kTokens, kPast, kTotal };

struct LanguageModel {
  std::map<std::string, TokenRole> symbols;
  std::map<std::string, std::int64_t> given;  // dimensions that the user bound
  std::map<TokenRole, std::int64_t> fixed;    // where the file has numbers
  std::vector<std::string> caches;            // inputs
  // Lengths of some caches beside longer ones, by symbol: of layers that look back over a window, which hold at most so
  // many positions.
  std::map<std::string, std::int64_t> windows;
  std::string asked;                         // what the user may bind for it to be read at the most positions
  std::map<std::string, std::size_t> sizes;  // open dimensions of caches that the model itself decides
  std::vector<std::string> cached_branches;  // Ifs whose condition is an input: true where there are caches
  bool has_few_bits = false;                 // weights that are stored in 8 bits and fewer
  bool in_buffers = false;                   // caches of the longest length, of which a part is valid
  bool states_positions = false;             // how much of them is valid may be stated

  // Whether the file, as it is exported, can take so many.
  bool Has(const TokensAt& at) const;
  std::map<std::string, std::int64_t> DimsAt(const TokensAt& at) const;
};

// `given`: dimensions that the user bound. An error names a dimension whose role is not known, and the option.
Result<LanguageModel> FindRoles(std::span<const DeclaredInput> inputs,
                                const std::map<std::string, std::int64_t>& given);

// Of a file; it is read once at a small size to see whether its caches are buffers. Where caches have lengths of their
// own and it cannot be read with `most_past` positions in all of them, those that it returns with fewer are windows.
Result<LanguageModel> ReadLanguageModel(const std::filesystem::path& path,
                                        const std::map<std::string, std::int64_t>& given, std::int64_t most_past = 0);

}  // namespace infimum
