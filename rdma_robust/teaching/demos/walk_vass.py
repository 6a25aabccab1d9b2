"""The walk-through of `demo vass`: a net or VASS as an RDMA program that is robust iff no target is covered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rdma_robust.counters.explicit import ExplicitVass, to_net
from rdma_robust.counters.explicit_json import read_vass_json, vass_json
from rdma_robust.errors import InternalError
from rdma_robust.hardness.from_vass import Encoding, system_of_net, system_of_vass, vass_program
from rdma_robust.language.flow.cfg import Poll, Put
from rdma_robust.limits import Limits
from rdma_robust.outcome import Verdict
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import CoverResult, Net
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.teaching.demos.walk import (
    Block,
    CodeListing,
    Paragraph,
    WalkSection,
    WalkTable,
    Walkthrough,
    decide_generated,
    sizes,
    told_run,
    try_next,
)

EXAMPLE = """# two coins buy a ticket, a ticket can be given back for three coins: two tickets at once?
vars
  coin ticket

rules
  coin >= 2 -> coin' = coin - 2, ticket' = ticket + 1;
  ticket >= 1 -> ticket' = ticket - 1, coin' = coin + 3;

init
  coin = 2, ticket = 0

target
  ticket >= 2
"""
EXAMPLE_FILE = "tickets.spec"
FILE = "vass.rdma"
LONGEST_TABLE = 30
LONGEST_LISTING = 200
"""Lines of an input that is shown."""


@dataclass(frozen=True, slots=True)
class VassQuestion:
    """A net or VASS as it was read, with the net whose coverability is asked about."""

    text: str
    file: str
    net: Net
    vass: ExplicitVass | None = None


def read_question(text: str, file: str) -> VassQuestion:
    """Return what is in a `.json` or else `.spec` file. Raises ProgramError."""
    if file.endswith(".json"):
        vass = read_vass_json(text, file)
        return VassQuestion(text, file, to_net(vass), vass)
    return VassQuestion(text, file, read_spec(text, file))


def vass_walk(question: VassQuestion, timeout: float | None = None) -> Walkthrough:
    """Return the walk-through; the engine of nets and the check of the program each have `timeout` seconds.

    Raises SizeLimitError for what does not fit a program, InternalError if the two answers differ.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    known = cover(question.net, Limits(deadline=deadline))
    system = system_of_net(question.net) if question.vass is None else system_of_vass(question.vass)
    encoding = vass_program(system)
    return Walkthrough(
        "vass",
        "A vector addition system as an RDMA program: why robustness is ExpSpace-hard",
        f"rdma-robust demo vass {question.file}" if question.file != EXAMPLE_FILE else "rdma-robust demo vass",
        (
            _theorem(),
            WalkSection("The question", tuple(_asked(question, known))),
            _program(encoding),
            WalkSection("The verdict", tuple(_verdict(question.net, encoding, known, timeout))),
            _try(question),
        ),
    )


def _theorem() -> WalkSection:
    return WalkSection(
        "The theorem",
        (
            Paragraph(
                "Theorem 7.1: robustness of RDMA programs is ExpSpace-complete. That it is so hard is shown with vector "
                "addition systems with states (VASS): a finite control and counters that are never negative. A "
                "transition adds to counters, or takes from them if there is enough to take. It cannot ask whether a "
                "counter is 0. Whether a given control state can be reached with at least so much in the counters is "
                "the coverability problem, and needs exponential space (Lipton 1976, Rackoff 1978). A Petri net is a "
                "VASS with one control state: places are its counters, tokens their values."
            ),
            Paragraph(
                "The proof turns a VASS into a program that is not robust if and only if the VASS covers its target. "
                "So whoever decides robustness decides coverability, and cannot be much faster than that."
            ),
        ),
    )


def _asked(question: VassQuestion, known: CoverResult) -> Iterator[Block]:
    text = vass_json(question.vass) if question.vass is not None else question.text
    if text.count("\n") <= LONGEST_LISTING:
        yield CodeListing(f"The file {question.file}:", "json" if question.vass is not None else "spec", text)
    net = question.net
    if question.vass is None:
        sizes_ = f"{len(net.places):,} places, {len(net.transitions):,} rules"
    else:
        vass = question.vass
        sizes_ = f"{len(vass.states):,} control states, {len(vass.counters):,} counters, {len(vass.edges):,} transitions"
    yield Paragraph(f"It has {sizes_} and {len(net.targets):,} target{'s' * (len(net.targets) != 1)}. {_known(known)}")
    if known.run is not None and len(known.run.transitions) <= LONGEST_TABLE:
        fired = groupby(net.transitions[t].name for t in known.run.unrolled())
        rows = [(name, str(sum(1 for _ in group))) for name, group in fired]
        if 0 < len(rows) <= LONGEST_TABLE:
            yield WalkTable("A firing sequence that covers it:", ("rule", "times"), tuple(rows))


