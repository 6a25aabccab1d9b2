"""The order that flags of libfabric promise, `fi(RMA_WAW, ATOMIC_RAW, SAS)`: their cells over `order none`.

Source: fi_endpoint(3) of libfabric, msg_order, as read in 2026. XAY orders an X after a Y: reads (R), writes (W) and
sends (S) at the other side. RAR, RAW, WAR and WAW are about puts, gets and atomics; those with RMA_ or ATOMIC_ about one
of both. An atomic that fetches counts as a read, another one as a write: "atomic fetch operations" and "atomic update
operations" there. Operations are ordered, not accesses: what is before an atomic, or behind it, is so of its read and its
write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from rdma_robust.diagnose import did_you_mean, listing
from rdma_robust.errors import UsageError
from rdma_robust.orders.known_orders import order_of_file
from rdma_robust.orders.order_record import MESSAGE, NAMED_TYPES, UPDATES, VARIANT_OF

_RMA: Final[Mapping[str, tuple[str, ...]]] = {"R": ("nrR",), "W": ("nrW",)}
_ATOMIC: Final[Mapping[str, tuple[str, ...]]] = {"R": tuple(UPDATES.values()), "W": tuple(UPDATES)}
_ALL: Final[Mapping[str, tuple[str, ...]]] = {
    "R": (*_RMA["R"], *_ATOMIC["R"]),
    "W": (*_RMA["W"], *_ATOMIC["W"]),
    "S": (MESSAGE,),
}


def _cells(flag: str) -> tuple[tuple[str, str], ...]:
    which, _, pair = flag.rpartition("_")
    types = {"RMA": _RMA, "ATOMIC": _ATOMIC}.get(which, _ALL)
    return tuple(product(types[pair[2]], types[pair[0]]))


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


_COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "nlR": ("RMA_", "W"),
    **{each: (which, way) for which, types in (("RMA_", _RMA), ("ATOMIC_", _ATOMIC)) for way in "RW" for each in types[way]},
    MESSAGE: ("", "S"),
}
"""About which flags each type is, and what they count it as; what a put reads is behind nothing, and before what its write
is."""


def _promised() -> Iterator[tuple[str, str]]:
    for (one, (which, earlier)), (two, (other, later)) in product(_COUNTED.items(), _COUNTED.items()):
        if two != "nlR":
            yield f"{one} {two}", f"{which if which == other else ''}{later}A{earlier}"


PROMISED_BY: Final = dict(_promised())
"""The flag that promises a guarantee about two types of events, the one that is about the fewest others; of other guarantees
none does."""


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


def fi_table(name: str, flags: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the file of a table with the cells of these flags, over `order none`."""
    keeping = {cell: [flag for flag in flags if cell in FLAGS[flag]] for cell in product(NAMED_TYPES, repeat=2)}
    kept = {cell: said for cell, said in keeping.items() if said}
    own = (cell for cell in keeping if not VARIANT_OF.keys().isdisjoint(cell) and not {"nlR", "nlW", "nF"} & {*cell})
    yield from (f'name = "{name}"', 'based-on = "none"', "[cells]")
    yield from (f'"{earlier} {later}" = "qp"' for earlier, later in kept)
    yield from (f'"{earlier} {later}" = "-"' for earlier, later in own if (earlier, later) not in kept)
