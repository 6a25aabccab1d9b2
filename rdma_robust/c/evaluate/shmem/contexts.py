"""Contexts and teams of OpenSHMEM: which queue pairs a call uses, and which processes its numbers name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdma_robust.c.evaluate.c_values import Pointer, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, as_number
from rdma_robust.c.evaluate.one_sided.spmd import is_fenced, numbered, own_number, processes_of, queue_pair, store_handle
from rdma_robust.c.evaluate.refused_code import Refusal

_MOST_SIGNALS = 8
WORLD, SHARED = 1, 2
"""What `SHMEM_TEAM_WORLD` and `SHMEM_TEAM_SHARED` are in our header; `SHMEM_CTX_DEFAULT` is 1 too."""


@dataclass(frozen=True, slots=True)
class ShmemTeam:
    """Processes by their numbers in all, in the order of their numbers in the team; atomics of two teams are not atomic
    with each other (`name`)."""

    members: tuple[int, ...]
    name: str

    def processes(self, call: CallContext) -> tuple[str, ...]:
        """Return its processes."""
        return tuple(numbered(call, each) for each in self.members)


@dataclass(frozen=True, slots=True)
class ShmemContext:
    """A context: its `label`, what `quiet` completes together; its team, and the label of the queue pairs that it uses."""

    label: str
    team: ShmemTeam
    queue: str

    def process(self, call: CallContext, number: int) -> str:
        """Return the process that a number names. Raises RR818 if there is none."""
        if not 0 <= number < len(self.team.members):
            raise Refusal("RR818", f"there is no process {number} here: there are {len(self.team.members)}")
        return numbered(call, self.team.members[number])

    def of_signal(self, call: CallContext, peer: str) -> ShmemContext:
        """Return what a put with a signal uses. The standard orders its data and its signal with each other, and with
        nothing else, so that it has queue pairs of its own where that is asked about."""
        if not call.run.world.options.is_of_standard:
            return self
        if is_fenced(call, queue_pair(call, peer, self.queue)):
            raise Refusal("RR814", "a put with a signal behind a fence is not modelled", "shmem_quiet in place of the fence")
        number = call.state.numbers.get(("signals", self.label), 0) + 1
        if number > _MOST_SIGNALS:
            raise Refusal("RR817", f"more than {_MOST_SIGNALS} puts with a signal are in flight", "shmem_quiet between them")
        call.state.numbers["signals", self.label] = number
        return replace(self, queue=f"{self.queue}signal{number}_")


def everybody(call: CallContext) -> ShmemTeam:
    """Return the team of all processes."""
    return ShmemTeam(tuple(range(len(processes_of(call.run.world)))), "world")


def team_of(call: CallContext, value: Value) -> ShmemTeam | None:
    """Return the team that a handle stands for, None for `SHMEM_TEAM_INVALID`. All processes share memory."""
    found = known_scalar(value)
    if found in (WORLD, SHARED):
        return replace(everybody(call), name="world" if found == WORLD else "shared")
    if isinstance(found, Pointer) and found.object.name == "team":
        return ShmemTeam(tuple(int(str(each)) for each in found.object.key), "with " + " ".join(map(str, found.object.key)))
    if as_number(value, "this team") == 0:
        return None
    raise Refusal("RR814", "this team is not known here")


def own_team(call: CallContext, value: Value) -> ShmemTeam:
    """Return a team that this process is one of. Raises RR818 if it is none."""
    found = team_of(call, value)
    if found is None or own_number(call) not in found.members:
        raise Refusal("RR818", f"{call.run.process} is none of this team", "compare the team with SHMEM_TEAM_INVALID before")
    return found


def active_set(call: CallContext, first: int) -> ShmemTeam:
    """Return the processes of an active set: the first, the logarithm of their distance, their number."""
    start, stride, size = (call.number(first + index, "an active set") for index in range(3))
    if stride < 0 or size <= 0:
        raise Refusal("RR818", f"there is no active set of {size} processes with the distance 2^{stride}")
    return ShmemTeam(tuple(start + index * 2**stride for index in range(size)), "")


def context_of(call: CallContext, value: Value) -> ShmemContext:
    """Return the context that a handle stands for."""
    found = known_scalar(value)
    if isinstance(found, Pointer) and found.object.name == "context":
        label, *members = found.object.key
        team = ShmemTeam(tuple(int(str(each)) for each in members[1:]), str(members[0]))
        return ShmemContext(str(label), team, f"{label}_")
    if as_number(value, "this context") == 1:
        return default_context(call)
    raise Refusal("RR814", "this context is not known here", "shmem_ctx_create makes one, and may fail")


def default_context(call: CallContext) -> ShmemContext:
    """Return the context of calls that name none."""
    return ShmemContext("", everybody(call), "")


def new_context(call: CallContext, address: Value, team: ShmemTeam) -> int:
    """Store the handle of a new context; return what its creation returns."""
    number = call.state.numbers.get("contexts", 0) + 1
    call.state.numbers["contexts"] = number
    store_handle(call, address, "context", (f"ctx{number}", team.name, *team.members))
    return 0
