"""The rules of the SARIF report: what can be said of a program, with the help that code scanning shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` is for people, `help` is Markdown; `precision` is what GitHub sorts by."""

    name: str
    level: Level
    short: str
    full: str
    help: str
    precision: Literal["very-high", "high", "medium"] = "very-high"
    tags: tuple[str, ...] = ("rdma", "concurrency")


RULES: Final[Mapping[str, Rule]] = {
    "not-robust": Rule(
        "NotRobust",
        "error",
        "RDMA hardware can run the program in a way that sequential consistency forbids",
        "There is a trace that RDMA allows and sequential consistency does not, confirmed by the axioms of the model. "
        "Network cards read and write memory later than the program says and partly in another order.",
        "The steps of the run are attached, each where it takes effect, and then the cycle that no sequentially consistent "
        "execution has.\n\nKeep the order that the hardware broke:\n\n"
        "- **poll** an operation before its source word is written again or its result is read;\n"
        "- a poll of a **put** tells only that it was issued: to know that it arrived, **get** a word of the same node over "
        "the same queue pair and poll that too;\n"
        "- a **remote fence** starts later operations of the queue pair after earlier gets and the reads of earlier puts.",
    ),
    "unexpected-robust": Rule(
        "UnexpectedRobust",
        "warning",
        "The program is robust although its `expect` line says it is not",
        "The search was exhausted without finding a violation; the `expect` line says otherwise.",
        "Correct the `expect` line, or find out what change of the program removed the reordering it is about.",
    ),
    "no-expectation": Rule(
        "NoExpectation",
        "warning",
        "The program has no `expect` line",
        "With `--expect`, every program must say which verdict is expected.",
        "Add `expect robust` or `expect not robust`.",
    ),
    "undecided": Rule(
        "Undecided",
        "warning",
        "A limit was reached before the program was decided",
        "Neither a violation nor a proof that there is none was found within the limits.",
        "Give it more time, memory or states (`--timeout`, `--memory`, `--max-states`), or make the program smaller.",
    ),
    "fault": Rule(
        "ReachableFault",
        "warning",
        "An execution leaves the domain or an array, divides by zero, or fails an assertion",
        "Some execution reaches this statement with values for which it has no meaning.",
        "Widen the `domain`, guard the statement, or correct what leads to these values.",
        precision="high",
        tags=("rdma", "correctness"),
    ),
    "invalid-program": Rule(
        "InvalidProgram",
        "error",
        "The program is not well-formed",
        "The text is not a program of the `.rdma` language.",
        "Correct the program; `rdma-robust fmt` shows how the text was understood.",
        tags=("rdma", "syntax"),
    ),
    "program-warning": Rule(
        "ProgramWarning",
        "note",
        "The program has a part without effect",
        "The program is well-formed, and something in it is likely not meant.",
        "See the message.",
        precision="high",
        tags=("rdma", "syntax"),
    ),
}
