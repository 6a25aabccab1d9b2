"""Data races of RMARaceBench, beside what others find there: `python -m bench.rmaracebench PATH [PATTERN...]`.

PATH is a checkout of the suite (github.com/RWTH-HPC/RMARaceBench), which is not part of this project; with patterns only
files whose path has one of them. Every program is asked by the standard of its library, with the number of processes that
its labels have, and each answer is compared with its label: whether there is a race, and which two lines race.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rdma_robust.analyses.races.find_races import Race, RaceVerdict, find_races
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Step
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions

FOLDERS: Final = {"MPIRMA": "MPI", "SHMEM": "OpenSHMEM"}
PEERS: Final = """Others, as they were published (the suite has grown since; programs with OpenMP count there):
  RMASanitizer (ICPP 2024)      MPI 105 of 107, OpenSHMEM 97 of 102
  MUST-RMA (there)              MPI 85 of 107
  SPMD-IR (EuroMPI 2025)        accuracy MPI 0.90, OpenSHMEM 0.89"""
_PROCESSES: Final = re.compile(r"#define PROC_NUM (\d+)")
_LABELS: Final = re.compile(r"RACE LABELS BEGIN\s*/\*(.*?)\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Label:
    """A program of the suite as it labels itself: its processes, whether it races, and the lines that do, if it says so."""

    processes: int
    races: bool
    lines: tuple[int, ...] = ()


def label_of(path: Path) -> Label:
    """Return the label in a program, else what its name says, which ends in `yes` or `no`."""
    text = path.read_text(encoding="utf-8", errors="replace")
    said, processes = _LABELS.findall(text), _PROCESSES.findall(text)
    if not said:
        return Label(int(processes[0]) if processes else 2, path.stem.endswith("yes"))
    found = json.loads(said[0])
    pair = found.get("RACE_PAIR", []) if found["RACE_KIND"] != "none" else []
    lines = sorted(int(each.rpartition("@")[2]) for each in pair)
    return Label(found.get("NPROCS", 2), found["RACE_KIND"] != "none", tuple(lines))


def line_of(step: Step | None) -> int:
    """Return the innermost line of the C that a step comes from."""
    span = None if step is None else step.span.origin
    return 0 if span is None else span.line


def lines_of(race: Race) -> tuple[int, ...]:
    """Return the two lines of a race."""
    return tuple(sorted(line_of(each.step) for each in (race.first, race.second)))


def judged(path: Path) -> tuple[str, str]:
    """Return how the answer for a program compares with its label: in a word, and with what is to be said of it."""
    label = label_of(path)
    try:
        units = read_units(str(path), COptions(processes=label.processes))
        program = blocking(
            evaluated_program(
                evaluate_units(units, EvaluationOptions(is_of_standard=True, is_about_races=True), "races"), str(path)
            )
        )
    except ProgramError as error:
        first = error.diagnostics[0]
        return "refused", f"line {first.span.line}: {first.message} [{first.code}]"
    found = find_races(program, CheckOptions().on(program.hardware).model, Limits())
    pairs = {lines_of(race) for race in found.races}
    if found.verdict is RaceVerdict.UNKNOWN:
        return "unknown", found.reason
    if bool(pairs) != label.races:
        return "other verdict", f"found {sorted(pairs)}, labelled {label.lines or ('race' if label.races else 'no race')}"
    if label.lines and label.lines not in pairs:
        return "other lines", f"found {sorted(pairs)}, labelled {label.lines}"
    more = "" if not label.lines else f"and {sorted(pairs - {label.lines})}" if pairs - {label.lines} else ""
    return "right", more


def main(root: Path, patterns: list[str]) -> int:
    """Print a row for each folder, and what is to be said of single programs; return 1 if a verdict differs."""
    differs = 0
    for folder, library in FOLDERS.items():
        seen: Counter[str] = Counter()
        began = time.process_time()
        for path in sorted((root / folder).glob("**/*.c")):
            if "hybrid" in path.parts or (patterns and not any(each in str(path) for each in patterns)):
                continue
            verdict, said = judged(path)
            seen[verdict] += 1
            if said:
                print(f"  {path.name}: {verdict}; {said}")
        spent = time.process_time() - began
        counts = ", ".join(f"{count} {verdict}" for verdict, count in seen.most_common())
        print(f"{library}: {seen.total()} programs without OpenMP: {counts}; {spent / max(seen.total(), 1):.2f} s each")
        differs += seen["other verdict"] + seen["other lines"]
    print(PEERS)
    return int(differs > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
