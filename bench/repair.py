"""`python -m bench.repair`: the repair of every litmus program that is not robust, by family.

With `--slowest` also the programs that took longest. The goal is that none takes ten seconds. `--save FILE` keeps the
seconds of each program as JSON, `--against FILE` compares with such a file: the ratio of all, and where it is worst.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions

LITMUS = sorted((Path(__file__).resolve().parents[1] / "litmus").glob("*.rdma"))
LIMIT_S = 60.0
GOAL_S = 10.0
SLOWEST = 8


@dataclass(frozen=True)
class Row:
    """One repaired program, with the seconds it took by the clock and of the processor."""

    name: str
    repair: Repair
    wall: float
    processor: float

    @property
    def family(self) -> str:
        return self.name.partition("-")[0]


def measure() -> list[Row]:
    """Repair every program of the suite that expects not to be robust."""
    rows = []
    for path in LITMUS:
        text = path.read_text(encoding="utf-8")
        if "expect not robust" in text:
            wall, processor = time.perf_counter(), time.process_time()
            answer = repair(text, path.name, RepairOptions(timeout=LIMIT_S))
            rows.append(Row(path.stem, answer, time.perf_counter() - wall, time.process_time() - processor))
    return rows


def kinds(rows: list[Row]) -> str:
    found = Counter(i.kind for r in rows for i in r.repair.insertions)
    return ", ".join(f"{n} {kind}" for kind, n in sorted(found.items()))


def table(title: str, groups: dict[str, list[Row]]) -> Table:
    made = Table(title=title)
    for name, side in (
        ("family", "left"),
        ("programs", "right"),
        ("repaired", "right"),
        ("proven cheapest", "right"),
        ("insertions", "left"),
        ("decided", "right"),
        ("counterexamples", "right"),
        ("slowest, s", "right"),
    ):
        made.add_column(name, justify="right" if side == "right" else "left")
    for name, rows in groups.items():
        repairs = [r.repair for r in rows]
        made.add_row(
            name,
            str(len(rows)),
            str(sum(r.status == "repaired" for r in repairs)),
            str(sum(r.optimal for r in repairs)),
            kinds(rows),
            str(sum(r.checked for r in repairs)),
            str(sum(r.cycles for r in repairs)),
            f"{max(r.processor for r in rows):.2f}",
        )
    return made


def compared(rows: list[Row], older: dict[str, float]) -> list[str]:
    """Return the ratio of the seconds now to those of an older run, for all programs of both and where it is worst."""
    both = [r for r in rows if r.name in older]
    if not both:
        return ["no program is in both runs"]
    ratio = sum(r.processor for r in both) / max(1e-9, sum(older[r.name] for r in both))
    worst = sorted(both, key=lambda r: older[r.name] - r.processor)[:SLOWEST]
    return [
        f"ratio to the older run over {len(both)} programs: {ratio:.2f}",
        *(f"  {r.name}: {older[r.name]:.2f} s then, {r.processor:.2f} s now" for r in worst if r.processor > older[r.name]),
    ]


def main(arguments: list[str]) -> int:
    """Print the tables; return 1 if a program missed the goal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--slowest", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args(arguments)
    rows = measure()
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    console = Console(width=120)
    console.print(table("repair of the litmus programs that are not robust (seconds of one processor)", families))
    console.print(table("all", {"all": rows}))
    slowest = sorted(rows, key=lambda r: -r.processor)
    if asked.slowest:
        console.print(table("slowest", {r.name: [r] for r in slowest[:SLOWEST]}))
    for row in rows:
        if row.repair.status != "repaired":
            console.print(f"{row.name}: {row.repair.status}: {row.repair.reason}")
    total = sum(r.processor for r in rows)
    console.print(f"total {total:.1f} s of processor time, slowest {slowest[0].processor:.2f} s ({slowest[0].name})")
    if asked.against is not None:
        console.print("\n".join(compared(rows, json.loads(asked.against.read_text(encoding="utf-8")))), markup=False)
    if asked.save is not None:
        asked.save.write_text(json.dumps({r.name: round(r.processor, 4) for r in rows}, indent=1) + "\n", encoding="utf-8")
    return int(slowest[0].processor >= GOAL_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
