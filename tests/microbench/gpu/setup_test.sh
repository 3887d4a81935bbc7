#!/usr/bin/env bash
# A machine with an NVIDIA driver and no CUDA toolkit, pretended: what scripts/setup says and fetches, that scripts/build
# builds the GPU's runner by it, and that cuDNN then answers for GPUs that are not here. Wants root (the toolkits here are
# hidden by mounts of its own), PyPI, 4 GB and, where the compiler's cache knows nothing, half an hour.
#
#   tests/microbench/gpu/setup_test.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/environment.sh

if [[ ${1:-} != hidden ]]; then exec unshare -m "$SOURCE_DIR/tests/microbench/gpu/setup_test.sh" hidden "$CACHE_DIR"; fi
cache=$2
scratch=$(mktemp -d)
hidden=()
clean() {
  for folder in "${hidden[@]}"; do umount -l "$folder"; done
  rm -rf "$scratch" "$SOURCE_DIR/build-gpu-setup"
}
trap clean EXIT
mkdir "$scratch/empty" "$scratch/cache" "$scratch/bin"
# A toolkit that is too old, Debian 12's, is as good as none.
mkdir "$scratch/empty/include"
echo "#define CUDART_VERSION  11080" >"$scratch/empty/include/cuda_runtime_api.h"
echo "#define CUDNN_MAJOR 8" >"$scratch/empty/include/cudnn_version.h"
touch "$scratch/empty/include/cudnn.h" "$scratch/empty/include/cublasLt.h"
for folder in /usr/local/cuda /usr/local/cuda-* /opt/cuda /usr/local/include; do
  if [[ -d $folder && ! -L $folder ]] && mount --bind "$scratch/empty" "$folder"; then hidden+=("$folder"); fi
done
export PATH=$scratch/bin:/usr/bin:/bin CCACHE_DIR=${CCACHE_DIR:-$cache/ccache}
unset CUDACXX INFIMUM_GPU
# What was built once for the rest is taken as it is.
for part in "$cache"/{tools,onednn,onnx,frameworks}-*; do ln -s "$part" "$scratch/cache/"; done
export INFIMUM_CACHE=$scratch/cache
CUDA12_DIR=$INFIMUM_CACHE/${CUDA12_DIR##*/} CUDA13_DIR=$INFIMUM_CACHE/${CUDA13_DIR##*/}
CUSPARSELT_DIR=$INFIMUM_CACHE/${CUSPARSELT_DIR##*/}

expect() { grep -qF -- "$1" "$scratch/said" || { cat "$scratch/said" >&2; fail "it did not say: $1"; }; }
driver() { printf '#!/bin/sh\necho %s\n' "$1" >"$scratch/bin/nvidia-smi"; chmod +x "$scratch/bin/nvidia-smi"; }
setup() { scripts/setup run >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; fail "setting up failed"; }; }

setup
[[ ! -s $scratch/said ]] || { cat "$scratch/said" >&2; fail "without a driver it said something"; }
# A driver that does not answer is none.
printf '#!/bin/sh\necho NVIDIA-SMI has failed; exit 9\n' >"$scratch/bin/nvidia-smi"; chmod +x "$scratch/bin/nvidia-smi"
setup
[[ ! -s $scratch/said ]] || { cat "$scratch/said" >&2; fail "with a driver that does not answer it said something"; }
driver 470.82.01
setup
expect "older than CUDA 12"
INFIMUM_GPU=off setup
[[ ! -s $scratch/said && ! -d $CUDA12_DIR ]] || fail "INFIMUM_GPU=off was not heeded"

build=$SOURCE_DIR/build-gpu-setup  # beside the others, for the compiler's cache
# Engines that are compiled at run time, all of products and attention, want a driver: those of convolutions that are not.
layer="convolution dtype=f16:f16:f16 in=8x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const"
# What a driver of this version gets, CUDA of that one in this folder.
check_driver() {
  driver "$1"
  # Not to be reached: the processor's part is there all the same, and the next call goes on.
  PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 setup
  expect "the GPU's part is left out for now"
  setup
  expect "under NVIDIA's licences"
  expect "fetching CUDA $2"
  [[ -f $3/lib/libcudart_static.a && -d $3/licenses ]] || fail "$3 is not whole"
  rm -rf "$build"
  scripts/build "$build" -- -DINFIMUM_BUILD_TESTS=ON -DINFIMUM_WARNINGS_AS_ERRORS=ON
  "$build/bin/infimum-microbench-cuda" --version
  for device in t4 a100 h200 b200; do
    candidates=$("$build/bin/infimum" candidates "$layer" --device-properties "$device" --format csv | grep -c cudnn-graph) ||
      fail "cuDNN has no candidate on $device for $layer"
    printf '%s: %s candidates of %s\n' "$device" "$candidates" "$layer"
  done
  # Kernels of ours by this version's compiler.
  INFIMUM_CUDA_LIBRARIES=$3/lib "$build/bin/cuda_kernels_tests" --gtest_brief=1 --gtest_filter='*KernelsOf*:KernelCompiler*'
}
check_driver 550.54.14 12.9 "$CUDA12_DIR"
[[ ! -d $CUSPARSELT_DIR ]] || fail "cuSPARSELt of CUDA 13 was fetched beside CUDA 12"
check_driver 580.65.06 13.0 "$CUDA13_DIR"
[[ -f $CUSPARSELT_DIR/lib/libcusparseLt.so.0 && -d $CUSPARSELT_DIR/licenses ]] || fail "cuSPARSELt is not whole"
"$build/bin/cusparselt_tests" --gtest_brief=1
