"""Rules of requests and of sends that wait, each switched off: a small function is judged otherwise, or its run is refused.

Not among them, as possibly redundant: that a match comes after those of earlier messages of its channel that the receive
accepts. Where such a message would go to an earlier receive instead, the same is received without it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, Final

import pytest

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun import confirming, rerun_events
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.contracts.runs import request_steps, run_judge, run_state
from rdma_robust.contracts.runs.runs_engine import RunsCheck
from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits
from tests.support.contracts_oracle import contract_rules, local_steps, pending
from tests.support.contracts_oracle.interleavings import searched
from tests.support.shares import share
from tests.support.switched import switched

FUNCTIONS: Final = {
    "told": """quiet from \\others if PID == 0; waitsfor 2 if PID == 1; | reg v, w; req h
if PID == 0 { h = irecv v from any; recv w from 1; send 1 to 1 tag 5; wait h }
if PID == 1 { send 1 to 0; recv v from 0 tag 5 }
if PID == 2 { send 1 to 0 }""",
    "answered": """| reg v; req h
if PID == 0 { h = irecv v from any; wait h; send 1 to 1 tag 3 }
if PID == 1 { send 1 to 0; recv v from 0 tag 3 }""",
    "one too many": """| reg v; req h
if PID == 0 { h = irecv v from any; wait h }
if PID > 0 { send 1 to 0 }""",
    "two tags": """ensures PID == 0 ==> \\result == 7; | reg v, w; req h, g
if PID == 0 { h = irecv v from 1 tag 1; g = irecv w from 1 tag 2; wait g; wait h }
if PID == 1 { send 8 to 0 tag 2; send 7 to 0 tag 1 }
return v""",
    "left": """| reg v; req h
if PID == 0 { h = irecv v from 1 }""",
    "an array": """| reg v; req h[2]
if PID == 0 { h[0] = irecv v from 1; h[1] = irecv v from 1; wait h }
if PID == 1 { send 1 to 0; send 2 to 0 }""",
    "both send": """| reg v
if PID < 2 { send 1 to 1 - PID; recv v from 1 - PID }""",
    "sender waits": """waitsfor 0 if PID == 1; | reg v
if PID == 0 { recv v from 1 }
if PID == 1 { send 1 to 0 }""",
    "request of a send": """waitsfor 0 if PID == 1; | reg v; req h
if PID == 0 { recv v from 1 }
if PID == 1 { h = isend 1 to 0; wait h }""",
    "one is taken": """| reg v; req h, g
