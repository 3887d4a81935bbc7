#!/usr/bin/env bash
# The sources in a bare Debian that has an NVIDIA driver and nothing else, pretended: scripts/setup fetches everything,
# all builds, and cuDNN and kernels of ours have candidates for GPUs that are not here. Wants root, debootstrap, Debian's
# archive, PyPI, 8 GB and, without a folder from before, a quarter of an hour.
#
#   tests/microbench/gpu/bare_debian_test.sh [RELEASE] [FOLDER]     trixie; FOLDER keeps the system for the next time
cd "$(dirname "$0")/../../.."
source scripts/environment.sh
release=${1:-trixie}
if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null; then
  say "a bare Debian: skipped, it needs root and debootstrap"
  exit 0
fi
work=$(mktemp -d)
system=${2:-$work/$release}
trap 'umount "$system/proc" "$system/dev" 2>/dev/null || true; rm -rf "$work"' EXIT
if [[ ! -d $system/etc ]]; then
  run_quietly "$work/log" debootstrap --variant=minbase "$release" "$system" || { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
fi
mount -t proc none "$system/proc"
mount --bind /dev "$system/dev"
cp -L "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$system/trusted.crt"
mkdir -p "$system/root/infimum"
git ls-files -z | xargs -0 cp -pu --parents -t "$system/root/infimum"  # with their times, so that little is built again
printf '#!/bin/sh\necho 580.65.06\n' >"$system/usr/local/bin/nvidia-smi"
chmod +x "$system/usr/local/bin/nvidia-smi"
# Without a stub of the driver's library cuDNN leaves out what it compiles at run time: all products and attention.
stub=$(find -L /usr/local/cuda*/lib64/stubs /usr/local/cuda*/lib/stubs -name libcuda.so 2>/dev/null | head -n 1 || true)
if [[ -n $stub ]]; then cp -L "$stub" "$system/usr/lib/$(uname -m)-linux-gnu/libcuda.so.1"; fi

inside() {
  chroot "$system" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin PIP_CERT=/trusted.crt \
    REQUESTS_CA_BUNDLE=/trusted.crt bash -ec "cd /root/infimum; $1"
}
say "$release: setting up and building"
inside 'scripts/setup run && scripts/build' || fail "it cannot be set up or built on $release"
layers=("convolution dtype=f16:f16:f16 in=8x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const"
        "normalization kind=layer dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes"
        "attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal")
[[ -z $stub ]] || layers+=("matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=no weights=const sparsity=2:4"
                           "region [matmul dtype=f16:f16:f16 a=1x128x768 b=1x768x3072 bias=column weights=const](in0,w0,w1) ; [pointwise kind=gelu_tanh dtype=f16:-:f16 in=393216](%0)")
for device in t4 a100 h200 b200; do
  for layer in "${layers[@]}"; do
    count=$(inside "build/bin/infimum candidates '$layer' --device-properties $device --format csv" 2>/dev/null | tail -n +2 | wc -l)
    ((count > 0)) || fail "nothing is listed on $device for $layer"
    printf '%s: %s candidates of %s\n' "$device" "$count" "${layer%% dtype*}"
  done
done
inside 'build/bin/infimum analyze /root/.cache/infimum/onnx-*/share/infimum/models/light_squeezenet.onnx --device cpu --framework none --budget 5s --report /tmp/page.html -q && test -s /tmp/page.html' >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "the processor's part does not run on $release"; }
say "$release: passed"
