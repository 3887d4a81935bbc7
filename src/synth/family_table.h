// The families, one source each: what families.cc lists.
#pragma once

#include "src/synth/families.h"

namespace infimum::synth {

Family FullyConnected();    // "fc"
Family Convolutional();     // "cnn"
Family Recurrent();         // "rnn"
Family Transformer();       // "transformer"
Family Decoder();           // "decoder"
Family MixtureOfExperts();  // "moe"
Family Recommender();       // "recommender"

}  // namespace infimum::synth