if PID == 0 { recv v from 1 }
if PID == 1 { h = isend 1 to 0; g = isend 1 to 2; wait g; wait h }""",
}

Rule = tuple[ModuleType, str, str, str]
"""A module, what stands there, what is put there instead, and a function that notices it, `zero` behind it."""

RUNS: Final[tuple[Rule, ...]] = (
    (request_steps, "each.accepts(source, receive.port, message.tag)):", "False):", "told"),
    (request_steps, "if not any(before < number and", "if not any(False and", "told"),
    (request_steps, "if receive.tag in (None, each.tag)), None)", "if True), None)", "two tags"),
    (request_steps, "and not after >> bit(run, process, number) & 1", "", "answered"),
    (request_steps, "if any(receive.tag in (None, each.tag) for each in messages):", "if False:", "one too many"),
    (request_steps, "1 << bit(run, process, number)", "0", "answered"),
    (request_steps, "clock = joined_clock(ticked(actor.clock, process), got.clock)", "clock = ticked(actor.clock, process)",
     "told"),
    (request_steps, "clock = joined_clock(ticked(actor.clock, process), found.clock)",
     "clock = ticked(actor.clock, process)", "sender waits zero"),
    (request_steps, "return -(sum(actor.sent.values()) + 2) if rendezvous else BUFFERED", "return BUFFERED",
     "both send zero"),
    (request_steps, "joined_clock(receive.clock, message.clock)", "message.clock", "sender waits zero"),
    (request_steps, "elif state < BUFFERED:", "elif False:", "both send zero"),
    (run_state, "self.cursor + 1 < len(slot)", "False", "an array"),
    (run_judge, "if not run.actors[process].asked.is_idle:", "if False:", "left"),
    (run_judge, "each.status in _INSIDE", 'each.status in ("waits", "calls", "halted")', "both send zero"),
)  # fmt: skip

EXPLICIT: Final[tuple[Rule, ...]] = (
    (contract_rules, "if send is None or not send.got:", "if send is None:", "sender waits zero"),
    (contract_rules, "event.pending = event.pending.offer(*request, Offered(ticket, to, port, tag, value))",
     "event.pending = event.pending.set(*request, SENT)", "both send zero"),
    (contract_rules, "if ticket is not None:", "if False:", "sender waits zero"),
    (local_steps, "if state < 0:", "if False:", "request of a send zero"),
    (pending, "if each.ticket == ticket else each", "if True else each", "one is taken zero"),
)  # fmt: skip


@cache
def _program(named: str) -> tuple[ContractProgram, range]:
    name = named.removesuffix(" zero")
    clauses, _, body = FUNCTIONS[name].partition("|")
    body = body.strip().replace("; req", "\nreq")
    program = load_contracts(
        f"fun f() contract collective {{ assigns \\nothing; {clauses} }} {{\n{body}\n}}\n", f"{name}.mp"
    )
    return replace(program, buffer="infinite" if name == named else "zero"), range(2, 4)


@cache
def _right(named: str) -> tuple[frozenset[str], ...]:
    program, procs = _program(named)
    return tuple(frozenset(searched(program, "f", each, Limits()).counterexamples) for each in procs)


def _by_runs(named: str) -> tuple[frozenset[str], ...]:
    """Return the classes that runs show, each of which runs again. Raises InternalError."""
    program, procs = _program(named)
    found = []
    for each in procs:
        check = RunsCheck(program, "f", each, all_classes=True)
        check.answer()
        for example in check.examples.values():
            confirmed(program, "f", example)
        found.append(frozenset(check.examples))
    return tuple(found)


def _by_interleavings(named: str) -> tuple[frozenset[str], ...]:
    """Return the classes that all interleavings show, each of which runs again. Raises InternalError."""
    program, procs = _program(named)
    found = []
    for each in procs:
        shown = searched(program, "f", each, Limits()).counterexamples
        for example in shown.values():
            confirmed(program, "f", example)
        found.append(frozenset(shown))
    return tuple(found)


@pytest.mark.parametrize("name", share([each for name in FUNCTIONS for each in (name, f"{name} zero")], 3))
def test_both_engines_say_the_same(name: str) -> None:
    assert _by_runs(name) == _right(name) == _by_interleavings(name)


@pytest.mark.parametrize(("module", "before", "after", "name"), share(RUNS, 4))
def test_a_rule_of_runs_is_noticed(module: ModuleType, before: str, after: str, name: str) -> None:
    right = _right(name)
    with switched(module, before, after):
        try:
            assert _by_runs(name) != right
        except InternalError:
            return


@pytest.mark.parametrize(("module", "before", "after", "name"), share(EXPLICIT, 4))
def test_a_rule_of_interleavings_is_noticed(module: ModuleType, before: str, after: str, name: str) -> None:
    right = _by_runs(name)
    with switched(module, before, after):
        try:
            assert _by_interleavings(name) != right
        except InternalError:
            return


def _sent_to_nobody() -> tuple[ContractProgram, Counterexample]:
    """Return a run in which a send is complete though the receiver has not even entered."""
    program, _ = _program("sender waits zero")
    message: Any = {"peer": 0, "tag": 0, "value": 1}
    events = (
        VisibleEvent(1, "enter", "f"),
        VisibleEvent(1, "send", **message),
        VisibleEvent(1, "complete", **message),
        VisibleEvent(1, "exit", "f"),
    )
    (clause,) = program.contracts[0].paths
    return program, Counterexample("PGV", ({}, {}), events, 1, 0, "waitsfor", clause.span, ending=((), ()))


def test_a_send_that_nobody_takes_is_not_complete() -> None:
    program, forged = _sent_to_nobody()
    with pytest.raises(InternalError, match="nobody has got the message"):
        confirmed(program, "f", forged)
    with switched(rerun_events, "if matches.has_got(each, at)}", "}"):
        assert confirmed(program, "f", forged)


def test_who_waits_for_ever_is_known() -> None:
    program, _ = _program("both send zero")
    (found,) = searched(program, "f", 2, Limits()).counterexamples.values()
    confirmed(program, "f", found)
    with switched(confirming, "return not any(to == me and", "return any(to == me and"), pytest.raises(InternalError):
        confirmed(program, "f", found)
