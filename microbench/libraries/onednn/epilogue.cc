#include "microbench/libraries/onednn/epilogue.h"

namespace infimum::cpu {

void Append(const Epilogue& epilogue, dnnl::primitive_attr& attributes) {
  if (epilogue.empty()) return;
  dnnl::post_ops steps;
  for (const Epilogue::Step& step : epilogue.steps) {
    if (step.binary) {
      steps.append_binary(step.algorithm, AnyDesc(step.shape, step.type));
    } else {
      steps.append_eltwise(step.algorithm, step.alpha, step.beta);
    }
  }
  attributes.set_post_ops(steps);
}

void Bind(const Epilogue& epilogue, const Problem& problem, PrimitiveCall& call) {
  for (std::size_t i = 0; i < epilogue.steps.size(); ++i) {
    const Epilogue::Step& step = epilogue.steps[i];
    if (!step.binary) continue;
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    call.inputs.push_back({argument, problem.operands[step.operand], PlainDesc(step.shape, step.type), step.constant});
  }
}

}  // namespace infimum::cpu
