"""The rules by which the measuring scripts sample, on pretended clocks and loads. Standard library only.

    python sampling_test.py FOLDER_OF_THE_SCRIPTS
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

FOLDER = sys.argv.pop(1)
sys.path.insert(0, FOLDER)
import sampling


class PretendedTime:
    """A clock that an inference moves by hand, and the share of its cores that it gets meanwhile."""

    def __init__(self, inference: float, share: Any) -> None:
        self.now, self.inference, self.share_at = 100.0, inference, share
        self.last = 1.0

    def timed(self) -> float:
        self.last = self.share_at(self.now)
        took = self.inference / self.last
        self.now += took
        return took * 1e6

    def begin(self) -> None:
        pass

    def share(self, _microseconds: float) -> float:
        return self.last

    def sample(self, seconds: float, patience: float = 0.0) -> sampling.Samples:
        with mock.patch("time.perf_counter", lambda: self.now):
            core_time: Any = self
            return sampling.sample(self.timed, seconds, core_time, patience)


class Sampling(unittest.TestCase):
    def test_takes_its_time_and_no_more_where_nothing_disturbs(self) -> None:
        pretended = PretendedTime(0.01, lambda _: 1.0)
        samples = pretended.sample(1.0, patience=2.0)
        self.assertAlmostEqual(samples.seconds, 1.0, delta=0.02)
        self.assertEqual(len(samples.good), len(samples.every))

    def test_a_load_half_of_the_time_costs_samples_not_truth(self) -> None:
        for phase in (0.0, 0.3, 0.7, 1.0, 1.6):
            pretended = PretendedTime(0.01, lambda now, phase=phase: 1.0 if (now + phase) % 2 < 1 else 0.5)
            samples = pretended.sample(1.5, patience=3.0)
            answer = samples.answer()
            self.assertGreaterEqual(answer["counted"], sampling.LEAST_SAMPLES)
            self.assertTrue(all(abs(sample - 10_000) < 1 for sample in answer["samples_us"]), phase)
            self.assertLessEqual(samples.seconds, 3.1)

    def test_nearly_all_of_a_core_counts_and_all_of_it_makes_the_point(self) -> None:
        shares = iter([0.992, 0.996, 0.5] * 1000)
        samples = PretendedTime(0.01, lambda _: next(shares)).sample(1.0)
        self.assertAlmostEqual(samples.answer()["samples_us"][0], 10_000 / 0.996)
        self.assertEqual(samples.answer()["counted"], len(samples.fair))
        shares = iter([0.992, 0.5] * 1000)
        samples = PretendedTime(0.01, lambda _: next(shares)).sample(1.0)
        self.assertAlmostEqual(samples.answer()["samples_us"][0], 10_000 / 0.992)

    def test_gives_up_after_its_patience_and_keeps_what_it_has(self) -> None:
        samples = PretendedTime(0.01, lambda _: 0.5).sample(1.0, patience=2.0)
        self.assertAlmostEqual(samples.seconds, 2.0, delta=0.05)
        self.assertEqual(samples.answer()["counted"], 0)
        self.assertEqual(len(samples.answer()["samples_us"]), len(samples.every))

    def test_a_slow_model_gets_its_few_samples(self) -> None:
        samples = PretendedTime(3.0, lambda _: 1.0).sample(0.2)
        self.assertEqual(len(samples.answer()["samples_us"]), sampling.LEAST_SAMPLES)


class Beats(unittest.TestCase):
    @staticmethod
    def program(folder: str, text: str) -> str:
        path = Path(folder) / "metronome"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def taken(self, text: str) -> list[float] | None:
        with tempfile.TemporaryDirectory() as folder:
            pretended = PretendedTime(0.01, lambda _: 1.0)
            with mock.patch("time.perf_counter", lambda: pretended.now):
                metronome = sampling.Metronome(self.program(folder, text), 1)
                beat = sampling.sample(pretended.timed, 1.0, metronome=metronome).answer()["beat_us"]
            return beat if beat is None else list(beat)

    def test_are_taken_between_inferences_and_averaged(self) -> None:
        # The first allocates and is no beat; then at the start, each quarter of a second, and at the end.
        beat = self.taken("n=0; while read line; do echo $((100 + n)) 400; n=$((n + 1)); done")
        self.assertEqual(beat, [103.0, 400.0])

    def test_a_metronome_that_fails_is_none(self) -> None:
        for text in ("exit 1", "while read line; do echo what; done", "read line; echo 1 2; exit 0", "while read line; do echo 1; done"):
            self.assertIsNone(self.taken(text), text)
        self.assertIsNone(sampling.Metronome("/no/such/program", 1).mean())
        self.assertIsNone(sampling.Metronome("", 1).mean())

    def test_go_into_the_run_of_their_process(self) -> None:
        answer = Processes.answer(90) | {"beat_us": [101.5, 402.0]}
        end_to_end, _ = sampling.in_processes(2, 1.0, lambda index, _patience: answer if index else Processes.answer(90))
        self.assertNotIn("beat_us", end_to_end[0])
        self.assertEqual(end_to_end[1]["beat_us"], [101.5, 402.0])


class Processes(unittest.TestCase):
    @staticmethod
    def answer(counted: int, seconds: float = 1.0) -> dict[str, Any]:
        return {"samples_us": [1.0] * max(counted, 5), "counted": counted, "taken": 100, "share": 0.6, "seconds": seconds}

    def test_quiet_ones_make_a_run(self) -> None:
        end_to_end, noisy = sampling.in_processes(3, 1.0, lambda _index, _patience: self.answer(90))
        self.assertEqual((len(end_to_end), noisy), (3, ""))

    def test_one_without_enough_samples_is_left_out(self) -> None:
        end_to_end, noisy = sampling.in_processes(3, 1.0, lambda index, _patience: self.answer(90 if index else 4))
        self.assertEqual((len(end_to_end), noisy), (2, ""))

    def test_a_run_of_disturbed_ones_is_noisy_and_says_why(self) -> None:
        end_to_end, noisy = sampling.in_processes(3, 1.0, lambda index, _patience: self.answer(0 if index else 90))
        self.assertEqual(len(end_to_end), 3)
        self.assertEqual(
            noisy,
            "only 90 of 300 inferences had their cores for 99 % of their time (the typical one for 60 %): other programs ran on them",
        )

    def test_together_they_take_twice_their_time_at_most(self) -> None:
        given: list[float] = []

        def call(_index: int, patience: float) -> dict[str, Any]:
            given.append(patience)
            return self.answer(0, seconds=patience)

        sampling.in_processes(3, 4.0, call)
        self.assertEqual(given[0], 16.0)
        self.assertLessEqual(sum(given), 24.0)

    def test_a_killed_child_is_said_to_be_killed(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            script = Path(name) / "script.py"
            script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
            with mock.patch("sys.argv", [str(script)]), self.assertRaises(SystemExit) as raised:
                sampling.call_child("A framework", "sample", Path(name), 1)
            self.assertIn("A framework: its process was killed by SIGKILL", str(raised.exception))


class Cores(unittest.TestCase):
    def test_the_quietest_is_taken_and_of_equals_the_last(self) -> None:
        ticks = iter([{0: 5, 1: 9, 2: 4}, {0: 6, 1: 29, 2: 5}])
        with mock.patch("sampling._busy_ticks", lambda: next(ticks)), mock.patch("sampling._number", lambda _path, fallback: fallback):
            self.assertEqual(sampling.quiet_cores([0, 1, 2], 1, 0.0), [2])
        ticks = iter([{0: 5, 1: 9, 2: 4}, {0: 6, 1: 29, 2: 5}])
        with mock.patch("sampling._busy_ticks", lambda: next(ticks)), mock.patch("sampling._number", lambda _path, fallback: fallback):
            self.assertEqual(sampling.quiet_cores([0, 1, 2], 2, 0.0), [0, 2])

    def test_a_hyperthread_whose_sibling_works_is_not_quiet(self) -> None:
        ticks = iter([{0: 0, 1: 0, 2: 0, 3: 0}, {0: 2, 1: 2, 2: 20, 3: 0}])
        siblings = {"cpu0/": 0, "cpu1/": 0, "cpu2/": 2, "cpu3/": 2}

        def number(path: str, fallback: int) -> int:
            return next((first for core, first in siblings.items() if core in path and "siblings" in path), fallback)

        with mock.patch("sampling._busy_ticks", lambda: next(ticks)), mock.patch("sampling._number", number):
            self.assertEqual(sampling.quiet_cores([0, 1, 2, 3], 1, 0.0), [1])

    def test_processor_time_tells_work_from_waiting(self) -> None:
        core_time = sampling.CoreTime(1)
        core_time.begin()
        start = time.perf_counter_ns()
        time.sleep(0.05)
        self.assertLess(core_time.share((time.perf_counter_ns() - start) / 1000), 0.5)

    def test_time_without_a_core_is_seen_of_several_threads_too(self) -> None:
        core_time = sampling.CoreTime(2)
        core_time.begin()
        start = time.perf_counter_ns()
        time.sleep(0.05)  # waits for nobody's core
        self.assertGreater(core_time.share((time.perf_counter_ns() - start) / 1000), 0.9)

    def test_pins_to_the_cores_that_are_named(self) -> None:
        before = os.sched_getaffinity(0)
        core = min(before)
        try:
            self.assertEqual(sampling.pin(str(core), 1), [core])
            self.assertEqual(os.sched_getaffinity(0), {core})
        finally:
            os.sched_setaffinity(0, before)


if __name__ == "__main__":
    unittest.main()
