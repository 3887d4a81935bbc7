"""How much faster a trace is read here than by Holistic Trace Analysis, both in one run on one file.

    python3 -m venv hta && hta/bin/pip install HolisticTraceAnalysis
    python3 tests/readers/hta_benchmark.py --hta hta/bin/python --benchmarks build/bin/benchmarks

HTA is given what is nearest to a timeline: its parsed data frame. Whole processes are compared without their start: for
HTA the parsing call alone is timed. Fails below 20 times.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PARSE = """
import sys, time, logging
logging.disable(logging.CRITICAL)
from hta.common.trace import Trace
begin = time.perf_counter()
trace = Trace(trace_files={0: sys.argv[1]}, trace_dir="/")
trace.parse_traces(use_multiprocessing=False)
print("seconds", time.perf_counter() - begin, "events", len(trace.traces[0]))
"""


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise SystemExit(f"unexpected output: {text}")
    return float(found.group(1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hta", required=True, help="a Python that has HolisticTraceAnalysis")
    parser.add_argument("--benchmarks", required=True, type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--trace", type=pathlib.Path, help="a trace to read in place of a generated one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = options.trace
        if trace is None:
            trace = pathlib.Path(folder) / "trace.json"
            subprocess.run(
                [options.benchmarks, "kineto", "--write", str(trace), str(options.megabytes)], check=True
            )
        ours = subprocess.run([options.benchmarks, "kineto", str(trace)], check=False, capture_output=True, text=True).stdout
        theirs = subprocess.run(
            [options.hta, "-c", PARSE, str(trace.resolve())], check=False, capture_output=True, text=True
        )
        if theirs.returncode != 0:
            print(theirs.stderr, file=sys.stderr)
            return 1
    our_seconds = number(r"in ([0-9.]+) s", ours)
    their_seconds = number(r"seconds ([0-9.]+)", theirs.stdout)
    print(ours.strip())
    print(f"Holistic Trace Analysis: {their_seconds:.3f} s; {their_seconds / our_seconds:.0f} times as long")
    return 0 if their_seconds >= 20 * our_seconds else 1


if __name__ == "__main__":
    sys.exit(main())
