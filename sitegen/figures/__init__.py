"""The figures of the documentation, drawn by one kit in one style, light and dark: `python -m sitegen` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sitegen.figures import counters, machine, normal_form, programs, reductions
from sitegen.figures.kit import Canvas

FIGURES: Final[Mapping[str, Callable[[], Canvas]]] = {
    "nodes": machine.nodes,
    "queue-pair": machine.queue_pair,
    "put-and-get": machine.put_and_get,
    "violation": normal_form.violation,
    "normal-form": normal_form.normal_form,
    "orders": normal_form.orders,
    "forcing": normal_form.forcing,
    "search": normal_form.search,
    "completions": counters.completions,
    "karp-miller": counters.karp_miller,
    "cones": counters.cones,
    "walk": programs.walk,
    "hang": programs.hang,
    "lost": programs.lost,
    "passes": programs.passes,
    "post": reductions.post,
    "counters-from-polls": reductions.counters_from_polls,
}


def figures() -> dict[str, str]:
    """Return the files below docs/ by their names."""
    return {f"figures/{name}.svg": draw().svg() for name, draw in FIGURES.items()}
