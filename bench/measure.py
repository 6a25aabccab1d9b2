"""One measurement, in processor time: our check, our search, or SPIN on an exported model; and what to do with several."""

from __future__ import annotations

import math
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rdma_robust.counters.kernel import driver as kernel
from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import counter_bounds
from rdma_robust.counters.searches import breadth_first
from rdma_robust.exports import Variant, promela_of
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, ignore
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.robustness.pivot import instrument_pivot
from tests.support.spin import Found, compile_verifier, generate, verify

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run, in seconds and MiB, and how often it is repeated."""

    seconds: float
    memory: int
    runs: int


@dataclass(frozen=True, slots=True)
class SpinRun:
    """What SPIN took, in seconds; `found` is incomplete where a limit ended the search."""

    generate: float
    compile: float
    pan: float
    found: Found

    @property
    def total(self) -> float:
        return self.generate + self.compile + self.pan

    @property
    def states(self) -> int:
        return self.found.states

    @property
    def done(self) -> bool:
        return self.found.complete or self.found.errors > 0

    @property
    def bytes_per_state(self) -> float:
        """The states alone, without the hash table."""
        return self.found.state_memory * MIB / max(1, self.found.states)


@dataclass(frozen=True, slots=True)
class OurRun:
    """The whole decision in this process, or the search alone, in seconds; `memory` of the search in bytes, 0 if unknown."""

    seconds: float
    states: int
    transitions: int
    verdict: str
    memory: int = 0

    @property
    def done(self) -> bool:
        return self.verdict != Verdict.UNKNOWN.value


def processor_time() -> float:
    """Seconds of processor time that this process and its finished children have had: neighbours disturb it less."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def keep(document: Path, begin: str, end: str, text: str) -> None:
    """Put `text` between two marks of a document. Raises ValueError where they are missing."""
    before, found, rest = document.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{document.name} has no place for the measurements")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def timed(work: Callable[[], object]) -> float:
    started = processor_time()
    work()
    return processor_time() - started


def check(program: Program, budget: Budget) -> OurRun:
    """Decide a loaded program with the default options."""
    started = processor_time()
    outcome = check_program(program, CheckOptions(timeout=budget.seconds, memory=budget.memory, threads=1))
    seconds = processor_time() - started
    return OurRun(seconds, outcome.counts.states, outcome.counts.transitions, outcome.verdict.value)


def command_time(path: Path, budget: Budget) -> float:
    """Return the time of the whole command, start-up included."""
    command = [str(Path(sys.executable).parent / "rdma-robust"), "--quiet", "--no-explain", "--jobs", "1"]
    limits = ["--timeout", f"{budget.seconds:g}", "--memory", str(budget.memory)]
    return timed(lambda: subprocess.run([*command, *limits, str(path)], capture_output=True, check=False))


def search(program: Program, budget: Budget) -> OurRun:
    """Run the search alone, breadth first and without reductions, on the pivot instrumentation: the kernel, if there."""
    counters = instrument_pivot(program)
    limits = Limits(time.monotonic() + budget.seconds, None, budget.memory)
    started = processor_time()
    if kernel.AVAILABLE:
        found = kernel.search(counters, counter_bounds(counters), limits, ignore, engine="bfs", reduce=False)
        result, memory = found.result, found.bytes
    else:
        result, memory = breadth_first(lower(counters), limits, reduce=False), 0
    seconds = processor_time() - started
    verdict = "unknown" if result.cut else "not-robust" if result.target >= 0 else "robust"
    return OurRun(seconds, result.states, result.transitions, verdict, memory)


class Verifier:
    """SPIN's verifier of one model, generated and compiled (gcc -O2) once; both are timed.

    With `faithful` its states are all those of the model: no partial-order reduction, and dead variables are kept.
    """

    def __init__(self, program: Program, model: Variant, budget: Budget, faithful: bool = False) -> None:
        self._folder = TemporaryDirectory(prefix="rdma-robust-spin-")
        self.budget = budget
        folder = Path(self._folder.name)
        text = promela_of(program, model, keep_dead=faithful).text
        flags = ["-DNOREDUCE"] if faithful else []
        self.generate = timed(lambda: generate(text, folder, *(["-o2"] if faithful else [])))
        limits = f"-DMEMLIM={budget.memory}"
        self.compile = timed(lambda: compile_verifier(folder, "-O2", limits, *flags, compiler="gcc"))

    def run(self) -> SpinRun:
        """Search; deeper if the stack was too small."""
        for depth in (10**6, 10**7, 10**8):
            started = processor_time()
            found = verify(Path(self._folder.name), f"-m{depth}", timeout=self.budget.seconds)
            run = SpinRun(self.generate, self.compile, processor_time() - started, found)
            if not found.too_deep:
                break
        return run

    def close(self) -> None:
        self._folder.cleanup()


def alternate(ours: Callable[[], OurRun], verifier: Verifier, runs: int) -> tuple[OurRun, SpinRun]:
    """Run the two by turns and return the quickest of each: what neighbours disturb can only take longer."""
    mine: list[OurRun] = []
    theirs: list[SpinRun] = []
    for _ in range(runs):
        mine.append(ours())
        theirs.append(verifier.run())
    return min(mine, key=lambda run: run.seconds), min(theirs, key=lambda run: run.pan)


@dataclass(frozen=True, slots=True)
class Growth:
    """How `y` grows with n: `y ~ factor^n` or `y ~ n^exponent`, whichever fits better (least squares on logarithms)."""

    exponential: bool
    rate: float
    fit: float

    def __str__(self) -> str:
        law = f"{self.rate:.2f}^n" if self.exponential else f"n^{self.rate:.1f}"
        return f"{law} (R² {self.fit:.3f})"


def growth(sizes: Sequence[int], values: Sequence[float]) -> Growth:
    """Return the law that fits best. At least three sizes, all positive."""
    logs = [math.log(value) for value in values]
    laws = []
    for exponential, xs in ((True, [float(n) for n in sizes]), (False, [math.log(n) for n in sizes])):
        slope = statistics.linear_regression(xs, logs).slope
        fit = statistics.correlation(xs, logs) ** 2 if len(set(logs)) > 1 else 1.0
        laws.append(Growth(exponential, math.exp(slope) if exponential else slope, fit))
    return max(laws, key=lambda law: law.fit)


def machine() -> list[str]:
    """Describe what the numbers were measured on."""
    return [
        f"processor: {_processor()}, {len(os.sched_getaffinity(0))} cores for this run",
        f"memory: {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.0f} GiB",
        f"Python {platform.python_version()}, {platform.system()} {platform.release()}",
        f"{_version('gcc', '--version')}",
        f"{_version('spin', '-V')}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _version(tool: str, flag: str) -> str:
    if shutil.which(tool) is None:
        return f"no {tool}"
    return subprocess.run([tool, flag], capture_output=True, text=True, check=False).stdout.splitlines()[0].strip()
