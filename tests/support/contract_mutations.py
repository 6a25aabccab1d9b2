"""Named programs with contracts, each with one place of the text changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import ProgramError
from tests.conftest import ROOT

FOLDER: Final = ROOT / "litmus" / "contracts"

_CHANGES: Final = (
    (r"NPROCS - 1", ("NPROCS - 2", "NPROCS")),
    (r"\b0\b", ("1",)),
    (r"\b1\b", ("0", "2")),
    (r"==", ("!=", "<=")),
    (r"!=", ("==",)),
    (r" < ", (" <= ", " > ")),
    (r" <= ", (" < ",)),
    (r" \+ ", (" - ",)),
    (r" - ", (" + ",)),
    (r"&&", ("||",)),
    (r"PID", ("0", "NPROCS - 1")),
    (r"from any\b", ("from 1 % NPROCS",)),
    (r"recv (\w+) from \w+\b", (r"recv \1 from any",)),
    (r"\\others", ("0", "1")),
    (r"\\all", ("\\\\others", "0")),
    (r"waitsfor root", ("waitsfor \\\\all",)),
    (r"\n[^\n]*quiet from[^\n]*\n", ("\n",)),
    (r"\n[^\n]*waitsfor[^\n]*\n", ("\n",)),
    (r"\n[^\n]*\bsend [^\n]*\n", ("\n",)),
    (r"\btag 1\b", ("tag 0", "")),
    (r"assigns [^;]*;", ("assigns \\\\nothing;",)),
)


def mutants(rng: random.Random, path: Path) -> Iterator[ContractProgram]:
    """Yield programs that differ from a named one in one place and can be read, in random order, without end."""
    text = re.sub(r"^expect.*\n?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    while True:
        pattern, others = rng.choice(_CHANGES)
        places = list(re.finditer(pattern, text))
        if not places:
            continue
        place = rng.choice(places)
        changed = text[: place.start()] + place.expand(rng.choice(others)) + text[place.end() :]
        try:
            yield load_contracts(changed, path.name)
        except ProgramError:
            continue
