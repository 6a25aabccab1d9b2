"""Values made once for each object, and kept as long as that lives: what is compiled or analysed of a program."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import ref

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Kept(Generic[Key, Made]):
    """What was made for objects, told apart by identity: programs are equal only after a long comparison.

    A value must not lead back to its object, which would then live for ever.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[ref[Any], dict[Key, Made]]] = {}

    def of(self, owner: object, key: Key, make: Callable[[], Made]) -> Made:
        """Return what `make` has made for this object and key. What it raises is raised, and not kept."""
        place = id(owner)
        if place not in self._kept:
            self._kept[place] = ref(owner, lambda _: self._kept.pop(place, None)), {}
        mine = self._kept[place][1]
        if key not in mine:
            mine[key] = make()
        return mine[key]
