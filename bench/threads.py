"""Large searches by one thread and by several, and SPIN's by one process and by several: what table (f) is made from.

`python -m bench threads` decides four programs by the number of threads, with all reductions; then it searches the states of
others without any, as `pan` does on their models: plain, with -DCOLLAPSE, and each on several cores (-DNCORE). Seconds are
of the clock, so this is for a machine that does nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

from bench import families
from bench.measure import MIB, processor_time
from bench.records import Parallel, save
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.program import counter_bounds
from rdma_robust.exports import promela_of
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, ignore, processors
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.pivot import instrument_pivot
from tests.support.spin import MISSING, compile_verifier, generate, verify

RUNS: Final = 3
SECONDS: Final = 120.0
DECIDED: Final[Mapping[str, Callable[[], str]]] = {
    "pipeline of 4 threads, rings of 8": partial(families.pipeline, 4, 8),
    "pipeline of 3 threads, rings of 40": partial(families.pipeline, 3, 40),
    "bakery of 4": partial(families.bakery, 4),
    "Szymanski of 4": partial(families.szymanski, 4),
}
SEARCHED: Final[Mapping[str, Callable[[], str]]] = {
    "pipeline of 3 threads, rings of 4": partial(families.pipeline, 3, 4),
    "bakery of 3": partial(families.bakery, 3),
    "lock server of 3": partial(families.lock_server, 3),
}
PAN: Final = ((), ("-DCOLLAPSE",))


def report(say: Callable[[str], None]) -> None:
    """Measure everything and keep it; `say` is told what has been measured. Needs spin and gcc, else keeps what is there."""
    if MISSING or not driver.AVAILABLE:
        say("Not measured: spin, a C compiler or the compiled kernel is not installed.")
        return
    rows = []
    for row in measured():
        say(f"threads: {row}")
        rows.append(row)
    save("parallel", rows)


def measured() -> Iterator[Parallel]:
    counts = range(1, processors() + 1)
    for name, text in DECIDED.items():
        program = load_program(text(), "it")
        yield from quickest({f"our decision, {n}": partial(_decision, name, program, n) for n in counts})
    for name, text in SEARCHED.items():
        program = load_program(text(), "it")
        ours = {f"our search, {n}": partial(_search, name, program, n) for n in counts}
        with TemporaryDirectory(prefix="rdma-robust-spin-") as folder:
            yield from quickest(ours | dict(_verifiers(name, program, Path(folder))))


def quickest(ways: Mapping[str, Callable[[], Parallel]]) -> list[Parallel]:
    """Return the quickest run of each, made by turns."""
    runs = [[way() for way in ways.values()] for _ in range(RUNS)]
    return [min(same, key=lambda run: run.seconds) for same in zip(*runs, strict=True)]


def _decision(name: str, program: Program, threads: int) -> Parallel:
    """The largest search of a decision."""
    told: list[Parallel] = []
    whole = driver.search

    def timed(*given: Any, **more: Any) -> driver.KernelResult[Any]:
        started, used = time.perf_counter(), time.process_time()
        found = whole(*given, **more)
        times = time.perf_counter() - started, time.process_time() - used
        told.append(_ours(name, "our decision", threads, found, times))
        return found

    with patch.object(driver, "search", timed):
        decide(program, CheckOptions(threads=threads))
    return max(told, key=lambda each: each.states)


def _search(name: str, program: Program, threads: int) -> Parallel:
    """The states of the pivot instrumentation, without reductions."""
    counters = instrument_pivot(program)
    started, used = time.perf_counter(), time.process_time()
    found = driver.search(counters, counter_bounds(counters), Limits(threads=threads), ignore, engine="dfs", reduce=False)
    return _ours(name, "our search", threads, found, (time.perf_counter() - started, time.process_time() - used))


def _ours(name: str, search: str, threads: int, found: driver.KernelResult[Any], times: tuple[float, float]) -> Parallel:
    states = found.result.states
    return Parallel(name, search, threads, states, found.bytes / states, *times, not found.result.cut)


def _verifiers(name: str, program: Program, folder: Path) -> Iterator[tuple[str, Callable[[], Parallel]]]:
    """Generate and compile the verifiers of a model. On several cores pan takes no `hidden` variables: there its temporary
    ones are part of the state, of which there are more."""
    text = promela_of(program, "pivot", keep_dead=True).text
    for cores in range(1, processors() + 1):
        model = text if cores == 1 else text.replace("hidden ", "")
        for flags in PAN:
            place = folder / f"{cores}{''.join(flags)}"
            generate(model, place, "-o2")
            several = [f"-DNCORE={cores}", "-DVMAX=128"] if cores > 1 else []
            compile_verifier(place, "-O2", "-DNOREDUCE", "-DMEMLIM=8000", *several, *flags, compiler="gcc")
            yield " ".join((str(cores), *flags)), partial(_pan, name, place, cores, flags)


def _pan(name: str, place: Path, cores: int, flags: tuple[str, ...]) -> Parallel:
    started, used = time.perf_counter(), processor_time()
    found = verify(place, "-m1000000", timeout=SECONDS)
    seconds = time.perf_counter() - started
    # On several cores it does not wait for all of its processes.
    used_s = processor_time() - used if cores == 1 else None
    each = found.memory * MIB / max(1, found.states)
    return Parallel(name, " ".join(("pan", *flags)), cores, found.states, each, seconds, used_s, found.complete)
