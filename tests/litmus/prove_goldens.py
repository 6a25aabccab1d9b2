"""What the tests pin of every program of litmus/prove; `make promote` rewrites the file.

A golden never holds an expectation: those are the `expect` lines of the programs. It holds which engine answered, and the
size of its search, so that a change that makes one larger is seen.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program

PROVE: Final = Path(__file__).parents[2] / "litmus/prove"
PROGRAMS: Final = sorted(PROVE.glob("*.rdma"))
GOLDENS: Final = PROVE / "expected.json"
LARGE: Final = 4_000
"""States of a search from which on it is tested with the long tests."""


def load(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), path.name)


def measured(program: Program) -> dict[str, list[object]]:
    """Return for every model that the program has a claim about: the answer, the engine, and the states of its search."""
    models = [e.model for e in program.expectations if e.kind == "safe" and e.model is not None]
    outcomes = [decide_safety(program, model) for model in models]
    return {o.model: [o.safety.value, o.engine, o.states] for o in outcomes}


def read_goldens() -> dict[str, dict[str, list[object]]]:
    found: dict[str, dict[str, list[object]]] = json.loads(GOLDENS.read_text(encoding="utf-8"))
    return found


def is_large(golden: dict[str, list[object]]) -> bool:
    return sum(int(str(states)) for _, _, states in golden.values()) > LARGE


def main() -> None:
    rows = {path.stem: measured(load(path)) for path in PROGRAMS}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    GOLDENS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
