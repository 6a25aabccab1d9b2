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


NOT_SHIPPED: Final = "not the shipped table"
"""What is said of a table that has the name of one of the package, and is another one."""


def order_name(order: str) -> str:
    """Return what an order is called: its table's name, which one of a file says itself. It may be that of a table of the
    package, whose order is that name alone; so one that says all in full is another table, which is told."""
    if not order.startswith("{"):
        return order
    import tomllib  # noqa: PLC0415 - few orders are of files

    try:
        name = str(tomllib.loads(f"order = {order}")["order"]["name"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "of no table"
    return name if name.strip() not in SHIPPED else f"{name} ({NOT_SHIPPED})"


def is_order(order: str) -> bool:
    """Return whether a text can be the order of a model: a name, or all that a table says, in braces."""
    return order in SHIPPED or order.startswith("{")


def is_table_of_program(written: str) -> bool:
    """Return whether the value of `order` in a `hardware` line is a file or a list of flags, and no name of a table."""
    return written.endswith(('"', ")"))
