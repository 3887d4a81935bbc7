// Movements of elements: concatenation, transposition, reorders.
#pragma once

#include <string>
#include <vector>

#include "form.h"

namespace onednn {

struct Movement {
  std::string kind;  // "concat", "transpose"
  Types dtype;       // any type of an element's size
  std::vector<memory::dims> in, out;
  memory::dim axis = -1;  // "concat"
  memory::dims perm{};    // "transpose"
};

struct Reorder {
  Types dtype;
  memory::dims in;
  std::string from, to;  // "nchw", "aBcd16b"
};

std::vector<Form> FormsOf(const Movement& layer);
std::vector<Form> FormsOf(const Reorder& layer);

}  // namespace onednn
