"""`cover` on large nets that are not part of this repository: `LARGE_NETS=FILE[:FILE...] python -m bench large-nets`.

A file is a `.spec` or a `.spec.xz`. The whole command is measured, start and reading included, and so is the check of the
certificate that it leaves. After that comes every place of the net as a target of its own: one file stands for a family.
"""

from __future__ import annotations

import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rdma_robust.limits import Limits
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import Net
from rdma_robust.petri.spec.reader import read_spec

VARIABLE = "LARGE_NETS"
SECONDS = 60
EACH_S = 20.0
COMMAND = str(Path(sys.executable).parent / "rdma-robust")


def text_of(path: Path) -> str:
    return (lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()).decode("utf-8")


def processor_seconds(command: list[str]) -> tuple[float, str]:
    """Return the processor time of a command with its children, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def whole_command(text: str, processes: int) -> tuple[str, ...]:
    """Return the verdict, the processor seconds of deciding, the proof, and the seconds and the answer of checking it."""
    with tempfile.TemporaryDirectory() as folder:
        file, proofs = Path(folder, "net.spec"), Path(folder, "proofs")
        file.write_text(text, encoding="utf-8")
        options = ["--timeout", str(SECONDS), "--jobs", str(processes), "--format", "json", "--certificate", str(proofs)]
        decided, printed = processor_seconds([COMMAND, "cover", *options, str(file)])
        (record,) = json.loads(printed)["results"]
        checked, said = processor_seconds([COMMAND, "verify-certificate", str(proofs)])
        accepted = "valid" if ": VALID: " in said else "none" if record["verdict"] == "unknown" else "INVALID"
        kind = f"{record['invariant']['kind']}, {record['invariant']['size']:,}" if record["invariant"] else record["reason"]
        return record["verdict"], f"{decided:.2f}", kind, f"{checked:.2f}", accepted


def each_place(net: Net) -> str:
    """Decide the net once for every place, with one token there as the target; return how it went."""
    answers: Counter[str] = Counter()
    slowest = 0.0
    for place in range(len(net.places)):
        started = time.process_time()
        result = cover(replace(net, targets=(((place, 1),),)), Limits(time.monotonic() + EACH_S))
        slowest = max(slowest, time.process_time() - started)
        answers["unsafe" if result.run else "safe" if result.invariant else "unknown"] += 1
    counts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(answers.items()))
    return f"each of {len(net.places)} places as the target: {counts}; the slowest {slowest:.2f} s of processor time"


def report(console: Console) -> None:
    """Measure the nets that the environment names, if it names any."""
    files = [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    if not files:
        console.print(f"large nets: not run, {VARIABLE} names no file")
        return
    columns = ("file", "places", "rules", "jobs", "verdict", "s", "proof", "check, s", "checker")
    table = Table(*columns, title=f"cover, {SECONDS} s; processor seconds")
    notes = []
    for file in files:
        text = text_of(file)
        net = read_spec(text, file.name)
        for processes in (1, 2):
            cells = whole_command(text, processes)
            table.add_row(file.name, str(len(net.places)), str(len(net.transitions)), str(processes), *cells)
        notes.append(f"{file.name}: {each_place(net)}")
    console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)
