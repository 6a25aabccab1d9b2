"""Copies by the processor: of records, arrays and `memcpy`, word by word where others see them; and `memset`."""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.c.code import CType, Leaf
from rdma_robust.c.evaluate.byte_ranges import bounds_of
from rdma_robust.c.evaluate.c_values import Object, UnknownValue, Value, canonical
from rdma_robust.c.evaluate.operations import ThreadStatement, Word, read_statement
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.evaluate.thread_run import ThreadRun

Range = tuple[Object, int]
"""An object, and the offset where a range begins."""
_PLAIN = CType("int", 8)


def copied(
    run: ThreadRun, state: State, target: Range, source: Range, size: int, *, leaves: Iterable[Leaf] = ()
) -> list[ThreadStatement]:
    """Copy bytes from one place to another; return the reads and writes that others see, in the order of addresses."""
    (to, low), (origin, start) = target, source
    run.note(state, to, low, size, is_write=True)
    run.note(state, origin, start, size, is_write=False)
    reads, writes = run.is_visible(state, origin, start, size), run.is_visible(state, to, low, size)
    run.own(to, "write")
    if origin.kind != "text":
        run.own(origin, "read")
    if not reads and not writes:
        _copy_private(run, state, target, source, size)
        return []
    cuts = {cut for cut in bounds_of(leaves) if 0 < cut < size}
    cuts |= {cut - start for cut in run.world.field_cuts(origin, start, size)} if origin.kind != "text" else set()
    cuts |= {cut - low for cut in run.world.field_cuts(to, low, size)}
    for name, at in (target, source):
        cuts |= {cut - at for cut in run.world.known.cuts.get(name, ()) if at < cut < at + size}
    sources = run.world.words(origin, start, size, {start + cut for cut in cuts}) if reads else []
    targets = run.world.words(to, low, size, {low + cut for cut in cuts}) if writes else []
    if len(sources or targets) > 1:
        run.world.remark(
            "RR846", "copies of several words by a processor are taken as one access for each word, in address order"
        )
    if reads and writes:
        return [each for pair in zip(sources, targets, strict=True) for each in _through_register(run, state, *pair)]
    if reads:
        return _into_private(run, state, target, sources, start)
    return [_out_of_private(run, state, word, (origin, start + word.offset - low)) for word in targets]


def _copy_private(run: ThreadRun, state: State, target: Range, source: Range, size: int) -> None:
    (to, low), (origin, start) = target, source
    if origin.kind == "text" or origin not in state.memory:
        for at in range(size):
            run.raw_write(state, to, low + at, 1, run.raw_read(state, origin, start + at, 1))
        return
    run.raw_read(state, origin, start, min(size, 1))
    run.raw_read(state, origin, start + size - 1, 1)
    run.raw_read(state, to, low + size - 1, 1)
    pieces = state.memory[origin].pieces(start, size, origin.name)
    block = state.block(to)
    if all(value == 0 for _, _, value in pieces):
        block.clear(low, size, run.world.sizes.get(to, 0))
        return
    for at, width, value in pieces:
        block.write(low + at, width, value)


def _through_register(run: ThreadRun, state: State, source: Word, target: Word) -> list[ThreadStatement]:
    register, raw = run.read_word(state, source, "copy")
    run.kind_of_access(source, _PLAIN)
    run.kind_of_access(target, _PLAIN)
    return [read_statement(register, source), run.write_word(state, target, raw, "what is copied")]


def _into_private(run: ThreadRun, state: State, target: Range, words: list[Word], start: int) -> list[ThreadStatement]:
    found: list[ThreadStatement] = []
    for word in words:
        register, raw = run.read_word(state, word, word.object.name, [each.register for each in found])
        run.kind_of_access(word, _PLAIN)
        found.append(read_statement(register, word))
        run.raw_write(state, target[0], target[1] + word.offset - start, word.size, raw)
    return found


def _out_of_private(run: ThreadRun, state: State, word: Word, source: Range) -> ThreadStatement:
    run.kind_of_access(word, _PLAIN)
    raw = run.raw_read(state, *source, word.size)
    if isinstance(raw, UnknownValue) and _is_padding(run, word):
        raw = 0
    return run.write_word(state, word, raw, f"what is copied to `{word.object.name}`")


def _is_padding(run: ThreadRun, word: Word) -> bool:
    """Whether a word holds no field of its object, whose fields are known: copies of it carry nothing."""
    leaves = run.world.leaves(word.object)
    end = word.offset + word.size
    return bool(leaves) and not any(leaf.offset < end and word.offset < leaf.offset + leaf.size for leaf in leaves)


def bytes_set(run: ThreadRun, state: State, target: Range, size: int, byte: int) -> list[ThreadStatement]:
    """Set bytes, as `memset` and the rest of an initialiser do; return the writes that others see."""
    to, low = target
    run.note(state, to, low, size, is_write=True)
    run.own(to, "write")
    if run.is_visible(state, to, low, size):
        words = run.world.words(to, low, size, run.world.field_cuts(to, low, size))
        for word in words:
            run.kind_of_access(word, _PLAIN)
        return [run.write_word(state, word, _repeated(byte, word.size), "what is written") for word in words]
    if byte & 0xFF == 0:
        run.raw_read(state, to, low, 1)
        run.raw_read(state, to, low + size - 1, 1)
        state.block(to).clear(low, size, run.world.sizes.get(to, 0))
        return []
    for at in range(0, size, 8):
        width = min(8, size - at)
        run.raw_write(state, to, low + at, width, _repeated(byte, width))
    return []


def _repeated(byte: int, size: int) -> Value:
    return canonical(int.from_bytes(bytes([byte & 0xFF]) * size, "little"), size)
