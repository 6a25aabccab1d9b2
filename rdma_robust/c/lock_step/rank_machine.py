"""One process of a C program with messages: its evaluation, call by call, and the statements that it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.c.code import Call, SourcePlace
from rdma_robust.c.evaluate.c_values import Object, UnknownValue, Value
from rdma_robust.c.evaluate.calls import FRAMES_CHANGED, CallContext, Handler
from rdma_robust.c.evaluate.operations import FAILED, Chain, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal, diagnostic, span_of
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.c.evaluate.silent_code import silent_run
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.channels import Answer, Channels, Message, OpenQuestion
from rdma_robust.c.lock_step.grids import Grid, NeighbourGraph
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData
from rdma_robust.c.lock_step.open_branches import BothWaysMachine
from rdma_robust.c.lock_step.own_windows import OwnWindow
from rdma_robust.c.lock_step.request_records import ActiveUse, RequestRecord
from rdma_robust.c.lock_step.window_conflicts import Clock, WindowAccess, WindowAccesses
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.expr import Const
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_terms import Term

STEPS: Final = 50_000_000
"""Steps of all processes together."""

FAILING: Final = 8
"""How often a test may fail at one place, unless a loop does nothing else."""
Facts = tuple[tuple[Term, int], ...]
"""What registers of the program of messages hold."""


class Blocked(Exception):
    """A call cannot go on yet: it is made again once others have done something."""


class WrongCallError(Exception):
    """A call of MPI is wrong by itself, which ends the program: its class, and what is said."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text


@dataclass(slots=True)
class RankWorld:
    """All that the processes of a run share: messages, collective calls, ports, and what was found. `unordered` is a call
    that may order accesses to windows in a way that is not followed. `is_open` says that what is open in it may decide
    something. `partitioned` are the sizes of partitions, by what such requests are matched by. `contents` are the messages
    of all runs, where every way is followed: what a number of a channel is."""

    processes: int
    span: Callable[[Span], Span]
    channels: Channels = field(default_factory=Channels)
    ports: list[str] = field(default_factory=lambda: [""])
    ranks: list[RankMachine] = field(default_factory=list)
    accesses: WindowAccesses = field(default_factory=WindowAccesses)
    unordered: str = ""
    is_open: bool = False
    has_windows: bool = False
    contents: dict[tuple[object, ...], dict[int, object]] = field(default_factory=dict)
    grids: dict[str, Grid | NeighbourGraph] = field(default_factory=dict)
    calls: dict[tuple[str, int], dict[int, object]] = field(default_factory=dict)
    partitioned: dict[tuple[object, ...], list[tuple[int, ...]]] = field(default_factory=dict)
    found: dict[Span, dict[tuple[str, str], list[int]]] = field(default_factory=dict)
    refused: list[Diagnostic] = field(default_factory=list)
    steps: int = 0

    def port(self, communicator: str, *, collective: bool = False) -> int:
        """Return the port of a communicator's messages, or of its collective calls."""
        name = "collectives" * collective + communicator
        if name not in self.ports:
            self.ports.append(name)
        return self.ports.index(name)

    def number_of(self, channel: tuple[object, ...], payload: MessageData, said: object = None) -> int:
        """Return the number that stands for what a message carries in the program of messages: where every way is followed,
        another one for each of what a channel (port, sender, receiver, tag) carries."""
        if self.channels.decided is None:
            return payload.number
        known = self.contents.setdefault(channel, {})
        content = payload.block.key(), payload.size, payload.basic, repr(said)
        number = payload.number
        while known.setdefault(number, content) != content:
            number += 1
        return number

    def place(self, chain: Sequence[SourcePlace]) -> Span:
        """Return the place of a call, with the calls around it."""
        return self.span(span_of(chain))


