"""All settings of the hardware that can make a difference to a program, the strongest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from rdma_robust.language.flow.cfg import Get, Program, Recv, RemoteRmw, Write, steps
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.event_table import is_remote
from rdma_robust.semantics.values import is_loop_free

WORDS: Final[dict[str, tuple[Any, ...]]] = {
    "cpu": ("sc", "tso"),
    "atomics": ("glob", "hca"),
    "order": ("default", "multipath", "relaxed"),
    "ordered_reads": (True, False),
}
"""What the hardware can be, word by word, from that which keeps most to that which keeps least."""


@dataclass(frozen=True, slots=True)
class HardwareSettings:
    """The settings, by how many steps they are weaker than the strongest one; `left_out` says which were, and why."""

    models: tuple[Model, ...]
    left_out: tuple[str, ...]

    def like(self, model: Model) -> Model:
        """Return the one of these settings that makes no difference to `model`."""
        known = {word: {getattr(each, word) for each in self.models} for word in WORDS}
        other = {"order": "multipath" if "multipath" in known["order"] else RDMA.order}
        words: dict[str, Any] = {word: getattr(model, word) for word in WORDS}
        kept = {w: v if v in known[w] else other.get(w, getattr(RDMA, w)) for w, v in words.items()}
        return replace(RDMA, **kept)


def weakness(model: Model) -> int:
    """Return by how many steps, of one word each, a setting is weaker than the strongest."""
    return sum(values.index(getattr(model, word)) for word, values in WORDS.items())


def settings_of(program: Program) -> HardwareSettings:
    """Return the settings under which the events of `program`, or the order that is kept of them, are not the same.

    A word that makes no difference has its usual value: only stores and receives wait in store buffers, only remote
    read-modify-writes are atomic against something, `multipath` and `relaxed` differ only in these, and the order of reads
    is about two gets of one queue pair.
    """
    used = {type(step.op) for thread in program.threads for _, _, step in thread.edges}
    remote = any(is_remote(step.op) for thread in program.threads for _, _, step in thread.edges)
    values, left_out = dict(WORDS), []
    if not used & {Write, Recv}:
        values["cpu"] = (RDMA.cpu,)
        left_out.append("cpu: no thread stores to a variable, or posts a receive")
    if RemoteRmw not in used:
        values["atomics"] = (RDMA.atomics,)
        left_out.append("atomics: there are no remote atomics")
    if not remote:
        values["order"] = (RDMA.order,)
        left_out.append("order: nothing is handed to a network card")
    elif RemoteRmw not in used:
        values["order"] = ("default", "multipath")
        left_out.append("order relaxed: without remote atomics it is as multipath")
    if not _reads_twice(program):
        values["ordered_reads"] = (RDMA.ordered_reads,)
        left_out.append("reads: no queue pair has two gets")
    made = (replace(RDMA, **dict(zip(values, each, strict=True))) for each in product(*values.values()))
    return HardwareSettings(tuple(sorted(made, key=weakness)), tuple(left_out))


def _reads_twice(program: Program) -> bool:
    """Whether a queue pair may have two gets under way."""
    gets = Counter(_gets(program))
    return bool(gets) and (not is_loop_free(program) or max(gets.values()) > 1)


def _gets(program: Program) -> Iterator[tuple[str, str]]:
    for thread in program.threads:
        for _, _, step in steps(thread):
            if isinstance(step.op, Get):
                yield thread.name, step.op.source.node
