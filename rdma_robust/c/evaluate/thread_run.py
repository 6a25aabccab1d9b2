"""One thread of a process while it is evaluated: where it is, and its accesses to memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rdma_robust.c.code import Address, Branch, Call, Cast, CType, FunctionReturn, JumpTo, Register, Store, Variable
from rdma_robust.c.evaluate.byte_ranges import EVERYTHING, Touch
from rdma_robust.c.evaluate.c_values import (
    Object,
    Pointer,
    Scalar,
    UnknownValue,
    Value,
    known_scalar,
    map_one,
    raw_of,
    symbolic,
    value_of_raw,
)
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import (
    FENCE,
    Chain,
    RegisterUse,
    ThreadStatement,
    ThreadStep,
    Word,
    read_statement,
    write_statement,
    written_operand,
)
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import WIDEST, World
from rdma_robust.c.evaluate.state import Frame, State, UnfilledBuffer, local_of

_LOOKED_AHEAD = 12
_NULL_PAGE = 4096
"""Addresses below are a null pointer, with an offset into what it does not point to."""


class ThreadRun:
    """A thread: its process, its name, and the world. A main thread begins with set-up, a spawned one does not."""

    def __init__(self, world: World, process: str, thread: str, is_spawned: bool = False) -> None:
        self.world, self.process, self.thread, self.is_spawned = world, process, thread, is_spawned
        self._locals: dict[tuple[int, str, str], Object] = {}

    # where it is

    def chain(self, state: State) -> Chain:
        """Return the places of the instructions in execution, the innermost first."""
        found = [(frame.function.places, frame.at) for frame in reversed(state.frames) if frame.function.places]
        return tuple([places[at] if at < len(places) else places[-1] for places, at in found])

    def local(self, depth: int, function: str, variable: Variable) -> Object:
        """Return the object of a local of the call of a function at a depth."""
        key = depth, function, variable.unique
        if key not in self._locals:
            self._locals[key] = local_of(self.process, self.thread, depth, function, variable)
        return self._locals[key]

    def object_of(self, state: State, variable: Variable) -> Object:
        """Return the object of a variable, which is there afterwards if it is private."""
        if variable.is_global:
            found = self.world.global_of(self.process, variable)
            if found not in state.memory and self.is_private(state, found):
                shared = self.world.known.shared.get(found, ()) if state.is_set_up else ()
                contents = self.world.contents_of(found)
                state.memory[found] = contents.without(shared) if shared else contents
            return found
        found = self.local(len(state.frames) - 1, state.frames[-1].function.name, variable)
        self.world.declare(found, variable.type)
        if found not in state.memory and self.is_private(state, found):
            state.place(found, ObjectBytes())
        return found

    def is_visible(self, state: State, name: Object, offset: int = 0, size: int = EVERYTHING[1]) -> bool:
        """Whether others see accesses to bytes of an object: they are shared, and set-up has ended or they are not of this
        process."""
        return (state.is_set_up or name.process != self.process) and self.world.is_shared(name, offset, size)

    def is_private(self, state: State, name: Object) -> bool:
        """Whether some bytes of an object are of this thread alone."""
        return not (state.is_set_up or name.process != self.process) or not self.world.is_all_shared(name)

    def is_watched(self, _: Object, /) -> bool:
        """Whether more than the value matters in accesses to an object that is private."""
        return False

    def is_any(self, frame: Frame, name: Object) -> bool:
        """Whether RR_ANY is said of a local."""
        return name.kind == "local" and (frame.function.name, name.name) in self.world.units.any_locals()

    def new_register(self, state: State, hint: str, taken: Sequence[str] = ()) -> str:
        """Return a register that holds nothing that is used."""
        base = re.sub(r"\W", "_", hint) or "r"
        used = {each.register for each in state.symbols()}.union(taken)
        name, number = base, 1
        while name in used:
            number += 1
            name = f"{base}{number}"
        return name

    def hint(self, frame: Frame, target: Register | None) -> str:
        """Return the name of the local that a result goes to, to call a register by it."""
        code = frame.function.code
        addresses: dict[Register, Variable] = {}
        for instruction in code[frame.at + 1 : frame.at + _LOOKED_AHEAD]:
            match instruction:
                case Cast(to, source) if source == target:
                    target = to
                case Address(to, variable) if not variable.is_global:
                    addresses[to] = variable
                case Store(address, value) if value == target and address in addresses:
                    return addresses[address].name
                case Branch() | JumpTo() | Call() | FunctionReturn():
                    break
                case _:
                    pass
        return ""

    # memory

    def address(self, value: Value, what: str) -> tuple[Object, int]:
        """Return object and offset of an address. Raises RR811 for one that is not known, RR813 for a number."""
        found = known_scalar(value)
        if isinstance(found, Pointer):
            return found.object, found.offset
        if isinstance(found, UnknownValue):
            raise Refusal(
                "RR811",
                f"{what} goes through {found.reason}, which is not known here",
                "trace it to a variable; RR_IMPORT gives an address of the other side, RR_IGNORE leaves a variable out",
            )
        raise Refusal("RR813", f"{what} goes through {_shown(found)}, which is no address of an object")

    def own(self, name: Object, what: str) -> None:
        """Raises RR813 if memory is not of this process."""
        if name.process != self.process:
            raise Refusal(
                "RR813",
                f"`{name.name}` is memory of {name.process}, which a processor of {self.process} cannot {what}",
                "it is reached by requests to the NIC only",
            )

    def scalar_words(self, name: Object, offset: int, size: int, what: str) -> list[Word]:
        """Return the words that a scalar is: one; if it is too large, those that copies have; where races are asked for,
        those that others touch one by one.

        Raises RR815 if there are several for another reason, and it is not about races.
        """
        cuts = range(offset + WIDEST, offset + size, WIDEST)
        if not cuts and not self.world.options.is_about_races:
            return [self.one_word(name, offset, size, what)]
        words = self.world.words(name, offset, size, cuts)
        if len(words) > 1:
            self.world.remark("RR846", f"an access of {size} bytes is taken as one for each word, in address order")
        return words

    def one_word(self, name: Object, offset: int, size: int, what: str) -> Word:
        """Return the word that a scalar is. Raises RR815 if it is a part of one, or several."""
        found = self.world.words(name, offset, size)
        if len(found) > 1:
            raise Refusal(
                "RR815",
                f"this {what} of {size} bytes covers {len(found)} words of `{name.name}` that others touch one by one",
                "access them one by one, or everywhere as a whole",
            )
        return found[0]

    def raw_read(self, state: State, name: Object, offset: int, size: int) -> Value:
        """Return the raw value of bytes of a private object. Raises RR813 for memory that is no more, or outside."""
        if name.kind == "text":
            return ObjectBytes({at: (1, each) for at, each in enumerate(bytes_of_text(name))}).read(
                offset, size, "a literal"
            )
        self._check_range(name, offset, size)
        if name in state.memory:
            return state.memory[name].read(offset, size, name.name)
        raise Refusal("RR813", f"`{name.name}` is memory that is no more, or of another thread")

    def raw_write(self, state: State, name: Object, offset: int, size: int, raw: Value) -> None:
        """Store a raw value in a private object."""
        self._check_range(name, offset, size)
        if name not in state.memory:
            raise Refusal("RR813", f"`{name.name}` is memory that is no more, or cannot be written")
        state.block(name).write(offset, size, raw)

    def _check_range(self, name: Object, offset: int, size: int) -> None:
        total = self.world.sizes.get(name, 0)
        if offset < 0 or (total and offset + size > total):
            raise Refusal("RR813", f"bytes {offset} to {offset + size} are outside of `{name.name}`, which has {total}")

    def note(self, state: State, name: Object, offset: int, size: int, *, is_write: bool) -> None:
        """Say that this thread accesses bytes of an object. Raises RR814 where a message is still to be stored there."""
        if any(isinstance(each, UnfilledBuffer) and each.has_some(name, offset, size) for each in state.numbers):
            raise Refusal("RR814", f"`{name.name}` is accessed while a message into it is under way", "MPI_Wait before")
        if self.is_spawned or state.threads:
            self.world.touch(name, Touch(self.thread, offset, offset + size, is_write, state.threads))

    # accesses of scalars

    def load(
        self, state: State, frame: Frame, name: Object, offset: int, *, kind: CType, hint: str
    ) -> tuple[Value, list[ThreadStatement]]:
        """Return the value of a scalar, and the read that others see, if they do."""
        if name in self.world.known.ignored or name in self.world.found.ignored:
            return UnknownValue(f"`{name.name}`, which is ignored"), []
        if self.is_any(frame, name):
            return UnknownValue(f"`{name.name}`, which may have any value", True), []
        self.note(state, name, offset, kind.size, is_write=False)
        if not self.is_visible(state, name, offset, kind.size):
            self.own(name, "read")
            return map_one(self.raw_read(state, name, offset, kind.size), lambda raw: value_of_raw(raw, kind)), []
        self.own(name, "read")
        words = self._words_of_scalar(name, offset, kind, "read")
        if len(words) > 1:
            return self._load_of_words(state, words, hint, kind)
        (word,) = words
        register, raw = self.read_word(state, word, hint)
        return map_one(raw, lambda each: value_of_raw(each, kind)), [read_statement(register, word)]

    def _words_of_scalar(self, name: Object, offset: int, kind: CType, what: str) -> list[Word]:
        """Return the words of a scalar that this processor accesses."""
        words = self.scalar_words(name, offset, kind.size, what)
        for word in words:
            self.kind_of_access(word, kind)
        return words

    def _load_of_words(
        self, state: State, words: Sequence[Word], hint: str, kind: CType
    ) -> tuple[Value, list[ThreadStatement]]:
        """Return reads of the words of a scalar; what it is, is not known."""
        reads: list[ThreadStatement] = []
        for word in words:
            register, _ = self.read_word(state, word, hint, [each.register for each in reads])
            reads.append(read_statement(register, word))
        return UnknownValue(f"`{words[0].object.name}`, a number of {kind.size} bytes in {len(words)} words"), reads

    def kind_of_access(self, word: Word, kind: CType) -> None:
        """Say that a processor accesses a word, and whether that is plain: OpenSHMEM and MPI do not know `volatile`."""
        self.world.found.by_processor[word.object].add(word)
        is_watched = (kind.volatile or kind.atomic) and not self.world.units.libraries
        (self.world.found.watched if is_watched else self.world.found.plain).add(word)

    def read_word(self, state: State, word: Word, hint: str, taken: Sequence[str] = ()) -> tuple[str, Value]:
        """Return a register for the value of a word, and the raw value that it has: what the thread wrote, where nobody else
        writes."""
        register = self.new_register(state, hint or word.object.name, taken)
        if word.object in state.memory and self.world.is_known_to(self.thread, word):
            own = state.memory[word.object].read(word.offset, word.size, word.object.name)
            if not isinstance(own, UnknownValue):
                return register, own
        lost = self.world.unfollowed(word)
        if lost is not None:
            return register, lost
        values = self.world.values_of(word)
        return register, symbolic(register, [(value, value) for value in values], are_sorted=True)

    def store(
        self, state: State, frame: Frame, name: Object, offset: int, *, kind: CType, value: Value
    ) -> list[ThreadStatement]:
        """Store a scalar; return the write that others see, if they do."""
        if name in self.world.known.ignored or name in self.world.found.ignored or self.is_any(frame, name):
            return []
        raw = map_one(value, lambda each: raw_of(each, kind))
        self.note(state, name, offset, kind.size, is_write=True)
        self.own(name, "write")
        if not self.is_visible(state, name, offset, kind.size):
            self.raw_write(state, name, offset, kind.size, raw)
            return []
        words = self._words_of_scalar(name, offset, kind, "write")
        if len(words) > 1:
            lost = UnknownValue(f"a number of {kind.size} bytes")
            return [self.write_word(state, word, lost, "a part of it") for word in words]
        operation = self.write_word(state, words[0], raw, f"what is written to `{name.name}`")
        return [operation, FENCE] if kind.atomic else [operation]

    def write_word(self, state: State, word: Word, raw: Value, what: str) -> ThreadStatement:
        """Return the write of a raw value to a word, whose value this thread knows then if nobody else writes it."""
        operand, values = written_operand(raw, what)
        if isinstance(operand, RegisterUse):
            self.world.add_values(word, values, self.thread)
        else:
            self.world.computed(word, values, self.thread)
        if self.world.is_known_to(self.thread, word):
            self._remember(state, word, UnknownValue("what was read") if isinstance(operand, RegisterUse) else operand)
        return write_statement(word, operand)

    def _remember(self, state: State, word: Word, raw: Scalar) -> None:
        """Keep what a thread has written to a word of its own that others read."""
        if word.object not in state.memory:
            if isinstance(raw, UnknownValue):
                return
            state.place(word.object, ObjectBytes())
        state.block(word.object).write(word.offset, word.size, raw)

    def returns(self, value: Value) -> None:
        """Say what this thread returns, to who joins it."""
        self.world.found.returned[self.process, self.thread].add(known_scalar(value))

    # going on

    def go_on(self, state: State, frame: Frame, operations: Sequence[ThreadStatement]) -> list[ThreadStep] | None:
        """Return the step of an instruction that is done, or None if nobody sees it."""
        chain = self.chain(state) if operations else ()
        frame.at += 1
        return [ThreadStep(tuple(operations), chain, state)] if operations else None


def bytes_of_text(name: Object) -> bytes:
    """Return the bytes of a string literal."""
    found = name.key[0]
    assert isinstance(found, bytes)
    return found


def text_of(process: str, content: bytes) -> Object:
    """Return the object of a string literal."""
    return Object("text", process, "a literal", (content,))


def _shown(value: Scalar) -> str:
    if isinstance(value, int) and 0 <= value < _NULL_PAGE:
        return "a null pointer" + f" and {value} bytes" * bool(value)
    return f"{value}" if isinstance(value, int | float) else "a function"
