"""From `pip install` of a built wheel to an open page: seconds, and the share of a model's FLOPs that is measured by then.

    python first_page_benchmark.py WHEEL [MODEL ...]      by default the wheel's light SqueezeNet and light ResNet-50

A fresh environment for each model, with the extra [onnxruntime] out of pip's cache, which a first install fills; then
`infimum analyze --budget 20s`. Wanted on two cores: at most 75 s, at least 60 % of the FLOPs. On a machine that does
nothing else. Ends with 1 where a promise did not hold.
"""

import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

MOST_SECONDS, LEAST_SHARE = 75, 0.6


def installed(wheel: Path, folder: Path) -> Path:
    """The folder of the new environment's programs."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", f"{wheel}[onnxruntime]"]
    subprocess.run(pip, check=True)
    return folder / "bin"


def first_page(wheel: Path, model: str) -> bool:
    """Prints one line; whether it keeps the promise."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.monotonic()
        programs = installed(wheel, folder / "venv")
        ready = time.monotonic()
        if model.startswith("light_"):
            (file,) = (folder / "venv").glob(f"lib/python3*/site-packages/infimum/prefix/share/infimum/models/{model}.onnx")
        else:
            file = Path(model).resolve()
        options = ["--budget", "20s", "--report", "page.html", "--format", "json", "-q"]
        call = [str(programs / "infimum"), "analyze", str(file), *options]
        answer = subprocess.run(call, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
        end = time.monotonic()
        assert (folder / "page.html").stat().st_size > 0
        report = json.loads(answer.stdout)
        share = 1 - report["coverage"]["missing_flops"]
        framework = report["run"] is not None
    kept = end - begin <= MOST_SECONDS and share >= LEAST_SHARE
    print(
        f"{Path(model).stem}: {end - begin:.0f} s, of these install {ready - begin:.0f} and analyze {end - ready:.0f}; "
        f"{share:.0%} of the FLOPs measured, {'with' if framework else 'without'} a framework's run{'' if kept else ': MISSED'}",
        flush=True,
    )
    return kept


def main() -> None:
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        installed(wheel, Path(folder, "venv"))
    kept = [first_page(wheel, model) for model in sys.argv[2:] or ["light_squeezenet", "light_resnet50"]]
    sys.exit(0 if all(kept) else 1)


main()
