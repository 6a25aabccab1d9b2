"""The machine of RDMA as deployed and its SC machine: the same outcomes as the axioms, and rules that each matter.

The axioms know nothing of store buffers, pipes, locks of words or receive queues, and the machine nothing of relations; they
share the event table and the order tables. `tests/support/card_rules.py` has the card's rules without the tables.

More than 400 lines: one table of what every cell does to the machine, and its readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice, product
from random import Random
from typing import Any, Final

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model, rdma
from rdma_robust.semantics.axioms import rdma_violation
from rdma_robust.semantics.kinds import NIC_TYPES, SENT_TYPES, Kind, as_variant
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines import queues
from rdma_robust.semantics.machines.chosen import is_deployed, machine_of, sc_machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import CardMachine
from rdma_robust.semantics.machines.machine import FinalState, state_names
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.requests import WaitRule, kind_bits, nic_rules
from rdma_robust.semantics.machines.run_history import history
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.wellformed import check_well_formed
from tests.conftest import ROOT
from tests.support.card_rules import may_happen
from tests.support.random_deployed import FAMILIES, mutants, named, named_texts, random_deployed
from tests.support.random_programs import SMALL, random_program
from tests.support.shares import chunks, share

Case = tuple[Program, Model]


@cache
def all_named() -> tuple[tuple[Program, Model, frozenset[FinalState]], ...]:
    """The named programs with the outcomes of the axioms."""
    return tuple((program, model, axiomatic_outcomes(program, model).rdma) for program, model in named())


def same_outcomes(cases: Iterable[Case], *, whole: bool = False) -> int:
    """Compare both machines with the axioms; with `whole` also what is reduced with what is not. Return how many programs
    have a complete run."""
    return sum(complete for complete in compared(cases, Limits(), whole=whole))


def compared(cases: Iterable[Case], limits: Limits, *, whole: bool) -> Iterator[bool]:
    """Yield for each program that the machine can explore within the limits whether it has a complete run."""
    for program, model in cases:
        machine, sc = DeployedMachine(program, model), ScMachine(program)
        found, under_sc = explore(machine, limits), explore(sc, Limits())
        if found.cut is not None:
            continue
        axioms = axiomatic_outcomes(program, model)
        assert found.finals == axioms.rdma, f"{program.file}\n{program.source}"
        assert under_sc.finals == axioms.sc, f"{program.file}\n{program.source}"
        if whole:
            for one, reduced in ((machine, found), (sc, under_sc)):
                every = explore(one, Limits(states=20_000), reduce=False)
                if every.cut is None:
                    assert every.finals == reduced.finals, program.source
                    assert set(every.faults) == set(reduced.faults), program.source
                    assert bool(every.stuck) == bool(reduced.stuck), program.source
        yield bool(axioms.rdma)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.ci)])
def test_named_programs_end_as_the_axioms_say(whole: bool) -> None:
    assert same_outcomes(((p, m) for p, m, _ in all_named()), whole=whole) > 70


@pytest.mark.parametrize("order", ["default", "multipath", "relaxed"])
def test_a_message_may_pass_one_to_another_thread_that_waits_for_its_buffer(order: str) -> None:
    program = load_program((ROOT / "tests/agreement/messages/passes-a-waiting-message.rdma").read_text(), "passes")
    model = Model(order=order)
    assert same_outcomes([(program, model)])
    assert len(axiomatic_outcomes(program, model).rdma) == (1 if order == "default" else 2)


@pytest.mark.ci
@pytest.mark.parametrize("family", [*FAMILIES, "accumulated", "operands"])
def test_random_programs_end_as_the_axioms_say(family: str) -> None:
    assert same_outcomes(random_deployed(family, range(6)))


def test_mutations_end_as_the_axioms_say() -> None:
    assert same_outcomes(mutants(range(12)), whole=True)


@pytest.mark.parametrize("chunk", chunks(1, 200))
@pytest.mark.parametrize("family", [*FAMILIES, "accumulated", "operands", "mutations"])
def test_many_programs_end_as_the_axioms_say(family: str, chunk: int) -> None:
    """150 programs of every family a chunk, of at most 5,000 states: one chunk in .ci/run, 200 in `make test-long`."""
    seeds = range(300 * (chunk + 4), 300 * (chunk + 5))
    cases = mutants(seeds) if family == "mutations" else random_deployed(family, seeds)
    assert sum(1 for _ in islice(compared(cases, Limits(states=5_000), whole=chunk == 6), 150)) == 150


def test_programs_without_anything_deployed_end_as_on_the_fast_machines() -> None:
    for seed in range(12):
        program = load_program(random_program(Random(seed), SMALL), "old.rdma")
        assert not is_deployed(program, RDMA)
        assert type(machine_of(program)) is RdmaMachine
        for ordered in (False, True):
            fast = explore(RdmaMachine(program, rdma(ordered)), Limits())
            general = explore(DeployedMachine(program, rdma(ordered)), Limits())
            assert (fast.finals, bool(fast.stuck)) == (general.finals, bool(general.stuck))


def test_the_fast_machine_refuses_what_it_does_not_know() -> None:
    for name in ("two-buffers", "lock-release-cas"):
        with pytest.raises(InternalError, match="does not know all of its operations"):
            RdmaMachine(load_program(named_texts()[name], name))
    with pytest.raises(InternalError, match="or its hardware"):
        RdmaMachine(load_program("node A { x }\nthread T on A { x = 1 }", "t"), Model(cpu="tso"))


# ---- the rules of the card, in words and by the tables


def queues_of(machine: DeployedMachine, rng: Random) -> Iterator[tuple[int, queues.Queue]]:
    """Yield the queue pairs of a random run."""
    state = machine.initial()[0].state
    while True:
        for t, thread in enumerate(state.threads):
            yield from ((t, queue) for queue in thread.queues if queue)
        moves = machine.successors(state)
        if not moves:
            return
        state = rng.choice(moves).state


Seen = tuple[DeployedMachine, int, queues.Queue, set[tuple[int, int]]]


def seen_queues(cases: Iterable[Case]) -> Iterator[Seen]:
    """Yield the queue pairs of random runs of the programs, with what may happen there in words."""
    for program, model in cases:
        machine = DeployedMachine(program, model)
        yield from ((machine, t, q, may_happen(machine, t, q)) for t, q in queues_of(machine, Random(1)))


def disagree(seen: Iterable[Seen], rules: Mapping[Kind, WaitRule] | None = None) -> bool:
    """Return whether a queue pair waits for something else by the tables, or by `rules`, than by the words."""
    return any(set(queues.ready(m.requests[t], rules or m.rules, queue, m.placed)) != words for m, t, queue, words in seen)


def cases_of_order(order: str) -> list[Case]:
    """Programs whose queue pairs have everything under this order, few enough for a test."""
    found = [(p, m) for p, m, _ in all_named() if m.order == order]
    family = {"default": "mixed", "accumulate": "accumulated"}.get(order, "weaker")
    return found + [(p, m) for p, m in random_deployed(family, range(40)) if m.order == order and not m.ordered_reads]


@pytest.mark.parametrize("order", ["default", "multipath", "relaxed", "accumulate"])
def test_the_card_waits_for_what_the_words_say(order: str) -> None:
    seen = list(seen_queues(cases_of_order(order)))
    assert not disagree(seen)
    rules = seen[0][0].rules
    wanted = set(NOTICED[order].split(", "))
    unnoticed = [what for what, changed in without_cells(rules) if what in wanted and not disagree(seen, changed)]
    assert not unnoticed and wanted <= {what for what, _ in without_cells(rules)}


def without_cells(rules: Mapping[Kind, WaitRule]) -> Iterator[tuple[str, Mapping[Kind, WaitRule]]]:
    """Yield rules without one thing that an event waits for: a cell of the order tables, of sends too, or a pair of nfo."""
    for later, earlier in product(NIC_TYPES, NIC_TYPES):
        waits, bit = rules[later], kind_bits(())[earlier]
        if (waits.issued | waits.done | waits.on_word) & bit:
            gone = bit | (kind_bits(())[as_variant(earlier)] if earlier in SENT_TYPES else 0)
            kinds = (later, *((as_variant(later),) if later in SENT_TYPES else ()))
            changed = {kind: waits_for_all_but(rules[kind], gone) for kind in kinds}
            yield f"{earlier.value} before {later.value}", {**rules, **changed}
        if waits.flushed & bit and later not in (EventType.NRW, EventType.NLW, EventType.NAW):
            yield f"{later.value} flushes {earlier.value}", {**rules, later: waits._replace(flushed=waits.flushed & ~bit)}


def waits_for_all_but(waits: WaitRule, gone: int) -> WaitRule:
    return waits._replace(issued=waits.issued & ~gone, done=waits.done & ~gone, on_word=waits.on_word & ~gone)


NOTICED: Final[Mapping[str, str]] = {
    "default": (
        "nlR before nlR, nlR flushes nlW, nF before nlR, nrW before nrW, naW before nrW, nrW before nrR, naW before nrR, "
        "nlW before nlW, naW before nlW, nrW before nF, nlW before nF, nrW before naR, nF before naR, naW before naR, "
        "nrW before nA"
    ),
    "multipath": "nlR before nlR, naW before nlW, nrW before naR, nF before naR",
    "relaxed": (
        "nlR before nlR, nF before nlR, nlR before nrW, nF before nrR, naW before nlW, nrW before nF, nF before nF, "
        "nlR before naR"
    ),
    "accumulate": "naR before naR, naW before naR, nA before nA, nF before naR",
}
"""Cells without which a queue pair of these few programs waits for other things; others imply most of the rest."""


@pytest.mark.long
def test_long_the_card_waits_for_what_the_words_say() -> None:
    for family in (*FAMILIES, "accumulated"):
        assert not disagree(seen_queues(random_deployed(family, range(1_000))))
    assert not disagree(seen_queues(mutants(range(1_000))))


# ---- rules of the machine left out one by one


def outcomes_differ() -> bool:
    """Return whether the machine, as it is now, has other outcomes than the axioms on a named program."""
    return any(_finals(program, model) != axioms for program, model, axioms in all_named())


def _finals(program: Program, model: Model) -> frozenset[FinalState] | None:
    """The outcomes of the machine, None where a rule that it lacks leads it astray."""
    try:
        return explore(DeployedMachine(program, model), Limits(states=20_000), reduce=False).finals
    except (AssertionError, IndexError, StopIteration):
        return None


def unbuffered(kind: str) -> Callable[..., Any]:
    """The store buffer without entries of one kind: they take effect at once."""
    through = DeployedMachine._behind_stores

    def behind_stores(self: DeployedMachine, state: Any, t: int, entry: Any) -> Any:
        command = self.codes[t].commands[entry.command]
        mine = "request" if command.requests else "receive" if command.receives >= 0 else "store"
        return self._out(state, t, entry) if mine == kind else through(self, state, t, entry)

    return behind_stores


def unlocked(self: CardMachine, state: Any, t: int, at: Any) -> Any:
    move = _AT_ONCE(self, state._replace(locked=()), t, at)
    return None if move is None else move._replace(state=move.state._replace(locked=()))


def any_completion(requests: Any, queue: Any) -> Any:
    """A poll that takes the oldest completion that is there, whatever comes before it."""
    for place, posted in enumerate(queue):
        if not posted.polled and queues.is_complete(requests, posted):
            return (*queue[:place], posted._replace(polled=True), *queue[place + 1 :])
    return None


def of_all_words(*about: Any) -> Mapping[Kind, WaitRule]:
    return {kind: waits._replace(done=waits.done | waits.on_word) for kind, waits in nic_rules(*about).items()}


_AT_ONCE = CardMachine._at_once
MUTATIONS: Final[dict[str, tuple[Any, str, Any]]] = {
    "a thread does not see its buffered stores": (DeployedMachine, "_seen", lambda _self, state, _t, _cell: state.memory),
    "stores do not wait in the store buffer": (DeployedMachine, "_behind_stores", unbuffered("store")),
    "requests overtake stores": (DeployedMachine, "_behind_stores", unbuffered("request")),
    "receives overtake stores": (DeployedMachine, "_behind_stores", unbuffered("receive")),
    "atomics do not lock their word": (CardMachine, "_at_once", unlocked),
    "a poll does not wait for earlier operations": ("rdma_robust.semantics.machines.deployed", "after_poll", any_completion),
    "completions give no order": (
        "rdma_robust.semantics.machines.deployed",
        "with_order",
        lambda _before, queue, _waiting: queue,
    ),
    "completions put what was posted before the poll in order": (
        "rdma_robust.semantics.machines.deployed",
        "with_order",
        lambda before, queue, _waiting: queues.with_order(before, queue, -len(queue)),
    ),
    "atomics of one word overtake each other": (WaitRule, "on_word", 0),
    "atomics wait for those of other words": ("rdma_robust.semantics.machines.deployed_card", "nic_rules", of_all_words),
    "receive completions count early under weaker orders": (queues, "BEFORE_RECEIVE_COMPLETIONS", frozenset()),
    "messages take the youngest buffer": (
        "rdma_robust.semantics.machines.inboxes.Inbox",
        "offered",
        lambda self, cell: self._replace(posted=(cell, *self.posted)),
    ),
}


@pytest.mark.ci
@pytest.mark.parametrize("rule", share(MUTATIONS))
def test_a_named_program_notices_a_rule_that_is_left_out(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, changed = MUTATIONS[rule]
    monkeypatch.setattr(*((f"{owner}.{name}",) if isinstance(owner, str) else (owner, name)), changed)
    assert outcomes_differ()


def test_a_named_program_notices_an_atomic_or_mfence_that_does_not_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    run = DeployedMachine.run
    monkeypatch.setattr(DeployedMachine, "run", lambda self, s, t, c: run(self, s, t, replace_fences(c)))
    assert outcomes_differ()


def replace_fences(command: Any) -> Any:
    return replace(command, fences=False)


# ---- runs, and what is said of states


@pytest.mark.ci
def test_runs_of_the_machine_are_traces_that_the_axioms_accept() -> None:
    rng = Random("walks")
    traces = 0
    cases = [(p, m) for p, m, _ in all_named()] + [case for f in FAMILIES for case in random_deployed(f, range(4))]
    for program, model in cases:
        machine = DeployedMachine(program, model, numbered=True)
        run = [machine.initial()[0]]
        while moves := machine.successors(run[-1].state):
            run.append(rng.choice(moves))
        past = history(machine, run)
        if past.is_prefix():
            trace = trace_of_order([event for _, event in past.events()], program, model)
            check_well_formed(program, trace, model)
            assert rdma_violation(trace, model) is None, program.source
            traces += 1
    assert traces > 60


MESSAGES: Final = """
node A { x = 3 }
node B { b, c }
thread T on A { send x to U; poll B }
thread U on B { posted b from T
  rpoll T
  recv c from T }
