"""A cell of the order tables that says something else changes a verdict or the outcomes of a named program.

Not in the list are changes that nothing was seen to notice, most because other cells say the same together: what is between
a put's read and an atomic, for one, is between its write and the atomic as well.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final
from unittest.mock import patch

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics import order_table
from rdma_robust.semantics.machines.machine import FinalState
from rdma_robust.semantics.oracle import brute_force, candidate
from rdma_robust.semantics.order_table import STORES, nfo_pairs_of
from rdma_robust.semantics.trace import EventType
from tests.support.random_deployed import loaded, named_texts

CHANGES: Final = """
    store     lW  lR  all inline-forwards
    store     lW  lR  o   inline-forwards
    store     lW  lW  -   2plus2w-stores
    store     lW  lW  i   2plus2w-stores
    store     lW  F   -   r-mfence
    store     lW  F   i   r-mfence
    store     V   lR  all sb-recv-between
    store     V   lR  i   sb-recv-between
    store     V   lR  o   sb-recv-between
    store     V   lW  all sb-recv-between
    store     V   lW  i   sb-recv-between
    default   nrR naR qp  then-cas-read
    default   nrR naR i   then-cas-read
    default   nrR naW qp  then-cas-read
    default   nrR naW i   then-cas-read
    default   nlW naR qp  then-cas-read
    default   nlW naR i   then-cas-read
    default   nlW naW qp  then-cas-read
    default   nlW naW i   then-cas-read
    default   naW nrW -   faa-then-put
    default   naW nrW i   faa-then-put
    default   naW nrR -   cas-and-read
    default   naW nlW qp  polled-rmw-not-visible
    multipath nrW nrW qp  deepep-flag-multipath
    relaxed   nrW nrW qp  deepep-flag-relaxed
    relaxed   nrW naR qp  deepep-faa-relaxed
    relaxed   nrW naW qp  deepep-faa-relaxed
    accumulate naR naR -  accumulate-two-fetches
    accumulate naR naR qp accumulate-fetches-two-words
    accumulate nuW nuW qp  accumulates-two-words
    store     lW  CAS -   cell-store-then-cas
    store     lW  CAS i   cell-store-then-cas
    multipath naR nrW qp  cell-multipath-atomic-then-put
    multipath naR nrW i   cell-multipath-atomic-then-put
    default   naR naR -   cell-glob-two-atomics
    default   nrW naR -   cell-glob-put-then-atomic
    default   naR nrW -   cell-glob-atomic-then-put
    default   naR nmW -   cell-glob-atomic-then-send
    relaxed   naR naR qp  cell-relaxed-two-atomics
    relaxed   naR naR i   cell-relaxed-two-atomics
    default   naR nrR -   cell-glob-atomic-then-get
    relaxed   naW nrW qp  cell-relaxed-atomic-then-put
    multipath nrW nrR qp  cell-multipath-put-then-get
    relaxed   nrW nrR qp  cell-relaxed-put-then-get
    relaxed   naR nrW qp  cell-relaxed-failed-atomic-then-put
    relaxed   naR nrW i   cell-relaxed-failed-atomic-then-put
    relaxed   naW nrW i   cell-relaxed-atomic-then-put
    multipath nlW nlW qp  cell-multipath-two-gets
    store     lW  V   -   cell-store-then-receive
    store     lW  V   i   cell-store-then-receive
"""
"""Table, earlier event, later event, what the cell says instead, and the program."""


def decided(program: Program, model: Model) -> tuple[bool, frozenset[FinalState]]:
    """Whether it is robust, and what it ends with, by brute force alone: the axioms are asked for no confirmation."""
    with patch.object(brute_force, "is_violating", lambda *_: True):
        robust = brute_force.oracle_robust(program, model) is None
    return robust, brute_force.axiomatic_outcomes(program, model).rdma


@pytest.mark.parametrize("change", [line.strip() for line in CHANGES.strip().splitlines()])
def test_a_changed_cell_is_noticed(change: str) -> None:
    table, earlier, later, new, name = change.split()
    cells = STORES if table == "store" else order_table.order_table(table).cells
    program, model = loaded(named_texts()[name], name)
    truth = decided(program, model)
    with patch.dict(cells, {(earlier, later): new}):  # type: ignore[arg-type]
        assert decided(program, model) != truth


@pytest.mark.parametrize(("pairs", "name"), [((), "fenced-put"), (nfo_pairs_of(RDMA), "nfo-not-under-multipath")])
def test_changed_flushes_are_noticed(pairs: tuple[frozenset[EventType], ...], name: str) -> None:
    """Those of the default order are there, and those of multipath are not."""
    program, model = loaded(named_texts()[name], name)
    truth = decided(program, model)
    with ExitStack() as stack:
        for module in (candidate, order_table):
            stack.enter_context(patch.object(module, "nfo_pairs_of", lambda _: pairs))
        assert decided(program, model) != truth
