"""How the scripts here sample an inference: in processes of their own, pinned to quiet cores, after a warm-up; and what they say
meanwhile.

    sampling.progress(1, 4, "process 2 of 3, no profiler")            "progress 1 4 process 2 of 3, no profiler"
    answer = sampling.call_child("ONNX Runtime", "sample", folder, threads=1)     this script again, with --child sample
    end_to_end, noisy = sampling.in_processes(3, 4.0, lambda patience: ...)       until there are enough samples that count

A sample counts where the process had its cores for 99 % of the time: other programs that run on them make it longer, and no
statistic over such samples finds out by how much. Those of 99.5 % are taken where there are enough of them. A run that does not find
enough in twice its time is noisy: it is kept, with the reason, and is no time of the program.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WARM_UP_SHARE = 0.2  # of the sampling time
LEAST_WARM_UP = 2  # inferences
LEAST_SAMPLES = 5
COUNTS = 0.99  # the least share of its time in which a sample that counts had its cores
MAKES_THE_POINT = 0.995
LEAST_PATIENCE = 2.5  # seconds for a whole run; what comes and goes within a second is waited for however short the run is
BEATS_EVERY = 0.25  # seconds
MOVES_AFTER = 0.5  # seconds without a sample that counts, until quieter cores are looked for


def progress(done: int, total: int, stage: str) -> None:
    """The stage that begins now, for infimum's progress line."""
    print(f"progress {done} {total} {stage}", file=sys.stderr, flush=True)


def _busy_ticks() -> dict[int, int]:
    """Of each core, since the machine's start; without what waits for a disk."""
    ticks: dict[int, int] = {}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, _idle, _iowait, irq, softirq, steal = (int(field) for field in fields[:8])
            ticks[int(name[3:])] = user + nice + system + irq + softirq + steal
    return ticks


