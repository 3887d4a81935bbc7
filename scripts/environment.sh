# Versions, places and small functions shared by the scripts here; sourced, never run.
#
# Everything slow is kept outside the source tree, keyed by version, so that a second clone or a
# second run pays nothing: $INFIMUM_CACHE (default: ~/.cache/infimum). Deleting it is safe.

set -euo pipefail

ONNX_VERSION=1.23.2
ONEDNN_VERSION=2023.2.0        # the wheel's number; the library inside is oneDNN 3.2
CUDNN_FRONTEND_VERSION=1.32.0  # headers alone; used where cuDNN's own headers are
# By the driver: CUDA 13 from R580 on, CUDA 12 from R525 on, whose compiler's wheel holds headers of the runtime.
CUDA13_WHEELS=(nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-cupti==13.0.85
               nvidia-cublas==13.1.0.3 nvidia-cudnn-cu13==9.24.0.43)
CUDA12_WHEELS=(nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-cccl-cu12==12.9.27 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-cupti-cu12==12.9.79
               nvidia-cublas-cu12==12.9.1.4 nvidia-cudnn-cu12==9.24.0.43)
# Of products of sparse weights; of CUDA 13 alone, since CUDA 12's needs cuSPARSE, which is as large, beside it.
CUSPARSELT_VERSION=0.10.0
CMAKE_VERSION=3.31.6
NINJA_VERSION=1.11.1.4
ONNXRUNTIME_VERSION=1.31.1
PLAYWRIGHT_VERSION=1.65.0
AUDITWHEEL_VERSION=6.8.2

SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE_DIR=${INFIMUM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/infimum}
TOOLS_DIR=$CACHE_DIR/tools-cmake$CMAKE_VERSION-ninja$NINJA_VERSION
ONNX_DIR=$CACHE_DIR/onnx-$ONNX_VERSION-r1
ONEDNN_DIR=$CACHE_DIR/onednn-$ONEDNN_VERSION-r1
CUDNN_FRONTEND_DIR=$CACHE_DIR/cudnn-frontend-$CUDNN_FRONTEND_VERSION-r1
# Of machines with a driver and no toolkit.
CUDA13_DIR=$CACHE_DIR/cuda-13.0-cudnn9.24-r3
CUDA12_DIR=$CACHE_DIR/cuda-12.9-cudnn9.24-r3
CUSPARSELT_DIR=$CACHE_DIR/cusparselt-cu13-$CUSPARSELT_VERSION-r1
CUDA_DIR=$CUDA13_DIR
[[ -d $CUDA13_DIR || ! -d $CUDA12_DIR ]] || CUDA_DIR=$CUDA12_DIR
FRAMEWORKS_DIR=$CACHE_DIR/frameworks-onnxruntime$ONNXRUNTIME_VERSION-r1
BROWSER_DIR=$CACHE_DIR/browser-playwright$PLAYWRIGHT_VERSION-r1
PACKAGING_DIR=$CACHE_DIR/packaging-auditwheel$AUDITWHEEL_VERSION-r1
JOBS=${INFIMUM_JOBS:-$(nproc)}

say()  { printf 'infimum: %s\n' "$*" >&2; }
fail() { printf 'infimum: error: %s\n' "$*" >&2; exit 1; }

# Runs a command whose output goes to a log, and says every eight seconds that it still runs.
run_quietly() {
  local log=$1 start=$SECONDS said=0
  shift
  "$@" >"$log" 2>&1 &
  local command=$!
  while kill -0 "$command" 2>/dev/null; do
    sleep 0.5
    if ((SECONDS - start >= said + 8)); then
      said=$((SECONDS - start))
      say "... $said s"
    fi
  done
  wait "$command"
}

# The version of NVIDIA's driver, "580.65.06"; nothing where there is none, or none that answers.
driver_version() {
  { if [[ -r /proc/driver/nvidia/version ]]; then cat /proc/driver/nvidia/version
    elif command -v nvidia-smi >/dev/null; then nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null
    fi; } | grep -oE '[0-9]{3}\.[0-9.]+' | head -n 1 || true
}
