"""Programs that the pivot search decides, by order tables, and what is lacking for others.

Source: docs/order-files.md, "The format".
"""

from __future__ import annotations

from typing import Final

from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.model import Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_facts import OF_ATOMICS, fact_meaning, lacking
from rdma_robust.semantics.connections import has_choice_of_buffers
from rdma_robust.semantics.event_table import acts_of
from rdma_robust.semantics.like_orders import atomic_rows, unknown_to
from rdma_robust.semantics.order_table import polls_apart

ARGUED: Final = ("default", "multipath", "relaxed", "none", "accumulate")
"""The orders for which docs/theory-orders.md argues the search with everything that a program can have."""


def has_messages(program: Program) -> bool:
    """Return whether a program has messages."""
    ops = (step.op for thread in program.threads for _, _, step in steps(thread))
    return any(act.message is not None for op in ops for act in acts_of(op))


def lacked_facts(program: Program, model: Model) -> tuple[str, ...]:
    """Return the facts about the table of its order that are asked of the model for the program, and that it lacks.

    But for :data:`OF_ATOMICS` a program that has no run to a target is robust all the same; a run to one need be no
    counterexample then. Source: docs/theory-orders.md, "Tables that lack a fact".
    """
    if model.order in ARGUED:
        return ()
    return lacking(model.order, atomics=atomic_rows(program), messages=has_messages(program))


def forces_less(program: Program, model: Model) -> bool:
    """Return whether the rules that force events into the second part of a run may be fewer than there are: then a run to a
    target need be no counterexample, though where there is none the program is robust.

    That is so where the table lacks a fact, where it is argued for types of events and the program has more kinds of them,
    and where a poll puts some remote writes in order and the search does not ask which.
    """
    if model.order in ARGUED:
        return False
    return bool(lacked_facts(program, model)) or program.has_regions or bool(program.memories) or polls_apart(model)


def not_searched(program: Program, model: Model) -> str:
    """Return why no search decides robustness under `model` with what `program` has; nothing if one does.

    Raises UsageError for an order that has no table.
    """
    if model.network != "rdma" or model.cpu == "pso":
        return f"no search is proven to decide robustness under this model ({model})"
    if model.order in ARGUED:
        return ""
    lacks = [fact for fact in lacked_facts(program, model) if fact in OF_ATOMICS]
    if lacks:
        said = f"order {model.order_name} lacks the fact {lacks[0]} about its table: {fact_meaning(lacks[0])}"
        return f"no search is proven to decide robustness under this model ({model}): {said}"
    if not program.crowds:
        return ""
    unargued = {
        "memory behind a NIC": bool(program.memories),
        "relaxed regions in any number of threads": program.has_regions,
        "completions that tell any number of threads of placed writes": order_table(model.order).tells == "placed",
        "polls of any number of threads that put some remote writes in order": polls_apart(model),
    }
    what = next((what for what, has in unargued.items() if has), "")
    return f"no search is argued to decide programs with {what} under order {model.order_name}" if what else ""


def is_open(program: Program, model: Model) -> bool:
    """Return whether the table can be read in more than one way for what the program has."""
    return bool(unknown_cells(program, model)) or takes_any_receive(program, model)


def unknown_cells(program: Program, model: Model) -> frozenset[tuple[str, str]]:
    """Return the cells that nobody knows, those of sends and of atomics without an answer if the program has some."""
    return unknown_to(program, order_table(model.order))


def takes_any_receive(program: Program, model: Model) -> bool:
    """Return whether a message may take a posted receive that is not of its turn, with a difference."""
    return order_table(model.order).matching == "any" and has_choice_of_buffers(program)
