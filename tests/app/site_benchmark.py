"""A site of a large store: how long `infimum report store` takes, how much it writes, how soon its pages open.

    python site_benchmark.py INFIMUM [--rows 1000000] [--models 100] [--devices 40] [--folder DIR]

Fills a SQLite store with made rows: devices of eight generations, five versions of a library, twenty candidates of each layer, of
which 22 % run, runs of two frameworks for three of four pairs, models whose layers overlap and of which one in ten lacks rows on one in
four devices. Writes the site twice, again after a new run, and opens the index, a model's and a device's page in Chromium where
Playwright is at hand. Wanted: 60 s and 30 MB, 10 s where nothing changed (and no file written), a page within 1 s. Ends with 1
where that does not hold.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

VERSIONS = 5
CANDIDATES = 20
LAYERS = 60
MOST_SECONDS, MOST_BYTES, MOST_SECONDS_AGAIN, MOST_SECONDS_TO_OPEN = 60, 30e6, 10, 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("infimum", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--devices", type=int, default=40)
    parser.add_argument("--folder", type=Path)
    return parser.parse_args()


def workload(number: int) -> str:
    return (
        f"convolution dtype=f32:f32:f32 in=1x{number + 1}x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 "
        "bias=no weights=const"
    )


def measurements(rows: int, devices: int, workloads: int) -> Iterator[tuple[object, ...]]:
    """In the order in which campaigns come: by device, then by version."""
    chance = random.Random(1)
    for number in range(rows):
        layer = number // CANDIDATES % workloads
        version = number // (CANDIDATES * workloads) % VERSIONS
        device = number // (CANDIDATES * workloads * VERSIONS) % devices
        luck = chance.randrange(100)
        outcome = "measured" if luck < 22 else "unsupported" if luck < 83 else "failed"
        if layer % 10 == 0 and device % 4 == 0:
            outcome = "unsupported"
        best = (10 + layer % 100) * (1 + chance.random()) * (1 + device % 8) * (1 - 0.02 * version)
        times = (best, best * 0.99, best * 1.01) if outcome == "measured" else (None, None, None)
        date = f"2026-{1 + version * 2:02}-{1 + device % 28:02}T00:00:00Z"
        is_choice = int(luck < 5)
        yield (layer + 1, number % CANDIDATES + 1, device + 1, version + 1, device + 1, date, outcome, is_choice, *times)


def fill(store: Path, rows: int, models: int, devices: int) -> None:
    workloads = max(rows // (devices * VERSIONS * CANDIDATES), 2 * LAYERS)
    with sqlite3.connect(store) as base:
        base.execute("PRAGMA synchronous = off")
        base.executemany("INSERT INTO generations VALUES (?, ?, ?)", [(n, f"Generation {n}", 2012 + n) for n in range(1, 9)])
        base.executemany(
            "INSERT INTO devices (id, key, kind, name, vendor, generation_id, identity, cores, last_level_cache_bytes, memory_bytes) "
            "VALUES (?, ?, 'gpu', ?, 'NVIDIA', ?, ?, 80, 0, 0)",
            [(n, f"gpu/NVIDIA/name=GPU%20{n}", f"GPU {n}", 1 + n % 8, json.dumps({"name": f"GPU {n}"})) for n in range(1, devices + 1)],
        )
        base.executemany(
            "INSERT INTO peak_rates (device_id, kind, working_set_bytes, dtype, threads, source, per_second) VALUES (?, ?, 0, 'f32', 1, 'measured', ?)",
            [(n, kind, rate * (1 + n % 8)) for n in range(1, devices + 1) for kind, rate in (("read", 1e12), ("arithmetic", 2e13))],
        )
        base.execute("INSERT INTO evidence VALUES (1, '', '{}')")
        base.executemany("INSERT INTO environments VALUES (?, ?, ?, 1)", [(n, f"environment {n}", json.dumps({"cudnn": f"9.{n}"})) for n in range(1, VERSIONS + 1)])
        base.executemany("INSERT INTO environment_libraries VALUES (?, 'cudnn', ?)", [(n, f"9.{n}") for n in range(1, VERSIONS + 1)])
        base.executemany("INSERT INTO workloads VALUES (?, ?, 'convolution')", [(n + 1, workload(n)) for n in range(workloads)])
        base.executemany("INSERT INTO candidates VALUES (?, 'cudnn-legacy', ?, 'nchw', 'nchw')", [(n, f"algorithm_{n}") for n in range(1, CANDIDATES + 1)])
        base.executemany("INSERT INTO campaigns VALUES (?, ?, ?, '')", [(n, f"campaign {n}", f"{n}.json") for n in range(1, devices + 1)])
        base.executemany(
            "INSERT INTO measurements (workload_id, candidate_id, contract, cache, device_id, environment_id, evidence_id, campaign_id, measured_at, outcome, "
            "reason, library_choice, numeric_error, flags, repetition_count, best_us, low_us, high_us, weight) "
            "VALUES (?, ?, 'strict-f32', 'warm', ?, ?, 1, ?, ?, ?, '', ?, NULL, '[]', 1, ?, ?, ?, 11)",
            measurements(rows, devices, workloads),
        )
        base.execute(
            "INSERT INTO repetitions (measurement_id, position, count, minimum_us, median_us, p95_us, samples_us) "
            "SELECT id, 0, 30, low_us, best_us, high_us, x'' FROM measurements WHERE outcome = 'measured'"
        )
        dims = '{"batch":1}'
        base.executemany("INSERT INTO models VALUES (?, ?, ?, ?, ?)", [(n, f"key {n}", f"model {n}", f"{n:064x}", dims) for n in range(1, models + 1)])
        base.executemany(
            "INSERT INTO model_layers VALUES (?, ?, ?, 'Conv', 'measurable', '', ?, 'strict-f32', 1, 1000000, 100000000)",
            [(model, layer, f"layer {layer}", 1 + (model * 37 + layer) % workloads) for model in range(1, models + 1) for layer in range(LAYERS)],
        )
        base.executemany("INSERT INTO runs (framework, framework_version, model_name, model_sha256, device_key, dims, threads, contract, details, best_us, low_us, high_us) "
                         "VALUES (?, '2.9', ?, ?, ?, ?, 1, 'strict-f32', '{\"settings\":{},\"warnings\":[],\"end_to_end\":[],\"layers\":[]}', ?, ?, ?)", list(runs(models, devices, dims)))  # fmt: skip


def runs(models: int, devices: int, dims: str) -> Iterator[tuple[object, ...]]:
    for model in range(1, models + 1):
        for device in range(1, devices + 1):
            for framework, factor in (("onnxruntime", 1.5), ("pytorch", 1.3)):
                if (model + device) % 4 > 0:
                    time = LAYERS * 60 * factor * (1 + (device - 1) % 8)
                    yield framework, f"model {model}", f"{model:064x}", f"gpu/NVIDIA/name=GPU%20{device}", dims, time, time * 0.98, time * 1.02


def written_files(site: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in site.rglob("*") if file.is_file()}


class Wanted:
    def __init__(self) -> None:
        self.holds = True

    def __call__(self, what: str, value: float, most: float, unit: str) -> None:
        self.holds = self.holds and value <= most
        print(f"{what:<44} {value:>9.2f} {unit}, at most {most:g}{'' if value <= most else ': MISSED'}", flush=True)


def open_pages(site: Path, wanted: Wanted) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("pages were not opened: no Playwright in this Python")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in ("index.html", *(str(next((site / folder).glob("*.html")).relative_to(site)) for folder in ("models", "devices", "upgrades"))):
            seconds = MOST_SECONDS_TO_OPEN * 10.0
            for _ in range(3):  # the first also starts the browser
                page = browser.new_context(offline=True).new_page()
                page.goto((site / name).as_uri(), wait_until="load")
                seconds = min(seconds, page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000)
            wanted(f"Chromium loads {name}", seconds, MOST_SECONDS_TO_OPEN, "s")
        browser.close()


def main() -> None:
    arguments = parse_arguments()
    wanted = Wanted()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        store, site = folder / "store.db", folder / "site"
        if not store.exists():
            subprocess.run([arguments.infimum, "db", "init", "--db", store], check=True, capture_output=True)
            fill(store, arguments.rows, arguments.models, arguments.devices)
        command = [arguments.infimum, "report", "store", "-o", site, "--db", store, "-q"]

        def write() -> float:
            start = time.monotonic()
            subprocess.run(command, check=True)
            return time.monotonic() - start

        wanted("site of the store", write(), MOST_SECONDS, "s")
        files = written_files(site)
        wanted(f"{len(files)} files", sum(file.stat().st_size for file in files) / 1e6, MOST_BYTES / 1e6, "MB")
        wanted("again, nothing changed", write(), MOST_SECONDS_AGAIN, "s")
        wanted("files written then", sum(files.get(file) != stamp for file, stamp in written_files(site).items()), 0, "")
        with sqlite3.connect(store) as base:
            base.execute(
                "INSERT INTO runs SELECT NULL, framework, '3.0', model_name, model_sha256, device_key, dims, threads, contract, details, best_us / 2, low_us / 2, "
                "high_us / 2 FROM runs ORDER BY id LIMIT 1"
            )
        wanted("again, after one run", write(), MOST_SECONDS, "s")
        changed = sum(files.get(file) != stamp for file, stamp in written_files(site).items())
        wanted("files written then", changed, 4, "")  # index, model, device, site.json
        open_pages(site, wanted)
    sys.exit(0 if wanted.holds else 1)


if __name__ == "__main__":
    main()
