"""Random order tables, as files, and random programs under them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, product
from random import Random
from typing import Final

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_of_file, order_table, told_order
from rdma_robust.orders.order_facts import lacking
from rdma_robust.orders.order_record import ALL_WRITES, NAMED_TYPES, PUSHABLE, TYPES, VARIANT_OF
from tests.support.memory_programs import (
    messaged_memories,
    polled_memories,
    relayed_memories,
    small_memories,
    taking_memories,
    with_memories,
)
from tests.support.random_deployed import model_of, random_text
from tests.support.random_programs import SMALL, random_program
from tests.support.region_programs import with_regions

_MEMORIES: Final = (
    *(small_memories, with_memories, polled_memories),
    *(messaged_memories, relayed_memories, taking_memories),
)
FAMILIES: Final = ("plain", "atomics", "messages", "completions", "mixed", "weaker", "flushes", "answers")


LACKING: Final = {
    "chain": '"nF nrW" = "-"',
    "flush_chain": '"naW nrW" = "i"',
    "issue_only": '"nlR nF" = "-"\n"nrW nF" = "-"\n"nlW nF" = "i"\n"nrR nF" = "-"\n"naR nF" = "-"\n"nF nF" = "-"',
    "flush_poll": '"nrW nrR" = "-"',
    "fence": '"nF nlR" = "-"',
    "rmw_row": '"naR nrR" = "-"',
    "rmw_column": '"nrW naR" = "-"',
    "receive_chain": '"nrW nF" = "-"',
}
"""For each fact cells that `order default` lacks it with."""


def order_lacking(fact: str, rng: Random) -> str:
    """Return the order of a table that lacks a fact, with up to three more cells changed, and any pairs of reads that push
    writes."""
    while True:
        lines = [f'name = "{fact}"', 'based-on = "default"', "[cells]", LACKING[fact]]
        for earlier, later in rng.sample(list(product(TYPES, TYPES)), rng.randint(0, 3)):
            if f'"{earlier} {later}"' not in LACKING[fact]:
                lines.append(f'"{earlier} {later}" = "{rng.choice(["qp", "-"])}"')
        if rng.random() < 0.5:
            pairs = [f'"{" ".join(pair)}"' for pair in PUSHABLE if rng.random() < 0.7]
            lines += ["[rules]", f"reads-push-writes = [{', '.join(pairs)}]"]
        order = order_of_file("\n".join(lines) + "\n", "lacking.toml")
        if fact in lacking(order, messages=True):
            return order


def random_order(rng: Random) -> str:
    """Return the order of a table with one to eight cells changed, of sends and of atomics that fetch nothing too, and with
    any pairs of reads that push writes."""
    lines = ['name = "random"', f'based-on = "{rng.choice(SHIPPED[:4])}"', "[cells]"]
    cells = rng.sample([(a, b) for a in TYPES for b in TYPES], rng.randint(1, 8))
    variants = [(a, b) for a, b in product(NAMED_TYPES, NAMED_TYPES) if not VARIANT_OF.keys().isdisjoint((a, b))]
    if rng.random() < 0.6:
        cells += rng.sample(variants, rng.randint(1, 8))
    for earlier, later in cells:
        kept = rng.choice(["qp", "-", *(["i"] if earlier in ALL_WRITES else [])])
        lines.append(f'"{earlier} {later}" = "{kept}"')
    rules = []
    if rng.random() < 0.6:
        pairs = [f'"{" ".join(pair)}"' for pair in PUSHABLE if rng.random() < 0.5]
        rules.append(f"reads-push-writes = [{', '.join(pairs)}]")
    if rng.random() < 0.2:
        rules.append(f'receive-covers = "{rng.choice(["earlier", "own"])}"')
    if rng.random() < 0.4:
        rules.append(f"completions-order = {rng.choice(['true', 'false'])}")
    if rng.random() < 0.2:
        rules.append(f'atomics-of-a-word = "{rng.choice(["table", "program order"])}"')
    lines += ["[rules]", *rules]
    return order_of_file("\n".join(lines) + "\n", "random.toml")


def programs_under_orders(
    order: str, rng: Random, number: int, families: Sequence[str] = FAMILIES
) -> Iterator[tuple[Program, Model]]:
    """Yield random loop-free programs under an order; what they say of the order themselves is taken away."""
    for _ in range(number):
        family = rng.choice(families)
        text = random_program(rng, SMALL) if family == "plain" else random_text(family, rng)
        program = load_program(text, f"random {family}")
        hardware = replace(program.hardware, order=order)
        program = replace(program, hardware=hardware)
        yield program, replace(model_of(program), order=order)


def small_under_orders(seed: int, number: int) -> Iterator[tuple[Program, Model]]:
    """Yield one random program of about three to five operations under so many random tables."""
    rng = Random(f"small {seed}")
    program = load_program(random_text(rng.choice(FAMILIES[1:]), rng, 7), f"small {seed}")
    for _ in range(number):
        order = random_order(rng)
        yield (
            replace(program, hardware=replace(program.hardware, order=order)),
            replace(model_of(program), order=order),
        )


def words_under_orders(seed: int) -> Iterator[tuple[Program, Model]]:
    """Yield two programs with relaxed words, words behind cards or neither under a random table, whose completions may tell
    that writes were placed."""
    rng = Random(f"words {seed}")
    order = told_order(replace(order_table(random_order(rng)), tells=rng.choice(["source", "placed"])))
    memories = rng.choice(_MEMORIES)
    families = ("completions", "acknowledged", "messages", "mixed")
    some = (with_regions([seed]), memories([seed]), programs_under_orders(order, rng, 1, families))
    for program, model in chain.from_iterable(rng.sample(some, 2)):
        hardware = replace(program.hardware, order=order)
        yield replace(program, hardware=hardware), replace(model, order=order)
