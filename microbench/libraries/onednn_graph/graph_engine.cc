#include "microbench/libraries/onednn_graph/graph_engine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <unordered_map>

#include "microbench/reference/host_tensor.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kAlignment = 64;  // of every AlignedBuffer

class BlockPool {
 public:
  // The library does not look whether it was given memory, so that nothing but an exception stops it.
  void* Take(std::size_t bytes, std::size_t alignment) {
    if (alignment > kAlignment) throw std::bad_alloc();
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = idle_.find(bytes);
    if (found != idle_.end()) {
      void* const data = found->second.data();
      used_[data] = {bytes, std::move(found->second)};
      idle_.erase(found);
      return data;
    }
    Result<AlignedBuffer> buffer = AlignedBuffer::Make(std::max<std::size_t>(bytes, 1));
    if (!buffer.ok()) throw std::bad_alloc();
    void* const data = buffer->data();
    used_[data] = {bytes, *std::move(buffer)};
    return data;
  }

  void Return(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = used_.find(data);
    if (found == used_.end()) return;
    idle_.emplace(found->second.bytes, std::move(found->second.buffer));
    used_.erase(found);
  }

  std::size_t InUse() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_.size();
  }

  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.clear();
  }

 private:
  struct Used {
    std::size_t bytes = 0;
    AlignedBuffer buffer;
  };
  std::mutex mutex_;
  std::multimap<std::size_t, AlignedBuffer> idle_;
  std::unordered_map<void*, Used> used_;
};

// Never destroyed: the library frees what its caches hold when the process ends, in an order that nobody states.
BlockPool& Pool() {
  static BlockPool& pool = *new BlockPool();
  return pool;
}

void* TakeBlock(std::size_t bytes, std::size_t alignment) { return Pool().Take(bytes, alignment); }
void ReturnBlock(void* data) { Pool().Return(data); }

dnnl::engine MakeEngine() {
  // Off by default from 3.3 on. Without it constants would be packed in each run.
  dnnl::graph::set_constant_tensor_cache(1);
  // Programs own what they compile; copies of constants need several of the same partition.
  dnnl::graph::set_compiled_partition_cache_capacity(0);
  static const auto& allocator = *new dnnl::graph::allocator(TakeBlock, ReturnBlock);
  return dnnl::graph::make_engine_with_allocator(dnnl::engine::kind::cpu, 0, allocator);
}

// The C structure is the only member of the class, and private.
static_assert(std::is_standard_layout_v<dnnl::graph::logical_tensor> &&
              sizeof(dnnl::graph::logical_tensor) == sizeof(dnnl_graph_logical_tensor_t));

std::vector<const dnnl_graph_logical_tensor_t*> Described(const std::vector<dnnl::graph::logical_tensor>& tensors) {
  std::vector<const dnnl_graph_logical_tensor_t*> described;
  described.reserve(tensors.size());
  for (const dnnl::graph::logical_tensor& tensor : tensors)
    described.push_back(reinterpret_cast<const dnnl_graph_logical_tensor_t*>(&tensor));
  return described;
}

}  // namespace

const dnnl::engine& GraphEngine() {
  static const dnnl::engine& engine = *new dnnl::engine(MakeEngine());
  return engine;
}

dnnl::graph::compiled_partition Compiled(const dnnl::graph::partition& partition,
                                         const std::vector<dnnl::graph::logical_tensor>& inputs,
                                         const std::vector<dnnl::graph::logical_tensor>& outputs) {
  dnnl_graph_compiled_partition_t made = nullptr;
  dnnl::error::wrap_c_api(dnnl_graph_compiled_partition_create(&made, partition.get()),
                          "could not create a compiled partition");
  dnnl::graph::compiled_partition compiled(made);  // owns it from here on
  std::vector<const dnnl_graph_logical_tensor_t*> in = Described(inputs), out = Described(outputs);
  dnnl::error::wrap_c_api(dnnl_graph_partition_compile(partition.get(), made, in.size(), in.data(), out.size(),
                                                       out.data(), GraphEngine().get()),
                          "could not compile a partition");
  return compiled;
}

std::size_t GraphBlocksInUse() { return Pool().InUse(); }

void ReleaseGraphMemory() { Pool().Release(); }

}  // namespace infimum::cpu