class RankMachine(BothWaysMachine):
    """A process in execution: it runs until it needs something of another one."""

    def __init__(self, world: World, job: RankWorld, number: int, library: Mapping[str, Handler]) -> None:
        super().__init__(world, f"P{number}", "main", library)
        self.job, self.number = job, number
        self.state = State()
        self.statements: list[mp.Statement] = []
        self.is_running = True
        self.stage: Literal["before", "inside", "after"] = "before"
        self.ongoing: RequestRecord | tuple[RequestRecord, ...] | None = None
        self.requests: dict[int, RequestRecord] = {}
        self.uses: dict[Object, list[ActiveUse]] = {}
        self.owned: dict[tuple[str, tuple[object, ...]], list[tuple[str, Chain]]] = {}
        self.committed: set[tuple[object, ...]] = set()
        self.collectives: dict[str, int] = {}
        self.clock = [int(each == number) for each in range(job.processes)]
        self.windows: dict[str, OwnWindow] = {}
        self.making: OwnWindow | None = None
        self.attached: tuple[Value, ...] = ()
        self.joining: str | None = None
        self.exposed: dict[Object, tuple[OwnWindow, ...]] = {}
        self.partly: dict[frozenset[int], int] = {}
        self.cells: dict[tuple[Object, int], int] = {}
        self.learned: list[tuple[int, Facts]] = []
        self.questions = self.sent = 0
        self.asking: OpenQuestion | None = None
        self.failed: Counter[Chain] = Counter()
        self.is_polling = False
        self.taking: mp.Place | None = None
        self.held: dict[int, tuple[Message, mp.Place, int]] = {}
        self._free: list[str] = []
        self._named = 0
        self._told: set[tuple[Span, str]] = set()
        self._at: Chain = ()

    # going on

    def advance(self) -> bool:
        """Run until something of another process is needed, or the end. Return whether it got any further."""
        moved = False
        try:
            while self.is_running:
                self.count_step()
                if moved:
                    self.job.steps += silent_run(self, self.state, self._addresses, STEPS - self.job.steps)
                top = self.state.frames[-1]
                steps = self.execute(self.state)
                moved = True
                if steps is not None:
                    self._at = (top.function.places[min(top.at, len(top.function.places) - 1)],)
                    self._take(steps)
        except Blocked:
            pass
        except WrongCallError as wrong:
            self.wrong(wrong.kind, wrong.text, self.chain(self.state), ends=True)
        except Refusal as refusal:
            self.refuse(refusal, self.chain(self.state))
        return moved

    def count_step(self) -> None:
        """Count a step, if it is followed."""
        self.job.steps += 1
        if self.job.steps > STEPS:
            said = f"the processes take more than {STEPS:,} steps until here, and no more are followed"
            raise Refusal("RR817", said, "smaller bounds")

    def _take(self, steps: Sequence[ThreadStep]) -> None:
        """Take steps that the evaluator gives: the end, or what messages do not have."""
        if len(steps) == 1 and steps[0].state is None and FAILED not in steps[0].operations:
            self.ends(self._at)
            return
        if any(FAILED in each.operations for each in steps):
            self.aborts("violation", "an assertion is false", self.chain(self.state) or self._at)
            return
        raise Refusal("RR814", "this is not modelled beside messages", "one thread for each process, and no RR_ANY")

    def ends(self, chain: Chain) -> None:
        """The process ends here."""
        self.is_running = False
        if self.stage == "inside":
            self.wrong("missing-finalize", "the process ends without MPI_Finalize", chain)

    def aborts(self, kind: str, text: str, chain: Chain) -> None:
        """The whole program ends here, and that is wrong."""
        self.wrong(kind, text, chain, ends=True)

    def refuse(self, refusal: Refusal, chain: Chain) -> None:
        """This process cannot be followed any further."""
        found = diagnostic(refusal, chain)
        if found not in self.job.refused:
            self.job.refused.append(found)
        self.emit(mp.Assume(Const(0), self.job.place(chain)))  # stopped is not ended: no deadlock, no leak comes of it
        self.is_running = False

    # what it does

    def emit(self, *statements: mp.Statement) -> int:
        """Add statements; return the place of the first."""
        self.check_loud()
        self.statements += statements
        return len(self.statements) - len(statements)

    def wrong(self, kind: str, text: str, chain: Chain, *, ends: bool = False) -> None:
        """Say that something is wrong, once for each place: where a run gets here, a claim is violated."""
        self.check_loud()
        span = self.job.place(chain)
        ranks = self.job.found.setdefault(span, {}).setdefault((kind, text), [])
        if self.number not in ranks:
            ranks.append(self.number)
        if ends:
            self.emit(mp.Abort(Const(1), span))
            self.is_running = False
        elif (span, kind) not in self._told:
            self._told.add((span, kind))
            self.emit(mp.Assert(Const(0), span))

    def new_place(self) -> mp.Place:
        """Return a request of the program of messages that is not in use."""
        if self._free:
            return mp.Place(self._free.pop())
        self._named += 1
        return mp.Place(f"r{self._named}")

    def release(self, places: Sequence[mp.Place]) -> None:
        """Let requests of the program of messages be used again."""
        self._free += [each.name for each in places if not each.name.startswith("$")]

    # what is open

    @property
    def follows(self) -> bool:
        """Whether every way is followed by itself."""
        return self.job.channels.decided is not None

    def learn(self, *facts: tuple[Term, int]) -> None:
        """Say what the process knows now, and may depend on from here: what registers of the program of messages hold."""
        if self.follows:
            self.learned.append((len(self.statements), facts))

    def answer(self, possible: Sequence[Answer], *, is_closed: bool) -> Answer:
        """Return what was decided of the last question, of the answers that it may have now. Raises Blocked until then."""
        self.asking = OpenQuestion((self.number, self.questions), possible, is_closed)
        found = (self.job.channels.decided or {}).get(self.asking.question)
        if found is None or found not in possible:
            raise Blocked
        self.asking = None
        return found

    def open_questions(self) -> list[OpenQuestion]:
        """Return what is open for this process, which waits."""
        if not self.is_running:
            return []
        waited = self.ongoing if isinstance(self.ongoing, tuple) and self.asking is None else ()
        awaited = {each.question for each in waited}
        found = self.job.channels.questions(self.number, awaited, self.others())
        return [*found, self.asking] if self.asking is not None else found

    def others(self) -> Set[int]:
        """Return the other processes that have not ended."""
        return {each.number for each in self.job.ranks if each.is_running and each is not self}

    def fails(self, chain: Chain, name: str) -> None:
        """A test fails. Raises Refusal where it has failed too often at its place."""
        self.failed[chain] += 1
        if self.failed[chain] > FAILING:
            hint = "a wait, or a loop that only tests: while (!flag) MPI_Test(&request, &flag, &status);"
            raise Refusal("RR817", f"`{name}` fails more than {FAILING} times, and no more are followed", hint)

    # requests

    def begin(self, record: RequestRecord, layout: BufferLayout | None, *, writes: bool) -> None:
        """Let a request be under way, which uses memory until it is complete."""
        record.is_active = True
        if layout is None or layout.object is None:
            return
        line = record.chain[0].line if record.chain else 0
        made = [(layout.object, ActiveUse(low, high, writes, record.call, line)) for low, high in layout.ranges]
        record.uses += tuple(made)
        for name, use in made:
            self.uses.setdefault(name, []).append(use)
        if layout.object in self.exposed:
            access = self.own_access(record.call, line, layout.object, layout.ranges, writes=writes)
            self.begin_access(layout.object, access, of_owner=True)
            record.accesses.append(access)

    def complete(self, record: RequestRecord) -> None:
        """Complete a request that is ready."""
        record.is_active = False
        self.unused(record)
        record.finish(self.state)
        self.release(record.places)
        if record.again is None:
            self.requests.pop(record.number, None)

    def unused(self, record: RequestRecord) -> tuple[tuple[Object, ActiveUse], ...]:
        """A request uses no memory any more; return what it used."""
        found, record.uses = record.uses, ()
        for access in record.accesses:
            access.end = self.clock[self.number]
        record.accesses = []
        for name, use in found:
            self.uses[name].remove(use)
        return found

    def note(self, state: State, name: Object, offset: int, size: int, *, is_write: bool) -> None:
        """Say that an access of the program meets memory that an operation under way uses."""
        for use in self.uses.get(name, ()):
            if (is_write or use.writes) and offset < use.high and use.low < offset + size:
                done = "written" if is_write else "read"
                text = f"`{name.name}` is {done} while {use.call} of line {use.line} is active"
                self.wrong("buffer-race", text, self.chain(state))
        if name in self.exposed:
            self.check_loud()
            self._note_own(state, name, offset, size, is_write=is_write)

    def is_watched(self, name: Object, /) -> bool:
        """Whether an operation under way uses an object, or a window exposes it."""
        return name in self.exposed or bool(self.uses.get(name))

    def note_layout(self, state: State, layout: BufferLayout, *, is_write: bool) -> None:
        """Say the same of all that a call accesses."""
        if layout.object is not None:
            for low, high in layout.ranges:
                self.note(state, layout.object, low, high - low, is_write=is_write)

    # one-sided accesses

    def stamp(self) -> Clock:
        """Return the moment until which this process tells others of itself; what it does from now on is behind that."""
        found = tuple(self.clock)
        self.clock[self.number] += 1
        return found

    def join(self, other: Clock) -> None:
        """What happened before a moment of another process happened before what this one does from now on."""
        self.clock = [max(pair) for pair in zip(self.clock, other, strict=True)]

    def own_access(
        self, call: str, line: int, name: Object, ranges: tuple[tuple[int, int], ...], *, writes: bool
    ) -> WindowAccess:
        """Return an access of this process to memory that it exposes."""
        is_exclusive = any(each.locks.get(self.number) for each in self.exposed[name])
        return WindowAccess(self.number, call, line, ranges, writes, tuple(self.clock), is_exclusive=is_exclusive)

    def _note_own(self, state: State, name: Object, offset: int, size: int, *, is_write: bool) -> None:
        """Note a load or store of memory that is exposed."""
        chain = self.chain(state)
        said = "a store" if is_write else "a load"
        access = self.own_access(said, chain[0].line if chain else 0, name, ((offset, offset + size),), writes=is_write)
        access.end = self.clock[self.number]
        if not self.job.accesses.is_known(name, access):
            self.begin_access(name, access, of_owner=True)
        if access.is_open and not is_write:
            self.raw_write(state, name, offset, size, UnknownValue("what others write at the same time"))

    def begin_access(self, name: Object, access: WindowAccess, *, of_owner: bool) -> None:
        """Note an access to memory in a window, and what it conflicts with. Raises Refusal where the order is not known."""
        for other in self.job.accesses.begin(name, access, of_owner=of_owner):
            if access.commutes_with(other):
                continue
            access.is_open = other.is_open = True
            if access.may_overlap_in_time(other):
                continue
            if access.excludes(other):
                if other.end is not None and not other.writes:
                    raise Refusal("RR819", f"what {other.call} of line {other.line} reads depends on the order of locks")
                continue
            if self.job.unordered:
                raise Refusal(
                    "RR819",
                    f"whether this is ordered with {other.call} of line {other.line} depends on {self.job.unordered}",
                )
            said = f"{access.call}, and {other.call} of P{other.process} (line {other.line}), access the same bytes"
            self.wrong("window-race", f"{said} of a window of {name.process}, in no order", self.chain(self.state))

    def emit_wait(self, records: Sequence[RequestRecord], chain: Chain) -> None:
        """Add the wait for what requests are in the program of messages, if there is anything."""
        if places := tuple(place for each in records for place in each.places):
            self.emit(mp.Wait(places, self.job.place(chain)))

    # calls

    def _known_call(self, state: State, each: Call, arguments: list[Value], name: str) -> list[ThreadStep] | None:
        """Make a call of a library. It changes the state itself: a call that is blocked has changed nothing, and evaluation
        does not go on behind other exceptions."""
        self.check_call(name)
        call = CallContext(self, state, state.frames[-1], each, arguments, name, self.chain(state), self.push)
        found = self.library[name](call)
        if isinstance(found, list):
            return found
        if found is not FRAMES_CHANGED:
            call.finish(found)
        return None


def rank_of(call: CallContext) -> RankMachine:
    """Return the process that makes a call."""
    assert isinstance(call.run, RankMachine)
    return call.run
