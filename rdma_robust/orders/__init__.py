"""Hardware as data: the order tables of networks, each a file with its sources.

In: the name of a table, or the text of a file. Out: the table as a record, what is wrong with a file, and which of the facts
that the proofs ask of a table it lacks. Source: docs/order-files.md, "The format".
"""

from __future__ import annotations

from typing import Final

SHIPPED: Final = (
    *("default", "multipath", "relaxed", "none", "accumulate", "ooo-dp", "relaxed-mr", "srd"),
    *("fi-verbs", "fi-tcp", "fi-cxi", "fi-efa", "fi-opx", "fi-psm3", "fi-none"),
)
"""The names of the tables of the package, each in a file of its name."""


def order_name(order: str) -> str:
    """Return what an order is called: its table's name, which one of a file says itself."""
    if not order.startswith("{"):
        return order
    import tomllib  # noqa: PLC0415 - few orders are of files

    try:
        return str(tomllib.loads(f"order = {order}")["order"]["name"])
    except (ValueError, KeyError, RecursionError):
        return "of no table"


def is_order(order: str) -> bool:
    """Return whether a text can be the order of a model: a name, or all that a table says, in braces."""
    return order in SHIPPED or order.startswith("{")


def is_table_of_program(written: str) -> bool:
    """Return whether the value of `order` in a `hardware` line is a file or a list of flags, and no name of a table."""
    return written.endswith(('"', ")"))