"""


def test_a_state_says_what_is_under_way() -> None:
    machine = DeployedMachine(load_program(MESSAGES, "t"))
    state = machine.initial()[0].state
    seen = [machine.describe(state)]
    while moves := machine.successors(state):
        state = moves[0].state
        seen.append(machine.describe(state))
    lines = {line for lines in seen for line in lines}
    assert "U receives from T: posted: [B.b]" in lines
    assert "T -> B: pipe: [send x to U (read 3)] unpolled: [send x to U]" in lines
    assert "T -> B: wbR: [B.b = 3]" in lines or "T -> B: wbR: [B.b = 3] unpolled: [send x to U]" in lines
    assert "U receives from T: arrived: [0]" in lines
    assert machine.is_final(state)
    assert dict(zip(state_names(machine.program), machine.final(state), strict=True))["B.b"] == 3


def test_a_store_buffer_and_a_locked_word_are_said() -> None:
    text = """
    node A { x, y }
    node B { l, old }
    thread T on A { x = 1; get y = cas(B.l, 0, 2); poll B }
    """
    program = load_program(text, "t")
    machine = DeployedMachine(program, Model(cpu="tso"))
    lines = set()
    todo = [machine.initial()[0].state]
    while todo:
        state = todo.pop()
        lines |= set(machine.describe(state))
        todo += [move.state for move in machine.successors(state)]
    assert "T store buffer: [A.x = 1, get y = cas(B.l, 0, 2)]" in lines
    assert "locked by atomics: B.l" in lines


def test_a_receive_beyond_the_depth_waits_and_is_reported() -> None:
    text = "node A { x }\nnode B { b }\nthread T on A { x = 1 }\nthread U on B { recv b from T; recv b from T }"
    program = load_program(text, "t")
    for depth, ends in ((1, False), (2, True)):
        for machine in (machine_of(program, RDMA, recv_depth=depth), sc_machine_of(program, recv_depth=depth)):
            found = explore(machine, Limits())
            assert bool(found.finals) is ends
            assert [fault.kind for fault in found.faults] == ([] if ends else ["receive queue full"])


def test_a_message_without_a_buffer_is_reported_by_both_machines() -> None:
    text = "node A { x }\nnode B { b }\nthread T on A { send x to U }\nthread U on B { posted b from T }"
    for posted, faults in ((text, []), (text.replace("posted b from T", "skip"), ["rnr"])):
        program = load_program(posted, "t")
        for machine in (machine_of(program), sc_machine_of(program)):
            assert [fault.kind for fault in explore(machine, Limits()).faults] == faults


def test_bits_are_those_of_the_card() -> None:
    assert set(kind_bits(())) & set(EventType) == {
        EventType.NLR,
        EventType.NRW,
        EventType.NRR,
        EventType.NLW,
        EventType.NF,
    } | {
        EventType.NAR,
        EventType.NAW,
        EventType.NA,
        EventType.NO,
    }
