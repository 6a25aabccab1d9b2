"""What is said of contracts, of how they are violated, and of the values in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.contracts.contract_answers import Counterexample, FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_terms import Value
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
}
"""The classes of errors in words."""


_PROCESS: Final = re.compile(r"\bprocess (\d+)\b")


def name_of(process: int) -> str:
    """Return what a process is called in charts and tables."""
    return f"P{process}"


def shown_value(value: Value) -> str:
    """Return a number, or an array in brackets."""
    return str(value) if isinstance(value, int) else f"[{', '.join(map(shown_value, value))}]"


def ranges(numbers: Sequence[int]) -> str:
    """Return numbers of processes, `1..4` for all of a range."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in found)


def place_in(program: ContractProgram, span: Span) -> Span:
    """Return a place in the text of the program, for one in a library procedure that of its call."""
    return next((each for each in (span, *span.chain()) if each.file in ("", program.file)), span)


def text_at(program: ContractProgram, span: Span) -> str:
    """Return what stands in the program at a place, on one line; '' if that is not in the program."""
    if span == NO_SPAN or span.file not in ("", program.file):
        return ""
    return one_line(program.source[span.start : span.end], 100)


def bounds_text(program: ContractProgram, contract: Contract) -> str:
    """Return the inputs that a function's own check looks at: its `bounds` clauses as they are written, without the word."""
    found = (text_at(program, each.span).removeprefix("bounds").removesuffix(";").strip() for each in contract.bounds)
    return "; ".join(found)


def first_violation(answer: FunctionAnswer) -> ProcsAnswer | None:
    """Return the answer with the counterexample for the fewest processes, None if there is none."""
    return next((each for each in answer.answers if each.counterexample is not None), None)


def reasons_of(answer: FunctionAnswer) -> list[str]:
    """Return why it is not known what holds, each reason once with the numbers of processes."""
    reasons = dict.fromkeys(each.reason for each in answer.answers if each.reason)
    return [f"n = {ranges([each.procs for each in answer.answers if each.reason == said])}: {said}" for said in reasons]


def violation_line(program: ContractProgram, function: str, found: ProcsAnswer, example: Counterexample) -> str:
    """Return the violation in one sentence."""
    said = f"{function}, n = {found.procs}: {example.error}, {CLASSES[example.error]}"
    place = place_in(program, example.span)
    where = "" if place == NO_SPAN else f"line {place.line}: "
    return f"{said}: {where}{what_of(example)}"


def what_of(example: Counterexample) -> str:
    """Return what is wrong, with the names that processes have in charts."""
    return _PROCESS.sub(lambda found: name_of(int(found[1])), example.text) or example.clause
