"""Each rule of order tables, and of what decides programs under them, left out: a named program of the suite notices it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import pytest

from rdma_robust.analyses.needs import minimal_sets as needs
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders import order_record
from rdma_robust.orders.known_orders import TABLES, order_of_file
from rdma_robust.robustness import between_tables, rules, searched_orders, unconfirmed
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.reductions import relaxation
from rdma_robust.semantics import connections, kinds, order_table
from rdma_robust.semantics.connections import has_choice_of_buffers
from rdma_robust.semantics.oracle import brute_force
from rdma_robust.semantics.trace import EventType
from tests.support.left_out import by_search, suite_program
from tests.support.patches import Patch, mutated


def everywhere(function: Callable[..., Any], changed: Callable[..., Any]) -> tuple[Patch, ...]:
    """Replace a function in all modules that have it."""
    name = function.__name__
    loaded = [module for path, module in sys.modules.items() if path.startswith("rdma_robust")]
    return tuple((module, name, changed) for module in loaded if vars(module).get(name) is function)


def on_default(*lines: str) -> str:
    """The order of a table that says something else than the default one."""
    return order_of_file("\n".join(['name = "mutant"', 'based-on = "default"', *lines, ""]), "mutant.toml")


def verdict(name: str, order: str) -> str:
    """What the search answers for a program, under this order, or its own if that is none."""
    program = suite_program(name)
    if order:
        program = replace(program, hardware=replace(program.hardware, order=order))
    return by_search(program)


def comparable(program: Program, model: Model) -> list[tuple[str, str]]:
    """The neighbours of which one of both tables keeps all that the other one keeps."""
    return [each for each in NEIGHBOURS(program, model) if each[1] != "different"]


NEIGHBOURS: Final = between_tables._neighbours
UNKNOWN_CELL: Final = on_default("[cells]", '"nrW nrW" = "?"')
PLACED: Final = on_default("[rules]", 'completion-tells = "placed"')
UNFENCED: Final = on_default("[cells]", '"nlW nF" = "-"')
TORN_COLUMN: Final = on_default("[cells]", '"nrW naR" = "-"')
NO_FACTS: Final = ((searched_orders, "lacking", lambda *_, **__: ()),)
READ_AGAIN: Final = ("default", "none", "accumulate")

MUTANTS: Final[dict[str, tuple[tuple[Patch, ...], str, str, str]]] = {
    "a receive completion covers what is earlier": (
        everywhere(order_table.receives_of_own, lambda _: False),
        *("hardware/told-by-immediate-datagrams", "", "not-robust"),
    ),
    "messages take receives in order": (
        everywhere(has_choice_of_buffers, lambda _: False),
        *("hardware/buffers-in-order", "ooo-dp", "not-robust"),
    ),
    "brute force takes receives in order": (
        ((brute_force, "in_any_order", lambda *_: iter(())),),
        *("hardware/buffers-placed", "", "not-robust"),
    ),
    "what fills the buffer of another one has its turn": (
        ((connections, "fills", lambda _: False),),
        *("hardware/buffers-placed", "", "not-robust"),
    ),
    "receives that were polled can be taken": (
        ((connections, "_has_choice", lambda *_: True),),
        *("hardware/buffers-one-at-a-time", "", "robust"),
    ),
    "a completion tells of its source": (
        (*everywhere(order_table.visible_when_polled, lambda kind, _: kind in order_table.VISIBLE_WHEN_POLLED),),
        *("lanes/flag-polled", PLACED, "robust"),
    ),
    "completions give no order": (
        everywhere(order_table.behind_poll, lambda _: None),
        *("hardware/acknowledged-out-of-order", "", "robust"),
    ),
    "no read pushes a write": (
        everywhere(order_table.nfo_pairs_of, lambda _: ()),
        *("nfo-get-put-same-word-fenced", "ooo-dp", "robust"),
    ),
    "cells of messages are those of puts": (
        everywhere(kinds.is_send, lambda _: False),
        *("hardware/message-behind-data-verbs", "fi-cxi", "not-robust"),
    ),
    "cells of atomics that fetch nothing are those of others": (
        everywhere(kinds.is_update, lambda _: False),
        *("hardware/counter-behind-data-cxi", "", "robust"),
    ),
    "what nobody knows is not kept": (
        everywhere(searched_orders.unknown_cells, lambda *_: frozenset()),
        *("guarantees/flag-behind-data", UNKNOWN_CELL, "unknown"),
    ),
    "every fence tells reads from the answers that it has passed": (
        everywhere(order_table.fence_lands, lambda _: True),
        *("order-nlw-nrw-fenced", UNFENCED, "not-robust"),
    ),
    "the search is asked without the fact about columns of atomics": (
        *(NO_FACTS, "guarantees/counter-behind-data", TORN_COLUMN, "robust"),
    ),
}
"""What is replaced, the program and the order under which that is noticed, and the right answer."""


@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_left_out_is_noticed(name: str) -> None:
    patches, program, order, right = MUTANTS[name]
    assert patches
    assert verdict(program, order) == right
    with mutated(patches):
        assert verdict(program, order) != right


TWO_SWAPS: Final = """
node A { won, again }
node B { word }
thread T on A {
  get won = cas(B.word, 0, 2)
  get again = cas(B.word, 0, 2)
}
"""
SENT_AND_POLLED: Final = """
node A { one = 1 }
node B { flag, buffer }
thread T on A {
  send one to U
  poll B
  put B.flag = 1
}
thread U on B {
  reg f, b
  posted buffer from T
  f = flag
  b = buffer
}
"""


def any_gains(later: kinds.Kind, model: Model, told: order_table.Landing) -> bool:
    return any(order_table._put_behind_poll(later, model, told))


def shows_answers_only(kind: kinds.Kind, _: Model) -> bool:
    return kind is EventType.NLW


TOLD_OF_ALL: Final = ('based-on = "relaxed-mr"', "[cells]", '"naW nrW" = "-"', "[rules]", "completions-order = true")

TOLD_BY_A_POLL: Final = """
node A { }
node B { flag }
node C { data, seen }
thread T on A {
  while 1 {
    put C.data = 1
    poll C
    put B.flag = 1
    poll B
  }
}
thread U on C {
  reg d
  get seen = B.flag
  poll B
  d = data
}
"""
NOT_POLLED: Final = TOLD_BY_A_POLL.replace("put C.data = 1\n    poll C", "swap(C.data, 1)")
TWICE_TORN: Final = ('based-on = "default"', "[cells]", *(f'"{cell}" = "-"' for cell in ("nF nrR", "naR nrR", "naW naR")))
"""To have the facts about atomics it would have to keep more in two cells, and something else that neither `none` keeps."""

GATES: Final[dict[str, tuple[tuple[Patch, ...], Sequence[str], str, str]]] = {
    "rmw_row": (NO_FACTS, ('based-on = "relaxed"', "[cells]", '"naW naR" = "qp"'), TWO_SWAPS, "not-robust"),
    "polls put some writes in order": (
        everywhere(order_table.gains_behind_poll, any_gains),
        *(TOLD_OF_ALL, SENT_AND_POLLED, "not-robust"),
    ),
    "polls tell that writes were placed": (
        tuple((module, "visible_when_polled", shows_answers_only) for module in (rules, relaxation)),
        *(('based-on = "default"', "[rules]", 'completion-tells = "placed"'), TOLD_BY_A_POLL, "robust"),
    ),
    "only tables that keep more or less have counterexamples": (
        ((between_tables, "_neighbours", comparable),),
        *((*TWICE_TORN, '"nrW naR" = "-"', '"nrR nrR" = "qp"'), NOT_POLLED, "not-robust"),
    ),
}
"""What is replaced, the table and the program that notice, and the right answer."""


@pytest.mark.parametrize("name", GATES)
def test_what_is_left_out_of_the_search_under_tables_is_noticed(name: str) -> None:
    """A swap that fails waits for less than one that writes; a poll tells of an atomic or a send, and only one is kept."""
    patches, lines, text, right = GATES[name]
    program = load_program(text, "gate.rdma")
    order = order_of_file("\n".join(['name = "mutant"', *lines, ""]), "mutant.toml")
    program = replace(program, hardware=replace(program.hardware, order=order))
    assert by_search(program) == right
    with mutated(patches):
        assert by_search(program) != right


def test_atomics_of_a_word_that_are_not_kept_are_noticed() -> None:
    """Tables are read again without the rule."""
    assert verdict("standards/accumulates-one-word", "") == "robust"
    with patch.dict(TABLES), mutated(((order_record, "ordered_by_word", lambda cells: cells),)):
        for order in READ_AGAIN:
            TABLES.pop(order, None)
        assert verdict("standards/accumulates-one-word", "") == "not-robust"


def test_a_table_that_is_not_closed_lacks_a_fact() -> None:
    """The nlR of a put is before what its nrW is before."""
    assert not _lacked(on_default("[cells]", '"nlR nlW" = "-"', "[why]", 'all = "closed"'))
    with mutated(((order_record, "closed", lambda cells, _: dict(cells)),)):
        assert "chain" in _lacked(on_default("[cells]", '"nlR nlW" = "-"', "[why]", 'all = "open"'))


def _lacked(order: str) -> tuple[str, ...]:
    program = suite_program("hardware/stream-verbs")
    return searched_orders.lacked_facts(program, replace(program.hardware.model, order=order))


READ_BEFORE_AN_ANSWER: Final = """
node A { w, answer }
node B { y = 1, z }
thread T on A {
  get answer = B.y
  put B.z = w
}
thread U on A {
  reg r
  w = 1
  r = answer
}
"""
"""The put reads `w` behind the issue of the get's answer, which it would have to push out had it read before that lands: no
rule of the search says so."""


@pytest.mark.parametrize(("loop", "right"), [("U", "unknown"), ("", "robust")])
def test_a_run_to_a_target_is_no_counterexample_where_a_fact_is_lacking(loop: str, right: str) -> None:
    """Brute force decides the program without loops; that with one is left open, with the reason."""
    text = READ_BEFORE_AN_ANSWER
    if loop:
        text = text.replace("  w = 1\n  r = answer\n", "  loop {\n    w = 1\n    r = answer\n  }\n")
    program = load_program(text, "answer.rdma")
    model = replace(program.hardware.model, order=on_default("[cells]", '"nlW nlR" = "i"'))
    assert searched_orders.lacked_facts(program, model) == ("issue_only",)
    outcome = decide(program, CheckOptions(hardware=model))
    assert outcome.verdict.value == right, outcome.reason
    assert "no run to one was confirmed" in outcome.reason or not loop
    with mutated(((unconfirmed, "forces_less", lambda *_: False),)), pytest.raises(InternalError, match="RDMA-consistent"):
        decide(program, CheckOptions(hardware=model))


def sets(name: str) -> Sequence[frozenset[str]] | None:
    """The minimal sets of a program; None where more than five checks leave something open."""
    program = suite_program(name)
    model = replace(program.hardware.model, order="default")
    found = needs.minimal_sets(program, model, lambda asked: decide(program, CheckOptions(hardware=asked)), 5)
    return None if found.open else sorted(found.sets, key=sorted)


@pytest.mark.parametrize(
    ("patched", "name"),
    [
        ((needs, "not_implied", lambda names: names), "guarantees/flag-behind-data"),
        ((needs, "_grown", lambda _program, _witness, _model, names, _asked: names), "hardware/read-back-verbs"),
    ],
    ids=["what guarantees come with is told", "a counterexample says of nothing else that it is too little"],
)
def test_sets_that_are_not_minimal_or_take_many_checks_are_noticed(patched: Patch, name: str) -> None:
    right = sets(name)
    assert right == sorted((frozenset(line.guarantees) for line in suite_program(name).needs), key=sorted)
    with mutated((patched,)):
        assert sets(name) != right
