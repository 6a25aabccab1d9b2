"""The order that flags of libfabric promise, `fi(RMA_WAW, ATOMIC_RAW, SAS)`: their cells over `order none`.

Source: fi_endpoint(3) of libfabric, msg_order, as read in 2026. XAY orders an X after a Y: reads (R), writes (W) and
sends (S) at the other side. RAR, RAW, WAR and WAW are about puts, gets and atomics; those with RMA_ or ATOMIC_ about one
of both. Operations are ordered, not accesses: a remote atomic is a read and a write, and what orders it as either orders
all of it; behind what its read is behind, its write is anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from rdma_robust.diagnose import did_you_mean, listing
from rdma_robust.errors import UsageError
from rdma_robust.orders.known_orders import order_of_file
from rdma_robust.orders.order_record import MESSAGE

_RMA: Final[Mapping[str, tuple[str, ...]]] = {"R": ("nrR",), "W": ("nrW",)}
_BOTH: Final = ("naR", "naW")
_ATOMIC: Final[Mapping[str, tuple[str, ...]]] = {"R": _BOTH, "W": _BOTH}
_ALL: Final[Mapping[str, tuple[str, ...]]] = {"R": ("nrR", *_BOTH), "W": ("nrW", *_BOTH), "S": (MESSAGE,)}


def _cells(flag: str) -> tuple[tuple[str, str], ...]:
    which, _, pair = flag.rpartition("_")
    types = {"RMA": _RMA, "ATOMIC": _ATOMIC}.get(which, _ALL)
    behind = tuple(each for each in types[pair[0]] if (pair[0], each) != ("R", "naW"))
    return tuple(product(types[pair[2]], behind))


_PAIRS: Final = tuple(f"{later}A{earlier}" for later, earlier in product("RW", "RW"))
FLAGS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    flag: _cells(flag)
    for flag in (
        *_PAIRS,
        *(f"{which}_{pair}" for which in ("RMA", "ATOMIC") for pair in _PAIRS),
        *("SAS", "SAR", "SAW", "RAS", "WAS"),
    )
}
"""The cells that each flag keeps, by its name without `FI_ORDER_`."""


def fi_order(written: str) -> str:
    """Return the order of `fi(FLAG, ...)`. Raises UsageError for a flag that is none."""
    match = re.fullmatch(r"fi\(([^()]*)\)", written.strip())
    if match is None:
        raise UsageError(f"{written!r} is no list of flags; expected fi(FLAG, ...)")
    flags = [each.strip().upper().removeprefix("FI_ORDER_") for each in match[1].split(",") if each.strip()]
    for flag in flags:
        if flag not in FLAGS:
            near = did_you_mean(flag, FLAGS) or f"expected {listing(FLAGS)}"
            raise UsageError(f"libfabric has no order of messages {flag!r}; {near}")
    return order_of_file("\n".join(fi_table(f"fi({', '.join(flags)})", flags)), "the flags")


def fi_table(name: str, flags: list[str]) -> Iterator[str]:
    """Yield the lines of the file of a table with the cells of these flags, over `order none`."""
    kept = {cell for flag in flags for cell in FLAGS[flag]}
    messages = [(MESSAGE, other) for other in ("nrR", "nrW", "naR", "naW", MESSAGE)]
    messages += [(other, MESSAGE) for other in ("nrR", "nrW", "naR", "naW")]
    yield from (f'name = "{name}"', 'based-on = "none"', "[cells]")
    yield from (f'"{earlier} {later}" = "qp"' for earlier, later in sorted(kept))
    yield from (f'"{earlier} {later}" = "-"' for earlier, later in messages if (earlier, later) not in kept)
