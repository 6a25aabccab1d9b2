"""Transfers between processes, element by element, as statements of `.rdma`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.atomics import possible_sums
from rdma_robust.c.evaluate.c_values import Object, Pointer, Scalar, UnknownValue, Value, is_unset, map_one, value_of_raw
from rdma_robust.c.evaluate.calls import CallContext, encoded
from rdma_robust.c.evaluate.operations import (
    OnLane,
    Part,
    Queue,
    ThreadStatement,
    Word,
    operand_of,
    read_statement,
    written_constants,
    written_operand,
)  # fmt: skip
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import WIDEST
from rdma_robust.c.evaluate.state import Request
from rdma_robust.c.evaluate.verbs.posts import PostedWork, read_statements, used_by, write_statements

Range = tuple[Object, int]


@dataclass(frozen=True, slots=True)
class Remote:
    """The other end of a transfer: a process, the queue pair to it, the object there, and the offset."""

    process: str
    connection: str
    object: Object
    offset: int

    def further(self, distance: int) -> Remote:
        """Return the place so many bytes further."""
        return replace(self, offset=self.offset + distance)


def element_step(element: int) -> int:
    """Return into how many bytes a transfer of elements is cut: elements, but bytes and what is long are eight each."""
    return WIDEST if element == 1 else min(element, WIDEST)


def _posted(
    call: CallContext, remote: Remote, kind: str, local: Range, size: int, *, element: int, late: bool
) -> PostedWork:
    request = Request(
        kind,
        segments=((*local, size),),
        remote=Pointer(remote.object, remote.offset),
        is_inline=kind == "write" and not late,
        is_signaled=kind == "read" and not late,
        element=element_step(element),
    )
    post = PostedWork(call, remote.connection, remote.process, request)
    used_by(post)
    return post


def put(call: CallContext, remote: Remote, source: Range, size: int, element: int, *, late: bool) -> list[ThreadStatement]:
    """Return a put: of what the processor reads before it returns, or, if it is `late`, of memory that the card reads."""
    if not size:
        return []
    if late:
        call.run.note(call.state, *source, size, is_write=False)
    else:
        _give_values(call, source, size, element)
    return write_statements(_posted(call, remote, "write", source, size, element=element, late=late))


def _give_values(call: CallContext, source: Range, size: int, element: int) -> None:
    """Let private memory that has no value hold 0, as shared memory does."""
    run, (name, offset) = call.run, source
    if run.is_visible(call.state, name, offset, size) or name.kind == "text":
        return
    step = element_step(element)
    for at in range(offset, offset + size, step):
        width = min(step, offset + size - at)
        if is_unset(run.raw_read(call.state, name, at, width)):
            run.world.remark("RR846", f"`{name.name}` holds 0 where it is sent, as nothing was written to it", call.chain)
            run.raw_write(call.state, name, at, width, 0)


def get(call: CallContext, remote: Remote, target: Range, size: int, element: int, *, late: bool) -> list[ThreadStatement]:
    """Return a get; unless it is `late`, the process waits for it."""
    if not size:
        return []
    name, offset = target
    run = call.run
    run.note(call.state, name, offset, size, is_write=True)
    if late or run.is_visible(call.state, name, offset, size):
        found = read_statements(_posted(call, remote, "read", target, size, element=element, late=late))
        return found if late else [*found, *polls(remote.connection, len(found))]
    gets: list[ThreadStatement] = []
    reads: list[ThreadStatement] = []
    run.world.share(remote.object)
    step = element_step(element)
    cuts = range(remote.offset + step, remote.offset + size, step)
    used_by(PostedWork(call, remote.connection, remote.process, Request("read")))
    for number, word in enumerate(run.world.words(remote.object, remote.offset, size, cuts)):
        got = got_word(call, word.size, number)
        run.world.flow(word, got)
        gets.append(ThreadStatement("get {0} = {1}{2}", (got, word, OnLane(remote.connection))))
        register, raw = run.read_word(call.state, got, name.name, [each.register for each in reads])
        reads.append(read_statement(register, got))
        run.raw_write(call.state, name, offset + word.offset - remote.offset, word.size, raw)
    return [*gets, *polls(remote.connection, len(gets)), *reads]


def polls(connection: str, count: int) -> list[ThreadStatement]:
    """Return polls for so many completions."""
    return [ThreadStatement("poll {0}", (Queue(connection),))] * count


def got_word(call: CallContext, size: int, number: int = 0) -> Word:
    """Return a word of the process alone that an answer goes to before the process takes it."""
    return _own_word(call, "got", size, number)


def _dropped_answer(call: CallContext, size: int) -> Word:
    """Return the word where answers go that nobody reads. So accesses of it are no races: it is declared `sync`."""
    word = _own_word(call, "unused", size)
    call.run.world.found.watched.add(word)
    return word


def _own_word(call: CallContext, called: str, size: int, number: int = 0) -> Word:
    name = Object("handle", call.run.process, called, (call.run.thread, called, size, number))
    call.run.world.sizes[name] = size
    return Word(name, 0, size)


def element_of(call: CallContext, remote: Remote, size: int) -> Word:
    """Return the word of a scalar at the other end. Raises RR815 if others touch it in pieces."""
    call.run.world.share(remote.object)
    return call.run.one_word(remote.object, remote.offset, size, "atomic")


@dataclass(frozen=True, slots=True)
class Atomic:
    """A remote atomic: cas, swap, faa, fetch or mix, the values of its operands, the type of its element, and what it is
    atomic with (`domain`)."""

    operation: str
    operands: tuple[Value, ...]
    type: CType
    domain: str


def atomic(call: CallContext, remote: Remote, what: Atomic, answers: Sequence[Word] = ()) -> list[ThreadStatement]:
    """Return an atomic; its old value goes to `answers`, or nowhere. Where races are asked for, it is one for each word that
    others touch, as accumulates are. Raises RR815 for a compare-and-swap of several words."""
    words = _covered(call, remote, what.type.size, what.operation)
    used_by(PostedWork(call, remote.connection, remote.process, Request(what.operation)))
    pieces = max(len(words), len(answers))
    if pieces > 1:
        _do_not_follow(call, what.operation, pieces, answers)
        what = replace(what, operation=_in_words(what.operation), domain=_domain_at(what.domain, remote, words))
    found: list[ThreadStatement] = []
    for at in range(pieces):
        answer = answers[at] if at < len(answers) else _dropped_answer(call, what.type.size) if answers else None
        found.append(_atomic_of_word(call, remote, what, words[min(at, len(words) - 1)], answer))
    return found


def _do_not_follow(call: CallContext, operation: str, pieces: int, answers: Iterable[Word]) -> None:
    """Say that an atomic of several words is followed in none of them, nor in its answers. Raises RR815 for a
    compare-and-swap, which depends on values."""
    if operation == "cas":
        raise Refusal("RR815", f"this compare-and-swap covers {pieces} words that others touch one by one")
    for each in answers:
        not_followed(call, each)


def _domain_at(domain: str, remote: Remote, words: Sequence[Word]) -> str:
    """Return what an atomic is atomic with: of several words, with those of its type at its very place."""
    return f"{domain} at {remote.offset}" if len(words) > 1 else domain


def _covered(call: CallContext, remote: Remote, size: int, operation: str) -> list[Word]:
    """Return the words of an atomic: what a compare-and-swap does depends on its value, so that it has one."""
    if operation == "cas":
        return [element_of(call, remote, size)]
    call.run.world.share(remote.object)
    return call.run.scalar_words(remote.object, remote.offset, size, "atomic")


def _in_words(operation: str) -> str:
    """Return what an atomic is of each of its words: values are not followed then."""
    return operation if operation == "fetch" else "mix"


def _atomic_of_word(call: CallContext, remote: Remote, what: Atomic, word: Word, answer: Word | None) -> ThreadStatement:
    world = call.run.world
    taken = operand_of if what.operation == "cas" else written_operand
    operands = [taken(encoded(value, what.type), "an operand of this atomic") for value in what.operands]
    written = _written(call, word, what.operation, [values for _, values in operands])
    world.add_values(word, written)
    called = f"{written_as(what.operation)}({{0}}{''.join(f', {{{index + 1}}}' for index in range(len(operands)))})"
    parts: tuple[Part, ...] = (word, *(operand for operand, _ in operands), OnLane(remote.connection))
    form = f"{called}{{{len(parts) - 1}}} unsignaled"
    changed = tuple((word, value) for value in written)
    if answer is None and remote.process == call.run.process:
        # Without an answer it would be an atomic of the processor, as its word is of this process.
        answer = _dropped_answer(call, what.type.size)
    if answer is not None:
        world.flow(word, answer)
        form, parts = f"get {{{len(parts)}}} = {form}", (*parts, answer)
    return ThreadStatement(form, parts, changed, synchronises=what.domain)


@dataclass(frozen=True, slots=True)
class Operands:
    """A remote atomic whose operands lie in memory: object, offset and size; and what it is atomic with (`domain`)."""

    operation: str
    places: tuple[tuple[Object, int, int], ...]
    domain: str


def accumulate(
    call: CallContext, remote: Remote, what: Operands, answer: tuple[Object, int, int] | None
) -> list[ThreadStatement]:
    """Return an atomic whose operands the card reads from memory, as it writes the answer there, if there is one.

    Where races are asked for, it is one for each word that others touch. Then values are not followed, and it is atomic with
    those of its type at its very place. Raises RR815 for a compare-and-swap of several words: it depends on values.
    """
    size = (what.places[0] if answer is None else answer)[2]
    words = _covered(call, remote, size, what.operation)
    used_by(PostedWork(call, remote.connection, remote.process, Request(what.operation)))
    sources = [card_words(call, (name, offset), width, is_written=False) for name, offset, width in what.places]
    targets = [] if answer is None else card_words(call, answer[:2], answer[2])
    pieces = max(len(each) for each in (words, *sources, targets))
    if pieces > 1:
        _do_not_follow(call, what.operation, pieces, targets)
        what = replace(what, operation=_in_words(what.operation), domain=_domain_at(what.domain, remote, words))
    found: list[ThreadStatement] = []
    for at in range(pieces):
        parts = [each[min(at, len(each) - 1)] for each in (words, *sources)]
        target = targets[at] if at < len(targets) else _dropped_answer(call, size) if targets else None
        found.append(_accumulated(call, remote, what, parts, target))
    return found


def _accumulated(
    call: CallContext, remote: Remote, what: Operands, words: list[Word], target: Word | None
) -> ThreadStatement:
    """Return the accumulate of a word; behind it are those of the operands."""
    (word, *sources), world, operation = words, call.run.world, what.operation
    if target is None and remote.process == call.run.process:
        target = _dropped_answer(call, word.size)
    changed: list[Scalar] = []
    if operation == "mix":
        not_followed(call, word)
    elif operation == "cas":
        world.followed(word, "this compare-and-swap")
    if operation in ("swap", "cas"):
        world.flow(sources[-1], word)
    elif operation == "faa":
        changed = possible_sums(world, word, tuple(world.values_of(sources[0])))
        world.add_values(word, changed)
    called = f"{written_as(operation)}({{0}}{''.join(f', {{{index + 1}}}' for index in range(len(sources)))})"
    parts: tuple[Part, ...] = (word, *sources, OnLane(remote.connection))
    form = f"{called}{{{len(parts) - 1}}} unsignaled"
    if target is not None:
        world.flow(word, target)
        form, parts = f"get {{{len(parts)}}} = {form}", (*parts, target)
    return ThreadStatement(form, parts, tuple((word, value) for value in changed), synchronises=what.domain)


def written_as(operation: str) -> str:
    """Return what an atomic is in `.rdma`: one that makes new values of old ones is an exchange of values that nobody
    looks at (`mix`)."""
    return "swap" if operation == "mix" else operation


def not_followed(call: CallContext, word: Word) -> None:
    """Say that an atomic makes values that `.rdma` has no operation for."""
    call.run.world.leave(word, f"`{call.name}` makes them: it is taken as an exchange", call.chain)


def _written(call: CallContext, word: Word, operation: str, operands: list[tuple[Scalar, ...]]) -> list[Scalar]:
    world = call.run.world
    match operation:
        case "fetch":
            return []
        case "swap":
            return list(operands[0])
        case "faa":
            return possible_sums(world, word, operands[0])
        case "mix":
            not_followed(call, word)
            return []
        case _:
            world.followed(word, "this compare-and-swap")
            return list(operands[1]) if set(operands[0]) & set(world.values_of(word)) else []


def waited_atomic(call: CallContext, remote: Remote, what: Atomic) -> tuple[list[ThreadStatement], Value]:
    """Return an atomic that the process waits for, and its old value."""
    got = got_word(call, what.type.size)
    requests = [replace(each, form=each.form.removesuffix(" unsignaled")) for each in atomic(call, remote, what, [got])]
    register, raw = call.run.read_word(call.state, got, call.run.hint(call.frame, call.call.target) or "old")
    operations = [*requests, *polls(remote.connection, len(requests)), read_statement(register, got)]
    return operations, map_one(raw, lambda each: value_of_raw(each, what.type))


def put_value(call: CallContext, remote: Remote, value: Value, kind: CType, synchronises: str = "") -> list[ThreadStatement]:
    """Return a put of a value that the processor has: one for each word of it. What several words have is not followed."""
    call.run.world.share(remote.object)
    words = call.run.scalar_words(remote.object, remote.offset, kind.size, "put")
    used_by(PostedWork(call, remote.connection, remote.process, Request("write")))
    found: list[ThreadStatement] = []
    for word in words:
        raw = encoded(value, kind) if len(words) == 1 else UnknownValue(f"a number of {kind.size} bytes")
        operand, values = written_operand(raw, "what is put")
        call.run.world.add_values(word, values)
        parts = (word, operand, OnLane(remote.connection))
        form = "put {0} = {1}{2} inline unsignaled"
        found.append(ThreadStatement(form, parts, written_constants(word, operand), synchronises=synchronises))
    return found


def get_value(call: CallContext, remote: Remote, kind: CType) -> tuple[list[ThreadStatement], Value]:
    """Return a get of a scalar that the process waits for, and its value, which is not known if it has several words."""
    call.run.world.share(remote.object)
    words = call.run.scalar_words(remote.object, remote.offset, kind.size, "get")
    used_by(PostedWork(call, remote.connection, remote.process, Request("read")))
    gets: list[ThreadStatement] = []
    reads: list[ThreadStatement] = []
    raw: Value = 0
    hint = call.run.hint(call.frame, call.call.target) or "got"
    for number, word in enumerate(words):
        got = got_word(call, word.size, number)
        call.run.world.flow(word, got)
        gets.append(ThreadStatement("get {0} = {1}{2}", (got, word, OnLane(remote.connection))))
        register, raw = call.run.read_word(call.state, got, hint, [each.register for each in reads])
        reads.append(read_statement(register, got))
    if len(words) > 1:
        raw = UnknownValue(f"a number of {kind.size} bytes")
    return [*gets, *polls(remote.connection, len(gets)), *reads], map_one(raw, lambda each: value_of_raw(each, kind))


def card_words(call: CallContext, place: Range, size: int, *, is_written: bool = True) -> list[Word]:
    """Return the words of memory that an answer goes to, or an operand is taken from, while the process goes on: one, or,
    where races are asked for, those that others touch one by one. Raises RR815 if there are several, and they are not."""
    name, offset = place
    call.run.own(name, "give to its NIC")
    call.run.note(call.state, name, offset, size, is_write=is_written)
    call.run.world.share(name, offset, size)
    return call.run.scalar_words(name, offset, size, "answer or operand")


def not_modelled(call: CallContext, instead: str) -> Refusal:
    """Return the refusal of a function that is known, and not modelled."""
    return Refusal("RR814", f"`{call.name}` is not modelled", instead)
