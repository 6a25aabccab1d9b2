"""Each place where lanes are told apart, left out: a program of litmus/lanes notices it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from rdma_robust.certify import normal_form
from rdma_robust.certify.thread_reading import CardRequest
from rdma_robust.language.flow.cfg import Flush, Get, ImmPut, InlinePut, Poll, Program, Put, RFence, Send, node_of
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.robustness import event_graph
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.semantics import axioms, connections, event_table
from rdma_robust.semantics.machines import requests, threadcode
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle import candidate, thread_paths
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from tests.support.checker_search import Search, platform_of
from tests.support.left_out import right_answer, search_needs, suite_program
from tests.support.patches import Patch, mutated

Mutants = dict[str, tuple[tuple[Patch, ...], str]]

_FORCED = ThreadRelaxation._forced


def load(name: str) -> Program:
    return suite_program(f"lanes/{name}")


def nameless(*operations: type) -> tuple[Patch, ...]:
    """The event table with what these operations do on a lane done on the queue pair without a name."""
    rows = {each: replace(event_table.TABLE[each], remote=node_of) for each in operations}
    return ((event_table, "TABLE", {**event_table.TABLE, **rows}),)


def _no_lane(_op: object) -> str:
    return ""


def right(name: str) -> str:
    return right_answer(load(name))


# ---- the event table, which everybody looks up


TABLE: Final[Mutants] = {
    "a poll takes completions of the nameless queue pair": (nameless(Poll), "buffer-reused-after-a-shared-poll"),
    "a poll of a lane tells of the nameless queue pair": (nameless(Poll), "flag-polled"),
    "a fence is that of the nameless queue pair": (nameless(RFence), "get-fenced-on-its-lane"),
    "a flush is that of the nameless queue pair": (nameless(Flush), "flag-behind-a-flush"),
    "puts are on the nameless queue pair": (nameless(Put, InlinePut, ImmPut), "flag-on-another-lane"),
    "gets are on the nameless queue pair": (nameless(Get), "flag-flushed"),
    "messages are on the nameless queue pair": (nameless(Send, ImmPut), "message-behind-data"),
}


# ---- the search, with the static filter


def _of_every_lane(self: ThreadRelaxation, now: Any, later: EventEdge) -> bool:
    beta = frozenset(("", kind, word) for _, kind, word in now.beta)
    return _FORCED(self, replace(now, beta=beta), replace(later, remote=later.remote and ""))


SEARCH: Final[Mutants] = {
    "queue pairs are nodes": (((event_graph, "remote_of", node_of),), "flag-flushed-on-the-wrong-lane"),
    "receives are those of all lanes": (((event_graph, "named_lane", _no_lane),), "striped-with-one-notification"),
    "the filter takes lanes for one queue pair": (((ThreadRelaxation, "_forced", _of_every_lane),), "flag-on-another-lane"),
}


@pytest.mark.parametrize("rule", [*TABLE, *SEARCH])
def test_the_search_needs_the_rule(rule: str) -> None:
    patches, name = {**TABLE, **SEARCH}[rule]
    search_needs(patches, partial(load, name))


# ---- the machine


MACHINE: Final[Mutants] = {
    "messages of all lanes are one connection": (
        ((requests, "named_lane", _no_lane), (threadcode, "named_lane", _no_lane), (connections, "named_lane", _no_lane)),
        "message-overtakes-data",
    ),
    **{rule: each for rule, each in TABLE.items() if each[1] not in ("flag-polled", "buffer-reused-after-a-shared-poll")},
    "completions are those of the nameless queue pair": (nameless(Poll), "buffer-reused-after-both-polls"),
}


@pytest.mark.parametrize("rule", MACHINE)
def test_the_machine_needs_the_rule(rule: str) -> None:
    patches, name = MACHINE[rule]
    wanted = axiomatic_outcomes(load(name)).rdma
    assert explore(DeployedMachine(load(name), RDMA), Limits()).finals == wanted
    with mutated(patches):
        assert explore(DeployedMachine(load(name), RDMA), Limits()).finals != wanted


# ---- brute force and the axioms


BRUTE_FORCE: Final[Mutants] = {
    "queue pairs are nodes": (((thread_paths, "remote_of", node_of),), "get-fenced-on-the-wrong-lane"),
    "messages of all lanes are one connection": (
        ((thread_paths, "named_lane", _no_lane), (candidate, "named_lane", _no_lane)),
        "striped-with-one-notification",
    ),
}


@pytest.mark.parametrize("rule", BRUTE_FORCE)
def test_brute_force_needs_the_rule(rule: str) -> None:
    patches, name = BRUTE_FORCE[rule]
    assert oracle_robust(load(name)) is not None
    with mutated(patches):
        assert oracle_robust(load(name)) is None


def _of_nodes(trace: axioms.Trace) -> axioms.Relation:
    events = tuple(replace(e, remote=e.remote and "B") for e in trace.events)
    return _SAME_QP(replace(trace, events=events))


_SAME_QP = axioms.same_qp


def test_the_axioms_need_lanes() -> None:
    trace = oracle_robust(load("flag-on-another-lane"))
    assert trace is not None and axioms.is_violating(trace)
    with mutated(((axioms, "same_qp", _of_nodes),)):
        assert not axioms.is_violating(trace)


# ---- the checker


CHECKER: Final[Mutants] = {
    "all queue pairs of a thread are one": (
        ((normal_form, "_queue", lambda event: (event.thread, "")),),
        "message-overtakes-data",
    ),
    "completions of all queue pairs are one list": (
        ((normal_form, "_queue", lambda event: (event.thread, "")),),
        "buffer-reused-after-both-polls",
    ),
    "requests are on the nameless queue pair": (
        ((CardRequest, "queue_pair", property(lambda self: self.node)),),
        "get-fenced-on-its-lane",
    ),
    "polls of lanes tell of no put": (
        ((CardRequest, "queue_pair", property(lambda self: self.node)),),
        "flag-polled",
    ),
}


def by_checker(name: str) -> str:
    return Search.of(load(name), platform_of(RDMA)).verdict(20_000)


@pytest.mark.parametrize("rule", CHECKER)
def test_the_checker_needs_the_rule(rule: str) -> None:
    patches, name = CHECKER[rule]
    assert by_checker(name) == right(name)
    with mutated(patches):
        assert by_checker(name) != right(name)