def _known(known: CoverResult) -> str:
    if known.run is not None:
        return f"The engine for nets (`rdma-robust cover`) says that it can be covered, in {known.run.length:,} steps."
    if known.invariant is not None:
        return "The engine for nets (`rdma-robust cover`) says that it cannot be covered, and has a proof."
    return f"The engine for nets (`rdma-robust cover`) has no answer: the limit of {known.cut} was reached."


def _program(encoding: Encoding) -> WalkSection:
    return WalkSection(
        "The program",
        (
            Paragraph(
                "One thread simulates the system. Each counter is a node, and its value is the number of puts towards "
                "that node that no poll has taken yet. To add 1 is a put. To subtract 1 is a poll, which waits for a "
                "completion and takes it: if there is none left, it waits forever, as the transition would. Nothing in "
                "the program can ask whether a counter is 0, and nothing can in a VASS."
            ),
            Paragraph(
                "The control state, if there are several, is the variable `state`. A loop chooses a rule, any number of "
                "times: look at the state, take, give, set the state. A rule that asks for more than it takes polls all "
                "it asks for and puts the rest back. A place that may start with any number begins with a loop of puts."
            ),
            Paragraph(
                "Up to the end of the loop the program is robust. Nobody ever reads the words that are put, so it does "
                "not matter when they arrive; and the puts to one node share a queue pair, which keeps their order. "
                "Behind the loop the thread polls for what the target asks, and comes to two lines that are not robust: "
                "`put Gadget.z = g`, then `g = 1`. The NIC may read `g` after the thread has written it. Under "
                "sequential consistency it reads it before."
            ),
            CodeListing("The program:", "rdma", encoding.text, FILE),
        ),
    )


def _verdict(net: Net, encoding: Encoding, known: CoverResult, timeout: float | None) -> Iterator[Block]:
    outcome = decide_generated(encoding.text, FILE, timeout)
    if outcome.verdict is Verdict.UNKNOWN:
        yield Paragraph(f"The check of the program has no answer: {outcome.reason}.")
        return
    found = outcome.verdict is Verdict.NOT_ROBUST
    if (found and known.invariant is not None) or (not found and known.run is not None):
        raise InternalError(f"{net.name}: the program is {outcome.verdict.value}, which is not what the net does")
    answer = "not robust: the target can be covered" if found else "robust: the target cannot be covered"
    agrees = "" if known.cut else " The engine for nets, which knows nothing of RDMA, says the same."
    yield Paragraph(f"The program is {answer}. The search saw {sizes(outcome)}.{agrees}")
    if not found:
        yield Paragraph(
            "There is no run to show. The thread can go round its loop in every way the system can, and never has the "
            "completions that the polls behind the loop wait for."
        )
        return
    yield told_run(outcome, "The run, up to the violation:", lambda moves: _notes(encoding, moves))
    yield Paragraph(
        "The last step makes the difference: the NIC reads `g` for the put after the thread has written it. Everything "
        "before it can happen under sequential consistency in the same way."
    )


def _notes(encoding: Encoding, moves: Sequence[Move]) -> tuple[str, ...]:
    """Return what the run does for the system: which rule begins with which counters, and what the gadget does."""
    begins = _beginnings(encoding.text)
    counters = {node: 0 for node in encoding.nodes if node is not None}
    notes = []
    for move in moves:
        action = move.action
        op = None if action.step is None else action.step.op
        note = ""
        if action.step is not None and action.verb in (Verb.ISSUE, Verb.POLL, Verb.ACCESS):
            begun = begins.get(action.step.span.line, "")
            values = ", ".join(f"{node} {value}" for node, value in counters.items())
            note = f"{begun}, with {values}." if begun and values else f"{begun}." if begun else ""
        match action.verb, op:
            case Verb.ISSUE, Put(target, _) if target.node in counters:
                counters[target.node] += 1
            case Verb.POLL, Poll(node):
                counters[node] -= 1
            case Verb.ISSUE, Put(target, source) if not source.hidden:
                note = "The gadget: the put is posted, and the NIC has not read `g` yet."
            case Verb.NIC_READ, Put(target, source) if not source.hidden:
                note = f"The NIC reads `g` = {action.read} only now, after the thread has written it."
        notes.append(note)
    return tuple(notes)


def _beginnings(text: str) -> dict[int, str]:
    """Return the line of the first statement of each rule and target, and its name from the comment above."""
    lines = text.split("\n")
    return {
        number + 2: line.strip().removeprefix("// ")
        for number, line in enumerate(lines[:-1])
        if line.startswith(" ") and line.strip().startswith("//")
    }


def _try(question: VassQuestion) -> WalkSection:
    own = question.file if question.file != EXAMPLE_FILE else ""
    return try_next(
        f"demo vass {own} -o {FILE}".replace("  ", " "),
        f"explain {FILE}",
        f"repair {FILE}",
        f"export {FILE} --to spec",
        f"demo vass {FILE}",
        "demo finite",
    )
