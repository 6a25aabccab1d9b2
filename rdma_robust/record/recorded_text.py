"""The text of the program that a recorded run is, with the place in the code behind every statement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.record.card_events import card_events
from rdma_robust.record.code_places import CodePlaces
from rdma_robust.record.joined_threads import with_joined_threads
from rdma_robust.record.memory_words import EventPlaces, cut_words
from rdma_robust.record.recorded_log import accesses_of, read_run
from rdma_robust.record.recorded_order import recorded_order
from rdma_robust.record.recorded_places import ONE_RUN, UNRECORDED
from rdma_robust.record.recorded_program import GOT, MOST_DIGITS, RecordedProgram, RecordedThread
from rdma_robust.record.recorded_statements import RecordedStatements
from rdma_robust.record.replayed_run import replayed

_WIDTH: Final = 4
_MOST_STATEMENTS: Final = 20_000
_FOREIGN: Final = ("/infiniband/", "rdma_robust/record/runtime/")
_PLACES: Final = 4
"""How many calls outwards are told."""


def recorded_text(folder: Path, name: str, *, drops_failed: bool = False) -> str:
    """Return the text of the program that is recorded in a folder; what may order its threads and is not recorded it says.

    Raises UsageError where nothing is recorded, or something that no program can be of.
    """
    run = read_run(folder)
    places = CodePlaces(run)
    places.look_up((event.thread[0], address) for event in run.events for address in event.chain)
    told = EventPlaces(
        {event.number: place for event in run.events if (place := _place(places, event.thread[0], event.chain))}
    )
    run = with_joined_threads(run, told)
    accesses = accesses_of(run.events)
    card = card_events(run, told)
    transfers = [each for found in card.transfers.values() for each in found]
    words = cut_words(accesses.values(), transfers, told)
    words.kept.update(word for each in card.atomics() for word in words.all_of(each))
    program = RecordedProgram(
        run,
        accesses,
        card,
        recorded_order(run),
        words,
        replayed(run, accesses, card, words, told),
        places,
        drops_failed,
    )
    statements = RecordedStatements(program, told)
    statements.write()
    return _text(program, name, statements.added)


def _place(places: CodePlaces, process: int, chain: tuple[int, ...]) -> str:
    """Return the place of a chain with the calls outwards, as behind statements of C that was read."""
    found = dict.fromkeys(f"{each.file}:{each.line}" for each in places.places(process, chain) if _is_own(each.file))
    return " < ".join(list(found)[:_PLACES])


def _is_own(file: str) -> bool:
    """Return whether a file is one of the program, and no header of the system or of verbs, or of our hooks."""
    return not file.startswith(("/usr/", "../")) and not any(each in file for each in _FOREIGN)


def _text(program: RecordedProgram, name: str, added: int) -> str:
    used = {key: thread for key, thread in program.threads.items() if thread.lines}
    names = {thread.name for thread in used.values()}
    head = [ONE_RUN, *_unrecorded(program), f"program {name}"]
    if added:
        head.append(_domain(program, added))
    if program.card.waits:
        head.append("hardware rnr wait")
    if program.loops:
        head.append("allow loopback")
    nodes = {program.nodes[thread.process]: thread.process for thread in used.values()}
    nodes |= {node: process for process, node in program.nodes.items() if program.declared[process]}
    for node, process in sorted(nodes.items(), key=lambda each: int(each[0][1:])):
        words = ", ".join(
            f"{'sync ' if (process, word) in program.synchronising else ''}{word}{f' = {value}' if value else ''}"
            for word, value in program.declared[process].items()
        )
        head.append(f"node {node} {{ {words} }}" if words else f"node {node} {{ }}")
    lines = [(each, "") for each in head]
    for thread in used.values():
        lines += [("", ""), *_thread(program, thread, names)]
    width = max((len(text) for text, place in lines if place), default=0) + _WIDTH
    return "".join(f"{text.ljust(width)}//@ {place}\n" if place else f"{text}\n" for text, place in lines)


def _unrecorded(program: RecordedProgram) -> Iterator[str]:
    """Yield what may order threads and is not recorded, with the threads that used it, and where each did so first."""
    for what, events in sorted(program.order.unrecorded.items()):
        used: dict[str, str] = {}
        for event in events:
            place = _place(program.places, event.thread[0], event.chain).partition(" < ")[0]
            used.setdefault(program.threads[event.thread].name, f" ({place})" if place else "")
        yield f"{UNRECORDED}{what} may order {' and '.join(f'{name}{place}' for name, place in used.items())}"


def _thread(program: RecordedProgram, thread: RecordedThread, names: set[str]) -> list[tuple[str, str]]:
    made = [(f"thread {thread.name} on {thread.node} {{", "")]
    if thread.uses_register:
        made.append((f"  reg {GOT}", ""))
    made += [(f"  qp {lane} to {node}", "") for lane, node in thread.lanes.items()]
    for line in thread.lines:
        word, _, other = line.text.partition(" ")
        if word not in ("start", "join") or other in names:
            chain = () if line.event is None else line.event.chain
            made.append((f"  {line.text}", _place(program.places, thread.process, chain)))
    if len(made) > _MOST_STATEMENTS:
        raise UsageError(f"limit: {thread.name} has more than {_MOST_STATEMENTS} recorded statements; record a shorter run")
    return [*made, ("}", "")]


def _domain(program: RecordedProgram, added: int) -> str:
    """Return a range that no sum of the run leaves. Raises UsageError if numbers would be too large."""
    used = [*program.values.values(), 0, 1]
    low, high = min(used) - added, max(used) + added
    if max(-low, high) >= MOST_DIGITS:
        raise UsageError(
            "a run with remote fetch-and-add whose values have more than 18 digits: addresses and such among the words of "
            "registered memory cannot be recorded beside it"
        )
    return f"domain {low}..{high}"
