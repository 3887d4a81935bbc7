#!/usr/bin/env bash
# What scripts/package makes, in places that have nothing of ours: a fresh Python environment, and bare Debian 12 and 13.
#
#   tests/app/package_test.sh        about ten minutes; bare systems need root, debootstrap and Debian's archive
source "$(dirname "$0")/../../scripts/environment.sh"
cd "$SOURCE_DIR"
work=$(mktemp -d)
trap 'umount -R "$work"/*/proc "$work"/*/dev 2>/dev/null || true; rm -rf "$work"' EXIT
scripts/package wheel tarball deb
wheel=$(echo dist/infimum-*.whl) tarball=$(echo dist/infimum-*.tar.xz)
megabytes=$(($(stat -c %s "$wheel") / 1000000))
((megabytes <= 45)) || fail "the wheel has $megabytes MB, more than 45"
say "the wheel has $megabytes MB"

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check "$wheel"
site=$(echo "$work"/venv/lib/python3*/site-packages)
prefix=$site/infimum/prefix
# Neither what we built with nor the source may be found: what is missing then would be missing elsewhere.
hidden() { unshare -m bash -c 'mount -t tmpfs none "$1" && shift && exec "$@"' _ "$CACHE_DIR" "$@"; }
hidden "$work/venv/bin/infimum" candidates 'matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const'
"$work/venv/bin/pip" install -q --disable-pip-version-check "$wheel[notebook]" nbclient ipykernel datasette
hidden "$work/venv/bin/python" -B tests/app/notebook_test.py "$prefix/share/infimum/models/light_squeezenet.onnx"
hidden "$work/venv/bin/python" -B tests/app/datasette_test.py "$prefix/bin/infimum" "$prefix/share/infimum/models/light_squeezenet.onnx"
say "the wheel runs in a fresh Python environment, in a notebook of it, and under Datasette"
"$work/venv/bin/pip" install -q --disable-pip-version-check "$wheel[onnxruntime]"
hidden "$work/venv/bin/python" -B tests/app/python_api_test.py "$site" "$prefix/bin/infimum" "$prefix/share/infimum/models/light_squeezenet.onnx"
gate() { (cd "$work" && PATH="$work/venv/bin:$PATH" BUDGET=20s GITHUB_STEP_SUMMARY="$work/summary.md" hidden bash "$prefix/share/infimum/ci/gate" "$prefix/share/infimum/models/light_squeezenet.onnx" "$1"); }
gate 1000
grep -q "squeezenet" "$work/summary.md" && test -s "$work/infimum.html"
# No framework is as fast as the bound; on a busy machine nothing is judged.
code=0; gate 1 || code=$?
((code == 3 || code == 1)) || fail "a gate of 1 ended with $code"
say "the gate of a CI job holds, and fails where it should"

if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null; then
  say "bare systems: skipped, they need root and debootstrap"
  exit 0
fi
# The main job, with the kernels of the processor and without a framework, which has no Python there.
main_job='cd /tmp && infimum analyze "$(dirname "$(readlink -f "$(command -v infimum)")")"/../share/infimum/models/light_squeezenet.onnx --framework none --budget 5s --report page.html -q && test -s page.html'
for release in bookworm trixie; do
  system=$work/$release
  say "a bare Debian: $release"
  run_quietly "$work/log" debootstrap --variant=minbase "$release" "$system" || { tail -n 20 "$work/log" >&2; fail "debootstrap failed"; }
  mount -t proc none "$system/proc"
  tar -C "$system/opt" -xJf "$tarball"
  tree=$(basename "$tarball" .tar.xz)
  chroot "$system" bash -ec "PATH=/opt/$tree/bin:\$PATH; $main_job"
  say "the tarball runs on $release"
  if [[ $release == "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" ]]; then
    cp dist/infimum_*.deb dist/infimum-cpu_*.deb "$system/tmp/"
    run_quietly "$work/log" chroot "$system" bash -ec 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/infimum*.deb' || { tail -n 20 "$work/log" >&2; fail "the packages cannot be installed"; }
    chroot "$system" bash -ec "$main_job"
    say "the packages run on $release"
    # The steps of the container file; what a builder mounts and what this machine's pip trusts are copied.
    mkdir -p "$system/dist" "$system/models"
    cp "$wheel" "$system/dist/"
    cp -L "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$system/trusted.crt"
    sed -nE 's/^RUN (--mount=[^ ]+ )?//p' scripts/Containerfile >"$work/steps"
    (($(wc -l <"$work/steps") == $(grep -c '^RUN' scripts/Containerfile))) || fail "no steps in scripts/Containerfile"
    run_quietly "$work/log" chroot "$system" env -u PIP_FIND_LINKS -u REQUESTS_CA_BUNDLE -u CURL_CA_BUNDLE PIP_CERT=/trusted.crt bash -ec "$(cat "$work/steps")" || { tail -n 20 "$work/log" >&2; fail "the container's steps fail"; }
    cp "$prefix/share/infimum/models/light_squeezenet.onnx" "$system/models/"
    entry=$(sed -nE 's/^ENTRYPOINT \["(.*)"\]/\1/p' scripts/Containerfile)
    chroot "$system" bash -ec "cd /models && $entry analyze light_squeezenet.onnx --budget 5s --report page.html -q && test -s page.html"
    chroot "$system" bash -ec "cd /models && $entry query --sql 'SELECT framework FROM runs'" | grep -q onnxruntime
    say "the container's steps run"
  fi
done
