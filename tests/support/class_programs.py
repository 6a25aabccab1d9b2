"""Small functions with contracts, each of which shows what one rule of one class of violations does.

They stand in tests/data/contracts: after `==` the name, then for each number of processes all classes that closed runs of
`f` show, then what it calls of callees.mp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "contracts"


@dataclass(frozen=True)
class ClassProgram:
    """The function `f` of `text`; `shows` has for each number of processes the classes, in their order."""

    name: str
    text: str
    shows: dict[int, tuple[str, ...]]

    def loaded(self) -> ContractProgram:
        return load_contracts(self.text, "f.mp")


def _programs() -> Iterator[ClassProgram]:
    callees = {each.partition("(")[0]: f"fun {each}" for each in (FOLDER / "callees.mp").read_text().split("fun ")[1:]}
    for part in re.split(r"^== ", (FOLDER / "classes.txt").read_text(), flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        name, shows, *used = head.split(" | ")
        shown = {int(each[0]): tuple(each[1:].replace("-", "").split()) for each in shows.split("; ")}
        calls = [callees[each] for each in used[0].split(", ")] if used else []
        yield ClassProgram(name, "\n".join([*calls, text]), shown)


@cache
def class_programs() -> dict[str, ClassProgram]:
    """Return the programs by their names."""
    return {each.name: each for each in _programs()}
