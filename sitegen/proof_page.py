"""docs/proof.md: what is proven in Coq, as the list of theorems says it and as Coq prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sitegen.text import GENERATED, cell, table
from sitegen.theorems import PROOFS, Theorem, by_hand, parts, printed, sources, theorems

_GENERATED: Final = GENERATED.replace("from the code: edit the code", "from proofs/theorems.toml: edit that list")

_HEAD: Final = """\
# Machine-checked proofs

{generated}

The theory rests on proofs that a machine has checked: `proofs/` has them in Coq, for every program, and [its
README](../proofs/README.md) says what is in which file. What is to be believed is little: Coq itself; that the
definitions of [Model.v](../proofs/core/Model.v) say what [The model](model.md) says (with store buffers and remote
atomics: those beside it in `proofs/deployed`, for Theorems 8 and 9 also those of `proofs/search`); and one axiom,
`classic` (a statement or its negation holds). [What is proven, tested and assumed](assurance.md) tells what follows for
the tool, and what does not.

`make proofs` compiles everything and lets Coq's independent checker go through it again (Debian: `apt-get install
--no-install-recommends coq`). The statements below are what Coq prints ({version}). σ, τ, α, β of the text are
`sigma`, `tau`, `A` and `B`; the pivot is `m`.
"""


def proof_page() -> str:
    """Return the text of docs/proof.md. Raises ValueError if Coq has not been asked about a theorem of the list."""
    if unknown := [each.name for each in theorems() if each.name not in printed().statements]:
        raise ValueError(
            f"proofs/printed.txt lacks {', '.join(unknown)}: run `make -C proofs` and `python -m sitegen` with Coq"
        )
    pieces = [_HEAD.format(generated=_GENERATED, version=printed().version)]
    for part in parts():
        rows = (
            (cell(each.statement), cell(each.says), f"[`{each.name}`](#{each.anchor})", _file(each))
            for each in part.theorems
        )
        pieces.append(f"## {part.title}\n\n{part.text}\n\n{table(('statement', 'says', 'formal name', 'file'), rows)}")
    rows_by_hand = ((f"[{each.page}]({each.page}.md)", each.statement, cell(each.why)) for each in by_hand())
    pieces.append(
        "## By hand\n\nThese statements have a written proof only, or none.\n\n"
        + table(("page", "statement", "why"), rows_by_hand)
    )
    pieces.append("## As Coq prints them\n\n" + "\n".join(_shown()))
    return "\n".join(pieces)


def _file(theorem: Theorem) -> str:
    path = sources()[theorem.module]
    return f"[{path.relative_to(PROOFS)}]({os.path.relpath(path, Path(__file__).parents[1] / 'docs')})"


def _shown() -> Iterator[str]:
    answer = printed()
    for part in parts():
        for each in part.theorems:
            axioms = answer.axioms[each.name]
            rests = "" if axioms else " No axiom is used."
            text = f"{cell(each.statement)}: {cell(each.says)}.{rests}"
            yield f"### {each.name}\n\n{text}\n\n```coq\n{answer.statements[each.name]}\n```\n"
