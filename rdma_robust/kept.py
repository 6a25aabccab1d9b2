"""Values made once for each object, and kept as long as that lives: what is compiled or analysed of a program."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import ref

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Kept(Generic[Key, Made]):
    """Values that were made for objects, told apart by identity: programs are equal only after a long comparison.

    A value must not lead back to its object, which would then live forever.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ref[Any], dict[Key, Made]]] = {}

    def of(self, owner: object, key: Key, make: Callable[[], Made]) -> Made:
        """Return what `make` has made for this object and key. What it raises is raised, and not kept."""
        there, mine = self._kept.get(id(owner), (None, {}))
        if there is None or there() is not owner:
            # Looked for here and not told by a callback: what interrupts work at a limit would be lost in that.
            self._kept = {place: each for place, each in self._kept.items() if each[0]() is not None}
            mine = {}
            self._kept[id(owner)] = ref(owner), mine
        if key not in mine:
            mine[key] = make()
        return mine[key]
