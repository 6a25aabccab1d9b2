"""Running SPIN: Promela text to a verifier, and what the verifier found. Also many models in one verifier."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rdma_robust.counters.promela.write import MAX_D_STEPS, RESERVED

COMPILER = next((tool for tool in ("tcc", "gcc", "cc") if shutil.which(tool)), "")
"""For tests: TinyCC compiles a verifier a hundred times as fast as gcc."""
MISSING = [] if shutil.which("spin") and COMPILER else ["spin"] if COMPILER else ["a C compiler"]
CHOICE_STATES = 2
"""States that the choice of one model among several adds."""


@dataclass(frozen=True, slots=True)
class Found:
    """`complete` iff the whole state space was searched; an error ends the search. Times in seconds; memory, all of it and
    that of the states, in MiB; the state vector in bytes."""

    errors: int
    states: int
    transitions: int
    complete: bool
    seconds: float
    memory: float
    state_memory: float
    vector: int
    too_deep: bool

    @property
    def verdict(self) -> str:
        return "not-robust" if self.errors else "robust" if self.complete else "unknown"


def generate(model: str, folder: Path, *flags: str) -> None:
    """Write the verifier's source for `model` into `folder`, which is made. Raises AssertionError if SPIN complains."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pml").write_text(model, encoding="ascii")
    done = subprocess.run(["spin", *flags, "-a", "model.pml"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr


def compile_verifier(folder: Path, *flags: str, compiler: str = COMPILER) -> None:
    """Compile the verifier in `folder` for safety properties. Raises CalledProcessError."""
    subprocess.run([compiler, "-w", "-DSAFETY", *flags, "-o", "pan", "pan.c"], cwd=folder, check=True)


def verify(folder: Path, *flags: str, env: Mapping[str, str] | None = None, timeout: float | None = None) -> Found:
    """Search exhaustively, or until a limit of `flags` is reached or the time is over: then `complete` is false."""
    command = [str(folder / "pan"), "-n", *flags]
    environment = {**os.environ, **(env or {})}
    late = False
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            text, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            late = True
            process.send_signal(signal.SIGINT)
            text, _ = process.communicate()

    def number(pattern: str) -> float:
        match = re.search(pattern, text)
        assert match is not None, f"{pattern!r} is not in the answer of pan:\n{text}"
        return float(match.group(1))

    return Found(
        int(number(r"errors: (\d+)")),
        int(number(r"([\d.e+]+) states, stored")),
        int(number(r"([\d.e+]+) transitions \(")),
        not late and "Search not completed" not in text and "max search depth too small" not in text,
        number(r"elapsed time ([\d.e+-]+)"),
        number(r"([\d.]+)\s+total actual memory usage"),
        number(r"([\d.]+)\s+actual memory usage for states"),
        int(number(r"State-vector (\d+) byte")),
        "max search depth too small" in text,
    )


def batches(models: Sequence[str]) -> Iterator[range]:
    """Yield ranges of indices of models that SPIN can take together."""
    start = steps = 0
    for i, model in enumerate(models):
        count = model.count("d_step {")
        if i > start and steps + count > MAX_D_STEPS:
            yield range(start, i)
            start, steps = i, 0
        steps += count
    yield range(start, len(models))


def verify_all(models: Sequence[str], folder: Path, *flags: str, timeout: float | None = None) -> list[Found]:
    """Return what SPIN finds in each model; `flags` are the compiler's. The states of the choice are taken off.

    With a `timeout` (in seconds, for each), a search that takes longer is an incomplete one.
    """
    found: list[Found] = []
    for number, batch in enumerate(batches(models)):
        place = folder / str(number)
        generate(combine([models[i] for i in batch]), place)
        compile_verifier(place, "-DVECTORSZ=65000", *flags)
        for choice in range(len(batch)):
            answer = verify(place, "-m100000", "-w14", env={"MODEL": str(choice)}, timeout=timeout)
            found.append(replace(answer, states=answer.states - CHOICE_STATES))
    return found


def combine(models: Sequence[str]) -> str:
    """Return one model that behaves like number `MODEL` (an environment variable of the verifier) of `models`.

    One verifier for all is compiled much sooner than one for each. Every model keeps its text, but for the names.
    """
    parts = [_prefixed(model, f"m{number}_") for number, model in enumerate(models)]
    starts = []
    for number, part in enumerate(parts):
        processes = re.findall(r"^active proctype (\w+)", part, re.MULTILINE)
        starts.append(f"  :: chosen == {number} -> {'; '.join(f'run {p}()' for p in processes)}")
    body = "\n".join(part.replace("active proctype", "proctype") for part in parts)
    choice = 'c_code { now.chosen = atoi(getenv("MODEL")); }'
    start = ["init {", f"  {choice};", "  atomic { if", *starts, "  fi }", "end_init: false }"]
    return "\n".join(["short chosen;", body, *start])


def _prefixed(model: str, prefix: str) -> str:
    """Return `model` with `prefix` before every name but the labels, which begin with `end`, and without comments."""
    code = re.sub(r"/\*.*?\*/", "", model)

    def renamed(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in RESERVED or word.startswith("end") else prefix + word

    return re.sub(r"[A-Za-z_]\w*", renamed, code)
