"""Places of recorded code: file and line of addresses, by addr2line; and names of functions and variables, by nm."""

from __future__ import annotations

import bisect
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from rdma_robust.record.recorded_log import LoggedRun, MappedModule, modules_of

_TIMEOUT_S = 60
_SYSTEM = ("/usr/lib", "/lib")
"""Libraries of the system, whose places nobody looks for."""


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A line of a file, and the function that it is in."""

    file: str
    line: int
    function: str


@dataclass
class CodePlaces:
    """The places of the addresses of a run: none without the tools of binutils, or without debug information."""

    run: LoggedRun
    _known: dict[tuple[str, int], tuple[CodePlace, ...]] = field(default_factory=dict)
    _symbols: dict[str, tuple[list[int], list[tuple[int, str]]]] = field(default_factory=dict)

    @cached_property
    def _modules(self) -> dict[int, list[MappedModule]]:
        return {process: modules_of(maps) for process, maps in self.run.maps.items()}

    def _module(self, process: int, address: int) -> MappedModule | None:
        return next((each for each in self._modules.get(process, ()) if each.start <= address < each.end), None)

    def look_up(self, addresses: Iterable[tuple[int, int]]) -> None:
        """Ask at once for addresses behind calls, each of a process."""
        wanted: dict[str, set[int]] = defaultdict(set)
        for process, address in addresses:
            module = self._module(process, address)
            if module is not None and not module.path.startswith(_SYSTEM):
                wanted[module.path].add(address - module.base)
        for path, found in wanted.items():
            ordered = sorted(found)
            for address, places in zip(ordered, call_places(path, ordered), strict=True):
                self._known[path, address] = places

    def places(self, process: int, chain: Iterable[int]) -> tuple[CodePlace, ...]:
        """Return the places of a chain of addresses, the innermost first, as far as there is debug information."""
        found = list[CodePlace]()
        for address in chain:
            module = self._module(process, address)
            if module is not None:
                found += self._known.get((module.path, address - module.base), ())
        return tuple(found)

    def symbol(self, process: int, address: int) -> tuple[str, int] | None:
        """Return the function or variable at an address, and how far behind its beginning that is."""
        module = self._module(process, address)
        if module is None:
            return None
        if module.path not in self._symbols:
            self._symbols[module.path] = _symbols(module.path)
        starts, named = self._symbols[module.path]
        at = address - module.base
        index = bisect.bisect_right(starts, at) - 1
        if index < 0 or at >= starts[index] + max(named[index][0], 1):
            return None
        return named[index][1], at - starts[index]


def call_places(path: str, addresses: list[int]) -> list[tuple[CodePlace, ...]]:
    """Return the places of each address behind a call in a file, inlined functions outwards."""
    tool = shutil.which("addr2line")
    if tool is None or not os.path.isfile(path):
        return [()] * len(addresses)
    asked = "".join(f"{address - 1:#x}\n" for address in addresses)
    command = [tool, "-a", "-i", "-f", "-C", "-e", path]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return [()] * len(addresses)
    found = list[list[CodePlace]]()
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            found.append([])
            continue
        file, _, number = next(lines, "").partition(" ")[0].rpartition(":")
        if number.isdigit() and int(number) and not file.startswith("?") and found:
            found[-1].append(CodePlace(_shown(file), int(number), line))
    return [tuple(each) for each in found] if len(found) == len(addresses) else [()] * len(addresses)


def _shown(file: str) -> str:
    """Return a file's name from the current folder if it is below it, else as it is."""
    path = os.path.normpath(file)
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def _symbols(path: str) -> tuple[list[int], list[tuple[int, str]]]:
    tool = shutil.which("nm")
    if tool is None or not os.path.isfile(path):
        return [], []
    try:
        command = [tool, "-C", "-n", "-S", "--defined-only", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return [], []
    starts, named = list[int](), list[tuple[int, str]]()
    for line in done.stdout.splitlines():
        address, *rest = line.split(" ", 3)
        if len(rest) == 3 and rest[1] in "tTdDbBrRuvVwW":
            starts.append(int(address, 16))
            named.append((int(rest[0], 16), rest[2]))
    return starts, named
