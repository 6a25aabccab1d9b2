"""What is said of contracts, of how they are violated, and of the values in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.contracts.contract_answers import (
    Counterexample,
    EveryProcsAnswer,
    FunctionAnswer,
    ProcsAnswer,
    ProvedInputs,
)
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.text import one_line

CLASSES: Final[Mapping[ErrorClass, str]] = {
    "RTE": "something goes wrong in a body",
    "CCM": "processes make different calls",
    "DL": "processes wait for ever",
    "SGV": "a guarantee about the state is violated",
    "PGV": "a guarantee about the order of events is violated",
    "ITF": "a receive from any may take a message from outside",
    "SRV": "a callee's requirement about the state is violated",
    "PRV": "a callee's requirement about the order of events is violated",
    "INV": "an invariant of a loop is violated",
}
"""The classes of errors in words."""


AT_A_HEAD: Final = (
    "the run is one round, from a head of the loop where all invariants are true; if the loop comes there is not said"
)
"""What is said of a run that begins with a round of a loop."""

_PROCESS: Final = re.compile(r"\bprocess (\d+)\b")


def name_of(process: int) -> str:
    """Return what a process is called in charts and tables."""
    return f"P{process}"


def procs_ranges(numbers: Sequence[int]) -> str:
    """Return numbers of processes, `1..4` for all of a range."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in found)


def main_place(program: ContractProgram, example: Counterexample) -> Span:
    """Return where to look first, in the text of the program.

    For SRV that is the call, for PRV the send that comes too early; for the rest the clause, or the statement at fault.
    """
    place = example.span
    if example.error == "SRV" or (example.error == "PRV" and example.other is None):
        place = example.call
    elif example.error == "PRV":
        mine = (each for each in reversed(example.events) if (each.process, each.event) == (example.process, "send"))
        place = next((each.span for each in mine if each.peer == example.other), example.call)
    return place.within(program.file)


def text_at(program: ContractProgram, span: Span) -> str:
    """Return what stands in the program at a place, on one line; '' if that is not in the program."""
    if span == NO_SPAN or span.file not in ("", program.file):
        return ""
    return one_line(program.source[span.start : span.end], 100)


def bounds_text(program: ContractProgram, contract: Contract) -> str:
    """Return the inputs that a function's own check looks at: its `bounds` clauses as they are written, without the word."""
    found = (each.text or text_at(program, each.span).removeprefix("bounds").removesuffix(";") for each in contract.bounds)
    return "; ".join(each.strip() for each in found)


def first_violation(answer: FunctionAnswer) -> ProcsAnswer | None:
    """Return the answer with the counterexample for the fewest processes, None if there is none."""
    return next((each for each in answer.answers if each.counterexample is not None), None)


def reasons_of(answer: FunctionAnswer) -> list[str]:
    """Return why it is not known what holds, each reason once with the numbers of processes."""
    reasons = dict.fromkeys(each.reason for each in answer.answers if each.reason)
    found = [
        f"n = {procs_ranges([each.procs for each in answer.answers if each.reason == said])}: {said}" for said in reasons
    ]
    every = answer.every
    return [*found, f"every n: {every.reason}"] if every is not None and every.reason else found


def procs_text(answer: FunctionAnswer) -> str:
    """Return the numbers of processes that the verdict of a function is about."""
    found = procs_ranges([each.procs for each in answer.answers if each.verdict == answer.verdict])
    if answer.every is None or answer.every.verdict != answer.verdict:
        return found
    return "every" if answer.verdict == "VERIFIED" or not found else f"{found}, every"


_PROVED: Final[Mapping[ProvedInputs, str]] = {
    "all": "all inputs that meet `requires`",
    "kinds": "all inputs of the kinds in `bounds`",
    "bounds": "inputs within the bounds",
}


def every_text(every: EveryProcsAnswer | None) -> list[str]:
    """Return what a proof for every number of processes is about; nothing if there is none."""
    if every is None or every.inputs is None:
        return []
    most = "" if every.most is None else f" up to {every.most:,}, the length of the longest array"
    return [f"every n{most}: {_PROVED[every.inputs]}"]


def violation_line(program: ContractProgram, function: str, found: ProcsAnswer, example: Counterexample) -> str:
    """Return the violation in one sentence."""
    said = f"{function}, n = {found.procs}: {example.error}, {CLASSES[example.error]}"
    place = main_place(program, example)
    where = "" if place == NO_SPAN or example.error == "DL" else f"line {place.line}: "
    contract = program.contract(function)
    begins = "" if contract is None or contract.loop is None else f"; {AT_A_HEAD}"
    return f"{said}: {where}{what_of(example)}{begins}"


def what_of(example: Counterexample) -> str:
    """Return what is wrong, with the names that processes have in charts."""
    return with_chart_names(example.text) or example.clause


def with_chart_names(text: str) -> str:
    """Return a text about processes with the names that they have in charts."""
    return _PROCESS.sub(lambda found: name_of(int(found[1])), text)
