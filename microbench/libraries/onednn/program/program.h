// A layer made ready to run, and what a family offers to make ready.
//
//   Problem problem{config, {&input, &weights}, {&output}};
//   for (Offer& offer : OffersFor(config, contract)) {
//     Result<std::unique_ptr<Program>> program = offer.make(problem);
//     (*program)->Run();      // timed
//     (*program)->Unpack();   // untimed: output now holds the result in row-major order
//   }
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "infimum/measurement/candidate.h"
#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {

// A layer with its row-major operands and outputs; the tensors live longer than every program made
// from them. An operand marked constant is final when the program is made; all others may change
// before each Run().
struct Problem {
  LayerConfig config;
  std::vector<const HostTensor*> operands;  // as OperandsOf(config)
  std::vector<HostTensor*> outputs;         // as OutputsOf(config)
};

// Memory with constants as a program prepared them, or as they came where it cannot say where it keeps what it
// prepared. `use` makes Run() read them elsewhere, where a copy is; the first time for an address it may take long, to
// prepare them once more; `most_copies` says for how many addresses that can be done at a time. `forget`, where there
// is one, drops what was prepared for an address that is no longer used.
struct ConstantBlock {
  void* data;
  std::size_t bytes;
  std::function<void(void*)> use;
  std::function<void(void*)> forget = nullptr;
  std::size_t most_copies = static_cast<std::size_t>(-1);
};

class Program {
 public:
  virtual ~Program() = default;

  // One execution, finished when it returns. Never allocates.
  virtual Status Run() = 0;

  // Reads the problem's variable operands again, where Run() works on a copy of them in a layout of its
  // own. The first copy is made with the program.
  virtual Status Pack() { return {}; }

  // Puts the result of the last Run() into the problem's outputs, where Run() left it in a layout of
  // its own.
  virtual Status Unpack() { return {}; }

  // Whether Run() itself reads the problem's variable operands and writes the problem's outputs, so
  // that Pack() and Unpack() do nothing.
  virtual bool in_place() const { return true; }

  virtual Bytes footprint() const = 0;

  // All the memory that holds the problem's constant operands; none where there are no such operands, or where some
  // are read that cannot be moved. The program outlives what it hands out.
  virtual std::vector<ConstantBlock> Constants() { return {}; }
};

using MadeProgram = Result<std::unique_ptr<Program>>;

// How a program wants one of its problem's tensors to lie in memory; the tensors that are not named are row-major.
struct Placement {
  const HostTensor* tensor;
  std::shared_ptr<const MemoryOrder> order;
};

struct Offer {
  Candidate candidate;
  std::function<MadeProgram(const Problem&)> make;
  // Variable operands and outputs in the orders that make them need no copies. Reads no elements but constants; null
  // where all are row-major.
  std::function<Result<std::vector<Placement>>(const Problem&)> place = nullptr;
  // In which orders it reads the operands that vary, then those of its epilogue, as far as it says so, and writes its
  // output: what becomes the candidate's layouts (declared_layouts.h). None where the candidate's own texts hold.
  std::vector<std::shared_ptr<const MemoryOrder>> input_orders = {};
  std::shared_ptr<const MemoryOrder> output_order = nullptr;
  bool reference = false;  // a library's fallback, offered only where there is nothing else
};

// A program from a function; for kernels that read and write row-major tensors.
std::unique_ptr<Program> MakeProgram(const Problem& problem, std::function<void()> run);
std::unique_ptr<Program> MakeProgram(Bytes footprint, std::function<void()> run);

// Bytes of all operands and outputs.
Bytes FootprintOf(const Problem& problem);

}  // namespace infimum::cpu