def _number(path: str, fallback: int) -> int:
    try:
        return int(Path(path).read_text().replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return fallback


def quiet_cores(available: list[int], threads: int, seconds: float = 0.2) -> list[int]:
    """The cores that did least in the last moment, of the fastest kind and one of each pair of hyperthreads where there are enough."""
    if len(available) <= threads:
        return available
    try:
        before = _busy_ticks()
        time.sleep(seconds)
        busy = {core: ticks - before.get(core, 0) for core, ticks in _busy_ticks().items()}
    except (OSError, ValueError):
        busy = {}
    folder = "/sys/devices/system/cpu/cpu{}/"
    physical = {core: _number(folder.format(core) + "topology/thread_siblings_list", core) for core in available}
    speed = {core: _number(folder.format(core) + "cpufreq/cpuinfo_max_freq", 0) for core in available}
    siblings = {core: max((busy.get(other, 0) for other in available if physical[other] == physical[core]), default=0) for core in available}
    chosen: list[int] = []
    taken: set[int] = set()
    # The last ones of equals, as infimum's runners take them: the first serve the machine's interrupts.
    order = sorted(available, key=lambda core: (-speed[core], siblings[core], -core))
    for shared in (False, True):
        for core in order:
            if len(chosen) < threads and core not in chosen and (shared or physical[core] not in taken):
                chosen.append(core)
                taken.add(physical[core])
    return sorted(chosen)


def pin(cores: str, threads: int) -> list[int]:
    """Binds this process to its cores, so that a sample is not split between two of them. Cores that are named are kept."""
    chosen = [int(core) for core in cores.split(",")] if cores else quiet_cores(sorted(os.sched_getaffinity(0)), threads)
    os.sched_setaffinity(0, chosen)
    return chosen


def timed_on_host(infer: Callable[[], Any]) -> Callable[[], float]:
    """Of an inference that has ended when it returns: one that says how many microseconds it took."""

    def timed() -> float:
        start = time.perf_counter_ns()
        infer()
        return (time.perf_counter_ns() - start) / 1000.0

    return timed


class CoreTime:
    """In what share of the time since `begin` this process had its cores.

    Of one thread that is processor time / wall time. Several threads also wait for each other, which is no disturbance: of them it is
    the time that they were ready and had no core (the second field of schedstat), where the kernel tells it, else whether one of
    them had to leave its core.
    """

    def __init__(self, threads: int) -> None:
        self._read = time.process_time_ns if threads == 1 else self._waited
        self._single = threads == 1
        self._before = 0

    @staticmethod
    def _waited() -> int:
        waited = 0
        try:
            for task in os.listdir("/proc/self/task"):
                waited += int(Path(f"/proc/self/task/{task}/schedstat").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw * 1_000_000_000
        return waited

    def begin(self) -> None:
        self._before = self._read()

    def share(self, microseconds: float) -> float:
        part = (self._read() - self._before) / (1000.0 * max(microseconds, 0.001))
        return part if self._single else max(0.0, 1.0 - part)


class Metronome:
    """The runner's fixed loops (infimum/base/beat.h), asked between inferences: what clocks and neighbours do to those they do to
    the loops. Without a program, or where it cannot run, nothing is taken and nothing is said.
    """

    def __init__(self, program: str, threads: int) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._next = 0.0
        self.beats: list[list[float]] = []
        if not program:
            return
        # Its threads must not spin on the cores of the inferences. It ends with its input.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
        try:
            self._process = subprocess.Popen(
                [program, "--metronome", str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, env=environment,
            )  # fmt: skip
        except OSError:
            return
        self.take()  # its first one allocates
        self.beats.clear()
        self._next = 0.0

    def take(self) -> None:
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
            beat = [float(word) for word in self._process.stdout.readline().split()]
        except (OSError, ValueError):
            beat = []
        if len(beat) in (2, 3) and all(len(beat) == len(other) for other in self.beats):
            self.beats.append(beat)
        else:
            self._process = None
        self._next = time.perf_counter() + BEATS_EVERY

    def take_now_and_then(self, took: float) -> None:
        """`took`: seconds of the last inference. The next one finds less in the caches, and at least three after it find all."""
        if self._process is not None and time.perf_counter() >= self._next:
            self.take()
            self._next = max(self._next, time.perf_counter() + 4 * took)

    def follow(self, cores: list[int]) -> None:
        if self._process is not None:
            _set_cores(self._process.pid, cores)

    def mean(self) -> list[float] | None:
        return [statistics.fmean(loop) for loop in zip(*self.beats)] if self.beats else None


@dataclasses.dataclass
class Samples:
    """Of one process, in microseconds."""

    good: list[float] = dataclasses.field(default_factory=list)  # that make the point
    fair: list[float] = dataclasses.field(default_factory=list)  # that count, these included
    every: list[float] = dataclasses.field(default_factory=list)
    shares: list[float] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    beat: list[float] | None = None  # of the metronome, in the mean

    def add(self, sample: float, share: float) -> None:
        self.every.append(sample)
        self.shares.append(share)
        if share >= COUNTS:
            self.fair.append(sample)
        if share >= MAKES_THE_POINT:
            self.good.append(sample)

    def enough(self) -> bool:
        return len(self.fair) >= LEAST_SAMPLES

    def answer(self) -> dict[str, Any]:
        taken = self.good if len(self.good) >= LEAST_SAMPLES else self.fair if self.enough() else self.every
        return {
            "samples_us": taken,
            "counted": len(self.fair),
            "taken": len(self.every),
            "share": statistics.median(self.shares) if self.shares else 1.0,
            "seconds": self.seconds,
            "beat_us": self.beat,
        }


def warm_up(timed: Callable[[], float], seconds: float, most: int = 100_000) -> list[float]:
    """By time and count; what it took, since a profiler counts these inferences too."""
    samples: list[float] = []
    end = time.perf_counter() + WARM_UP_SHARE * seconds
    while len(samples) < most and (len(samples) < LEAST_WARM_UP or time.perf_counter() < end):
        samples.append(timed())
    return samples


def sample(
    timed: Callable[[], float], seconds: float, core_time: CoreTime | None = None, patience: float = 0.0, most: int = 100_000,
    cores: list[int] | None = None, metronome: Metronome | None = None,
) -> Samples:  # fmt: skip
    """Until `seconds` are over, and then until `patience` is where too few samples count so far.

    Without `core_time` all of them count. `cores` are those that it is pinned to, where it may move to quieter ones.
    """
    samples = Samples()
    took = 0.0
    start = last_good = time.perf_counter()
    while len(samples.every) < most:
        if metronome:
            metronome.take_now_and_then(took * 1e-6)
        if core_time:
            core_time.begin()
        took = timed()
        share = core_time.share(took) if core_time else 1.0
        samples.add(took, share)
        now = time.perf_counter()
        samples.seconds = now - start
        last_good = now if share >= COUNTS else last_good
        # As many as a quarter of the time would have given.
        plenty = samples.enough() and sum(samples.fair) * 1e-6 >= seconds / 4
        past = samples.seconds >= seconds and len(samples.every) >= LEAST_SAMPLES
        impatient = samples.seconds >= max(seconds, patience) and len(samples.every) >= 2 * LEAST_SAMPLES
        if past and (plenty or impatient):
            break
        if cores and now - last_good > MOVES_AFTER:
            _move(cores)
            if metronome:
                metronome.follow(cores)
            samples.add(timed(), 0.0)  # its caches are cold: it is taken, and does not count
            last_good = time.perf_counter()
    if metronome:
        metronome.take()
        samples.beat = metronome.mean()
    return samples


def _move(cores: list[int]) -> None:
    """All threads of this process to the cores that are quietest now."""
    mine = set(os.sched_getaffinity(0))
    # Its own load is on its present cores: only others can be told to be quiet.
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    others = sorted(set(os.sched_getaffinity(0)) - mine)
    os.sched_setaffinity(0, mine)
    if len(others) < len(cores):
        return
    wanted = quiet_cores(others, len(cores))
    _set_cores(os.getpid(), wanted)
    cores[:] = wanted


def _set_cores(process: int, cores: list[int]) -> None:
    """Of all threads of a process; one that has ended has none."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(task), cores)


def kept(answer: dict[str, Any]) -> dict[str, Any]:
    """What a run file has of a process."""
    return {"samples_us": answer["samples_us"]} | ({"beat_us": answer["beat_us"]} if answer.get("beat_us") else {})


def in_processes(count: int, seconds: float, call: Callable[[int, float], dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """`end_to_end` of a run of so many processes, and why it is noisy (empty: it is not).

    `call(index, patience)` runs one and returns what Samples.answer() says; together they take twice their time at most.
    """
    left = max(2 * count * seconds, count * seconds + LEAST_PATIENCE)
    answers: list[dict[str, Any]] = []
    for index in range(count):
        answers.append(call(index, left - (count - 1 - index) * seconds))
        left -= answers[-1]["seconds"]
    quiet = [answer for answer in answers if answer["counted"] >= LEAST_SAMPLES]
    if 2 * len(quiet) >= count:
        return [kept(answer) for answer in quiet], ""
    counted, taken = sum(answer["counted"] for answer in answers), sum(answer["taken"] for answer in answers)
    share = statistics.median(answer["share"] for answer in answers)
    reason = f"only {counted} of {taken} inferences had their cores for {100 * COUNTS:g} % of their time (the typical one for {100 * share:.0f} %)"
    return [kept(answer) for answer in answers], f"{reason}: other programs ran on them"


def describe_warm_up(seconds: float) -> str:
    return f"{WARM_UP_SHARE * seconds:g} s, at least {LEAST_WARM_UP} inferences"


def keep(profile: Path, target: Path | None) -> None:
    if target is None:
        return
    try:
        shutil.copyfile(profile, target)
    except OSError as error:
        raise SystemExit(f"infimum: error: {target}: cannot be written: {error.strerror}") from error


def limit_memory(most: int | None) -> None:
    """Of this process and those that it starts, each: what it allocates beyond that fails."""
    if most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _die_with(parent: int) -> None:
    """Of a child: SIGKILL when its parent is gone, also where the script was started by hand."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def call_child(framework: str, kind: str, work_directory: Path, threads: int, *extra: str) -> dict[str, Any]:
    """This program again in a process of its own, so that no repetition inherits another's memory."""
    with tempfile.NamedTemporaryFile(dir=work_directory, suffix=".json") as answer:
        command = [sys.executable, *sys.argv, "--child", kind, "--output", answer.name]
        command += ["--work-directory", str(work_directory), *extra]
        # No OpenMP or BLAS pool may add threads to those that were asked for.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        parent = os.getpid()
        finished = subprocess.run(
            command, env=environment, stderr=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: _die_with(parent)
        )  # fmt: skip
        if finished.returncode < 0:
            name = signal.Signals(-finished.returncode).name
            hint = ", perhaps by the kernel for lack of memory" if name == "SIGKILL" else ""
            raise SystemExit(f"infimum: error: {framework}: its process was killed by {name}{hint}")
        if finished.returncode != 0:
            lines = [line for line in finished.stderr.splitlines() if line.strip()]
            last = lines[-1] if lines else "ended without a word"
            lead = "infimum: error: "
            raise SystemExit(last if last.startswith(lead) else f"{lead}{framework}: {last}")
        result: dict[str, Any] = json.loads(Path(answer.name).read_text())
        return result
