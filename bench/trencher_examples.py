"""Decide and repair the examples of Trencher's public repository, all in one process: `python -m bench.trencher_examples`.

The folder is the one that the environment variable TRENCHER_EXAMPLES names; without it nothing is run, and that is said.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.errors import RdmaRobustError
from rdma_robust.language.load import is_trencher, load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide

_SAID = re.compile(r"#.*?\b(not\s+)?(?<!')robust\b", re.IGNORECASE)
_TIMEOUT = 60.0


def examples(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the programs below `folder`, by what is in them."""
    found = (p for p in Path(folder).rglob("*") if p.suffix in (".txt", ".trencher") and p.is_file())
    return sorted(p for p in found if is_trencher(p.read_text(encoding="utf-8", errors="replace"), p.name))


def expected_robust(name: str, text: str) -> bool | None:
    """Return the verdict that comments or the name of an example say, None if they say nothing.

    What is called `fenced` there has the fences that it needs to be safe, which may be too few to be robust; one of them
    says in its comment with which others Trencher would report 'robust'.
    """
    said = _SAID.search(text)
    if said is not None:
        return said[1] is None
    return True if "-correct" in name.lower() else None


def main() -> None:
    folder = os.environ.get("TRENCHER_EXAMPLES")
    if folder is None:
        print("not run: TRENCHER_EXAMPLES names no folder with Trencher's examples")
        return
    options = CheckOptions(hardware=Model(cpu="tso"), timeout=_TIMEOUT)
    started = time.monotonic()
    for path in examples(folder):
        at = time.monotonic()
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            outcome = decide(load_program(text, path.name), options)
            verdict = outcome.verdict.value
        except RdmaRobustError as error:
            print(f"{path.name:40} {time.monotonic() - at:8.3f} s  {error}")
            continue
        decided = time.monotonic() - at
        fences = ""
        if outcome.verdict is Verdict.NOT_ROBUST:
            answer = repair(text, path.name, RepairOptions(timeout=_TIMEOUT), options)
            proven = "fewest" if answer.optimal else "found"
            fences = f"{len(answer.insertions)} fences ({proven}, {answer.time_s:.2f} s)"
        print(f"{path.name:40} {decided:8.3f} s  {verdict:10}  {outcome.counts.states:8} states  {fences}")
    print(f"{len(examples(folder))} programs in {time.monotonic() - started:.2f} s")


if __name__ == "__main__":
    main()
