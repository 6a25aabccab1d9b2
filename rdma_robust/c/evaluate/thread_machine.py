"""Evaluation of one thread: register code to an automaton of what others see.

A place of the automaton is a state of the thread without what nothing will use; equal states are one place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final

from rdma_robust.c.code import (
    Address,
    Branch,
    Call,
    CopyBytes,
    CType,
    Fresh,
    Function,
    FunctionReturn,
    Instruction,
    JumpTo,
    Load,
    Store,
    UnreadCode,
    ZeroBytes,
)  # fmt: skip
from rdma_robust.c.evaluate import word_copies
from rdma_robust.c.evaluate.arithmetic import COMPUTING
from rdma_robust.c.evaluate.c_values import (
    CaseSplit,
    FunctionValue,
    Object,
    Pointer,
    RemainderSplit,
    Scalar,
    Symbolic,
    UnknownValue,
    Value,
    convert,
    extracted,
    inserted,
    known_scalar,
    map_one,
    map_two,
    raw_of,
    truth,
)  # fmt: skip
from rdma_robust.c.evaluate.calls import FRAMES_CHANGED, CallContext, Handler, as_number, call_without_body
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import FAILED, SET_ASIDE, SKIP, Chain, Choice, ThreadStep
from rdma_robust.c.evaluate.raw_automaton import RawAutomaton, RawEdge
from rdma_robust.c.evaluate.refused_code import Refusal, RunEnds, diagnostic
from rdma_robust.c.evaluate.round_facts import ENDED_IN_SET_UP, World
from rdma_robust.c.evaluate.silent_code import Addresses, silent_run, translated
from rdma_robust.c.evaluate.state import Frame, State
from rdma_robust.c.evaluate.thread_run import ThreadRun

DEPTH: Final = 200
"""Calls inside of one another that are followed."""
_BAD_ADDRESS = ("RR813", "RR816")
_WATCHED = 500
"""Steps that nobody sees before states are compared, to find out whether a thread goes round forever."""
_STEPS_PER_CELL = 8
"""How many steps there are for each cell of memory until states are compared again."""
_OWN_LIBRARY = ("ibv_", "__ibv_", "___ibv_", "rdma_", "pthread_", "sem_", "__rr_")
"""Functions that are known by name even where a header has a body for them."""


class ThreadMachine(ThreadRun):
    """A thread in execution, with the calls that are known by name."""

    def __init__(
        self, world: World, process: str, thread: str, library: Mapping[str, Handler], is_spawned: bool = False
    ) -> None:
        super().__init__(world, process, thread, is_spawned)
        self.library = library
        self.automaton = RawAutomaton()
        self._addresses: Addresses = {}
        self._parted: set[Chain] = set()
        self._gone_on: set[Chain] = set()
        self._failing: dict[Chain, Refusal] = {}

    def automaton_from(self, state: State) -> RawAutomaton:
        """Return the automaton of the thread from a state on."""
        state.prune(self.thread)
        places: dict[Hashable, int] = {state.key(): self.automaton.new_place()}
        todo = [(0, state)]
        while todo:
            place, at = todo.pop()
            for step in self.steps(at):
                to, is_new = self._place_of(step.state, places)
                if is_new and step.state is not None:
                    if len(places) > self.world.options.places:
                        self._note(_TOO_MANY, step.chain)
                        return self.automaton
                    todo.append((to, step.state))
                self._add(place, step, to)
        for chain, refusal in self._failing.items():
            if chain not in self._gone_on:
                self._note(refusal, chain)
        return self.automaton

    def _place_of(self, state: State | None, places: dict[Hashable, int]) -> tuple[int, bool]:
        key: Hashable = None
        if state is not None:
            state.prune(self.thread)
            key = state.key()
        if key in places:
            return places[key], False
        places[key] = self.automaton.new_place()
        return places[key], True

    def _add(self, place: int, step: ThreadStep, to: int) -> None:
        """Add the operations of a step, one behind the other."""
        operations = step.operations or (None,)
        for index, operation in enumerate(operations):
            behind = to if index == len(operations) - 1 else self.automaton.new_place()
            self.automaton.edges[place].append(RawEdge(operation, step.chain, behind))
            place = behind

    def _note(self, refusal: Refusal, chain: Chain) -> None:
        found = diagnostic(refusal, chain)
        told = self.automaton.follows if refusal.follows else self.automaton.refused
        if found not in told:
            told.append(found)

    def steps(self, state: State) -> list[ThreadStep]:
        """Return what the thread does next that others see, or where its way parts."""
        state = state.copy()
        seen: set[Hashable] = set()
        next_look = _WATCHED + 1
        count = 0
        while count < self.world.options.silent_steps:
            first = self.chain(state) if count == 0 else ()
            try:
                if count:
                    count += silent_run(self, state, self._addresses, next_look - count)
                if count >= next_look:
                    next_look = count + _STEPS_PER_CELL * state.cells() + 1
                    key = state.key()
                    if key in seen:
                        return [ThreadStep((), self.chain(state), state)]  # it goes round forever
                    seen.add(key)
                found = self.execute(state)
            except CaseSplit as split:
                chain = self.chain(state)
                self._parted.add(chain)
                return [self._chosen(state, split, raws, chain) for raws in split.classes]
            except RemainderSplit as split:
                self.world.remark("RR846", f"each remainder of {split.reason} by a small number is taken", self.chain(state))
                return [ThreadStep((), self.chain(state), each) for each in state.remainders(split.divisor)]
            except RunEnds:
                return [ThreadStep((SET_ASIDE,), self.chain(state), None)]
            except Refusal as refusal:
                return [self._refused(refusal, self.chain(state))]
            if first in self._parted:
                self._gone_on.add(first)
            if found is not None:
                if not state.is_set_up and any(step.state is None for step in found):
                    self.world.found.said.add(ENDED_IN_SET_UP)
                return found
            count += 1
        self._note(_SILENT, self.chain(state))
        return [ThreadStep((), self.chain(state), None)]

    def _refused(self, refusal: Refusal, chain: Chain) -> ThreadStep:
        """Return the step where something is not understood. Where it is a bad address that one of several values makes, and
        others do not, that is a claim that is violated: the value may be one that no run has there."""
        if refusal.code in _BAD_ADDRESS and chain in self._parted:
            self._failing.setdefault(chain, refusal)
            message = "where some value that was read makes a bad address, the way ends with a claim that is violated"
            self.world.remark("RR846", message, chain)
            return ThreadStep((FAILED,), chain, None)
        self._note(refusal, chain)
        return ThreadStep((SKIP,), chain, None)

    def _chosen(self, state: State, split: CaseSplit, raws: frozenset[Scalar], chain: Chain) -> ThreadStep:
        among = frozenset[Scalar]().union(*split.classes)
        return ThreadStep((Choice(split.register, raws, among),), chain, state.restrict(split.register, raws))

    def execute(self, state: State) -> list[ThreadStep] | None:
        """Execute the next instruction; return steps that others see, or None. It changes nothing where it raises."""
        frame = state.frames[-1]
        if frame.at >= len(frame.function.code):
            return self._return(state, frame, FunctionReturn(None))
        instruction = frame.function.code[frame.at]
        return _EXECUTE[type(instruction)](self, state, frame, instruction)

    def _silently(self, _state: State, frame: Frame, _each: Instruction) -> None:
        """Execute an instruction that neither others see nor memory has a part in."""
        frame.at = translated(self, frame.function)[0][frame.at](frame.registers, None)

    def _address(self, state: State, frame: Frame, each: Address) -> None:
        frame.registers[each.target] = Pointer(self.object_of(state, each.variable), each.offset)
        frame.at += 1

    # memory

    def _fresh(self, state: State, frame: Frame, each: Fresh) -> None:
        found = self.object_of(state, each.variable)
        if each.size is not None:
            self.world.sizes[found] = max(as_number(frame.registers[each.size], "the size of this array"), 0)
        if self.is_private(state, found) or found in state.memory:
            state.place(found, ObjectBytes())
        frame.at += 1

    def _zero(self, state: State, frame: Frame, each: ZeroBytes) -> list[ThreadStep] | None:
        target = self.object_of(state, each.variable), each.offset
        return self.go_on(state, frame, word_copies.bytes_set(self, state, target, each.size, 0) if each.size else [])

    def _load(self, state: State, frame: Frame, each: Load) -> list[ThreadStep] | None:
        address = known_scalar(frame.registers[each.address])
        if isinstance(address, FunctionValue) or (
            isinstance(address, UnknownValue) and (address.anything or not state.is_set_up)
        ):
            frame.registers[each.target] = address
            return self.go_on(state, frame, [])
        name, offset = self.address(address, "this read")
        value, operations = self.load(state, frame, name, offset, kind=each.type, hint=self.hint(frame, each.target))
        if each.bits is not None:
            low, width = each.bits.low, each.bits.width
            value = map_one(value, lambda x: extracted(x, low, width, each.type.signed))
        frame.registers[each.target] = value
        return self.go_on(state, frame, operations)

    def _store(self, state: State, frame: Frame, each: Store) -> list[ThreadStep] | None:
        value = frame.registers[each.value]
        name, offset = self.address(frame.registers[each.address], "this write")
        if each.bits is not None:
            low, width = each.bits.low, each.bits.width
            if frame.pending is None:
                old, operations = self.load(state, frame, name, offset, kind=each.type, hint="bits")
                if operations:
                    frame.pending = old
                    return [ThreadStep(tuple(operations), self.chain(state), state)]
            else:
                old = frame.pending
            if isinstance(old, UnknownValue) and not old.anything:
                old = 0
            value = map_two(old, value, lambda x, y: inserted(x, y, low, width))
        written = self.store(state, frame, name, offset, kind=each.type, value=value)
        frame.pending = None
        return self.go_on(state, frame, written)

    def _copy(self, state: State, frame: Frame, each: CopyBytes) -> list[ThreadStep] | None:
        target = self.address(frame.registers[each.to], "this write")
        source = self.address(frame.registers[each.source], "this read")
        if not each.size or target == source:
            return self.go_on(state, frame, [])
        found = word_copies.copied(self, state, target, source, each.size, leaves=each.leaves)
        return self.go_on(state, frame, found)

    # control

    def _branch(self, state: State, frame: Frame, each: Branch) -> list[ThreadStep] | None:
        join = frame.function.joins.get(frame.at)
        if join is not None:
            frame.at = join
            return None
        value = frame.registers[each.condition]
        if isinstance(value, Symbolic):
            found = map_one(value, lambda x: x if isinstance(x, UnknownValue) else int(truth(x) is True))
            if isinstance(found, Symbolic):
                classes: dict[Scalar, set[Scalar]] = {}
                for raw, way in found.cases:
                    classes.setdefault(way, set()).add(raw)
                raise CaseSplit(found.register, [frozenset(raws) for raws in classes.values()])
            value = found
        way = truth(value)
        if isinstance(way, bool):
            frame.at = each.then if way else each.otherwise
            return None
        if not way.anything and not way.is_random:
            self.undecided(state, each, way)
            return None
        chain, reason = self.chain(state), "a local of RR_ANY" if way.anything else way.reason
        self.world.remark("RR846", f"both ways are taken where a branch depends on {reason}", chain)
        return [ThreadStep((), chain, way) for way in state.both_ways(each, is_random=way.is_random)]

    def undecided(self, _state: State, _branch: Branch, way: UnknownValue, /) -> None:
        """Go on behind a branch of which the way is not known. Raises Refusal where that is not possible."""
        said = f"which way to go depends on {way.reason}, which is not known here"
        hint = "RR_ASSUME(condition) says what holds, RR_INSTEAD gives a body, RR_ANY takes both ways"
        raise Refusal("RR819", said, hint)

    def _return(self, state: State, frame: Frame, each: FunctionReturn) -> list[ThreadStep] | None:
        value: Value = 0 if each.value is None else frame.registers[each.value]
        depth = len(state.frames) - 1
        result = frame.function.result
        if not depth and self.is_spawned:
            self.returns(value)  # which may split the value, and so comes first
        state.frames.pop()
        if not state.frames:
            return [ThreadStep((), (), None)]
        caller = state.frames[-1]
        if frame.target is not None:
            if result.kind in ("record", "array") and isinstance(value, Pointer):
                value = self._kept(state, depth, frame.target, value, result)
            caller.registers[frame.target] = map_one(value, lambda x: convert(x, result))
        for name in [each for each in state.memory if each.kind == "local" and each.key[:2] == (self.thread, depth)]:
            state.drop(name)
        caller.at += caller.pending is None
        return None

    def _kept(self, state: State, depth: int, target: int, value: Pointer, kind: CType) -> Pointer:
        """Return a record that a call returns as a temporary of the caller."""
        kept = Object("local", self.process, "the result of a call", (self.thread, depth - 1, f"({target})", ""))
        self.world.declare(kept, kind)
        state.place(kept, ObjectBytes())
        word_copies.copied(self, state, (kept, 0), (value.object, value.offset), kind.size)
        return Pointer(kept)

    def _unread(self, _state: State, _frame: Frame, each: UnreadCode) -> None:
        raise Refusal(each.code, each.message, each.hint)

    # calls

    def _call(self, state: State, frame: Frame, each: Call) -> list[ThreadStep] | None:
        name = self._callee(frame, each)
        name = self.world.units.instead(name) or name
        handler = self.library.get(name)
        body = self.world.units.function(name)
        arguments = [frame.registers[register] for register in each.arguments]
        if handler is not None and (body is None or name.startswith(_OWN_LIBRARY)):
            return self._known_call(state, each, arguments, name)
        if "rr_setup" in self.world.units.annotations(name):
            frame.at += 1
            if each.target is not None:
                frame.registers[each.target] = UnknownValue(f"what `{name}` returns")
            return None
        if body is not None:
            self.push(state, body, arguments, each.target)
            return None
        call_without_body(frame, each, arguments, name)
        return None

    def _callee(self, frame: Frame, each: Call) -> str:
        if isinstance(each.callee, str):
            return each.callee
        value = known_scalar(frame.registers[each.callee])
        if isinstance(value, FunctionValue):
            return value.name
        what = value.reason if isinstance(value, UnknownValue) else "a pointer to no function"
        raise Refusal(
            "RR816", f"this is a call through {what}, which is not known here", "trace it to a function, or RR_INSTEAD"
        )

    def _known_call(self, state: State, each: Call, arguments: list[Value], name: str) -> list[ThreadStep] | None:
        trial = state.copy()
        call = CallContext(self, trial, trial.frames[-1], each, arguments, name, self.chain(state), self.push)
        found = self.library[name](call)
        if isinstance(found, list):
            return found
        if found is not FRAMES_CHANGED:
            call.finish(found)
        state.become(trial)
        return None

    def push(self, state: State, body: Function, arguments: list[Value], target: int | None) -> None:
        """Add a frame with parameters; missing arguments are unknown, what is too much is left out."""
        depth = len(state.frames)
        if depth >= DEPTH:
            raise Refusal("RR816", f"more than {DEPTH} calls inside of one another are not followed", "write it as a loop")
        frame = Frame(body, target=target)
        for index, variable in enumerate(body.parameters):
            found = self.local(depth, body.name, variable)
            value: Value = arguments[index] if index < len(arguments) else UnknownValue(f"the parameter `{variable.name}`")
            self.world.declare(found, variable.type)
            state.place(found, ObjectBytes())
            if variable.type.kind == "record":
                word_copies.copied(self, state, (found, 0), self.address(value, "an argument"), variable.type.size)
            else:
                state.block(found).write(0, max(variable.type.size, 1), _parameter(value, variable.type))
        state.frames.append(frame)


def _parameter(value: Value, kind: CType) -> Value:
    return map_one(value, lambda each: raw_of(convert(each, kind), kind))


_TOO_MANY = Refusal(
    "RR820",
    "this thread has too many different states",
    "a counter that grows? RR_ANY, if it is for statistics",
)
_SILENT = Refusal("RR817", "this loop takes more steps than are followed, and nobody sees what it does", "a smaller bound")
_EXECUTE: dict[type[Instruction], Callable[..., list[ThreadStep] | None]] = {
    **dict.fromkeys((*COMPUTING, JumpTo), ThreadMachine._silently),
    Address: ThreadMachine._address,
    Fresh: ThreadMachine._fresh,
    ZeroBytes: ThreadMachine._zero,
    Load: ThreadMachine._load,
    Store: ThreadMachine._store,
    CopyBytes: ThreadMachine._copy,
    Branch: ThreadMachine._branch,
    Call: ThreadMachine._call,
    FunctionReturn: ThreadMachine._return,
    UnreadCode: ThreadMachine._unread,
}
