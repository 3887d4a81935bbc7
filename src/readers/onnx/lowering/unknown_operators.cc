// Operators without a workload, each with the reason that its layers get. A test holds this list and the
// table together against ONNX's own registry: an operator in neither is an error there.
#include "src/readers/onnx/lowering/lower.h"

namespace infimum {
namespace {

constexpr std::string_view kFourier = "no layer family has Fourier transforms";
constexpr std::string_view kSequence = "a sequence of tensors, whose length and shapes depend on the data";
constexpr std::string_view kOptional = "an optional value, whose presence depends on the data";
constexpr std::string_view kStrings = "works on strings";
constexpr std::string_view kCompaction = "which elements it keeps depends on the data, which no layer family has";
constexpr std::string_view kTraining = "a training loss; export the model for inference";
constexpr std::string_view kLinearAttention = "a recurrence over the positions that no layer family has";
constexpr std::string_view kRagged = "the lengths of its packed sequences are known only at run time";
constexpr std::string_view kSparse = "which positions it attends to is known only at run time";
constexpr std::string_view kGeneration = "a whole generation loop, whose length depends on the data";
constexpr std::string_view kOrdered = "its layouts are those of one library (cublasLt), not of the model";
constexpr std::string_view kBlockFloat = "block floating point is not a supported element type";
constexpr std::string_view kEngine = "a part compiled for another framework, whose layers are not in the model";
constexpr std::string_view kHash = "hashing of n-grams, which no layer family has";
constexpr std::string_view kBranches = "mixes residual branches in a way that no layer family has";
constexpr std::string_view kMatrix = "a factorization of small matrices, which no layer family has";
constexpr std::string_view kComplex = "arithmetic on complex numbers, which no supported element type has";

constexpr std::string_view kMs = "com.microsoft";

constexpr UnknownOperator kUnknown[] = {
    {"", "Col2Im", "adds overlapping blocks, which no layer family does"},
    {"", "ConcatFromSequence", kSequence},
    {"", "DFT", kFourier},
    {"", "Det", kMatrix},
    {"", "ImageDecoder", "decodes a compressed image, whose size depends on the data"},
    {"", "Multinomial", "draws from distributions, which no layer family does"},
    {"", "NegativeLogLikelihoodLoss", kTraining},
    {"", "NonMaxSuppression", kCompaction},
    {"", "Optional", kOptional},
    {"", "OptionalGetElement", kOptional},
    {"", "OptionalHasElement", kOptional},
    {"", "RegexFullMatch", kStrings},
    {"", "STFT", kFourier},
    {"", "SequenceAt", kSequence},
    {"", "SequenceConstruct", kSequence},
    {"", "SequenceEmpty", kSequence},
    {"", "SequenceErase", kSequence},
    {"", "SequenceInsert", kSequence},
    {"", "SequenceLength", kSequence},
    {"", "SequenceMap", kSequence},
    {"", "SoftmaxCrossEntropyLoss", kTraining},
    {"", "SplitToSequence", kSequence},
    {"", "StringConcat", kStrings},
    {"", "StringNormalizer", kStrings},
    {"", "StringSplit", kStrings},
    {"", "TfIdfVectorizer", "counts n-grams, which no layer family does"},
    {"", "Unique", kCompaction},

    {kMs, "AttnLSTM", "an LSTM with attention in its recurrence, which no layer family has"},
    {kMs, "BeamSearch", kGeneration},
    {kMs, "BifurcationDetector", "compares token lists, whose lengths depend on the data"},
    {kMs, "BranchwiseRMSNorm", kBranches},
    {kMs, "CDist", "pairwise distances, which no layer family has"},
    {kMs, "ComplexMul", kComplex},
    {kMs, "ComplexMulConj", kComplex},
    {kMs, "DecoderAttention", "which of its caches it uses is known only at run time"},
    {kMs, "DequantizeBFP", kBlockFloat},
    {kMs, "DequantizeWithOrder", kOrdered},
    {kMs, "DynamicSparseAttention", kSparse},
    {kMs, "DynamicTimeWarping", "a dynamic program along a path that depends on the data"},
    {kMs, "EPContext", kEngine},
    {kMs, "EngramGate", kBranches},
    {kMs, "GatedDeltaNet", kLinearAttention},
    {kMs, "GatedRelativePositionBias", "a gated position bias, which no layer family has"},
    {kMs, "GemmaRotaryEmbedding", "a rotation by angles that it computes itself, which no layer family has"},
    {kMs, "GreedySearch", kGeneration},
    {kMs, "HyperConnectionPostMix", kBranches},
    {kMs, "HyperConnectionPreMix", kBranches},
    {kMs, "Inverse", kMatrix},
    {kMs, "Irfft", kFourier},
    {kMs, "IsAllFinite", "a check of gradients in training; export the model for inference"},
    {kMs, "LinearAttentionGate", kLinearAttention},
    {kMs, "LongformerAttention", kSparse},
    {kMs, "MRotaryEmbedding", "a rotation by several kinds of positions, which no layer family has"},
    {kMs, "MatMulBlockQuantizedFp4Weight", "4-bit floating point is not a supported element type"},
    {kMs, "MatMulBlockQuantizedFp8Weight", "weights of block-scaled 8-bit floats have no workload"},
    {kMs, "MurmurHash3", kHash},
    {kMs, "NGramHashMapping", kHash},
    {kMs, "NGramRepeatBlock", "which scores it blocks depends on the data"},
    {kMs, "PackedAttention", kRagged},
    {kMs, "PackedMultiHeadAttention", kRagged},
    {kMs, "PackedSparseAttentionIndexer", kSparse},
    {kMs, "QEmbedLayerNormalization", "gathers and dequantizes several tables at once, which no workload does"},
    {kMs, "QOrderedAttention", kOrdered},
    {kMs, "QOrderedGelu", kOrdered},
    {kMs, "QOrderedLayerNormalization", kOrdered},
    {kMs, "QOrderedLongformerAttention", kOrdered},
    {kMs, "QOrderedMatMul", kOrdered},
    {kMs, "QuantizeBFP", kBlockFloat},
    {kMs, "QuantizeWithOrder", kOrdered},
    {kMs, "RemovePadding", kRagged},
    {kMs, "RestorePadding", kRagged},
    {kMs, "Rfft", kFourier},
    {kMs, "Sampling", kGeneration},
    {kMs, "Snpe", kEngine},
    {kMs, "SparseAttention", kSparse},
    {kMs, "SparseAttentionIndexer", kSparse},
    {kMs, "SparsePagedAttention", kSparse},
    {kMs, "SparseToDenseMatMul", "its sparse operand's non-zero elements are known only at run time"},
    {kMs, "Tokenizer", kStrings},
    {kMs, "UnfoldTensor", "copies overlapping slices, which no layer family does"},
    {kMs, "Unique", kCompaction},
    {kMs, "VarlenCausalConvWithState", kRagged},
    {kMs, "VarlenNGramHashMapping", kRagged},
    {kMs, "WhisperBeamSearch", kGeneration},
    {kMs, "WordConvEmbedding", "a convolution over words of different lengths, which depend on the data"},
};

}  // namespace

std::span<const UnknownOperator> DeliberatelyUnknown() { return kUnknown; }

}  // namespace infimum
