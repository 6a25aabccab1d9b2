"""All straight-line programs of a number of statements, each once up to the names of threads, nodes, locations and values.

A store, a put of a constant and a compare-and-swap write values that no other statement writes: programs that write one
value twice show less. Reads, and the answers of gets and atomics, go to registers and words of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

ON_LANES: Final = frozenset({"lane-put", "lane-get"})
ON_RELAXED: Final = frozenset({"relaxed-put", "relaxed-get"})
ADDS: Final = frozenset({"remote-faa", "quiet-faa"})
FROM_WORDS: Final = frozenset({"copy", "operand-swap"})
WRITES: Final = frozenset({"store", "put", "cas", "remote-cas", "quiet-cas", "lane-put", "relaxed-put"}) | ADDS | FROM_WORDS
OWN: Final = frozenset({"store", "load", "cas"})
POSTED: Final = frozenset({"put", "get", "remote-cas", "quiet-cas", "fetch"}) | FROM_WORDS | ADDS | ON_LANES | ON_RELAXED
ON_QUEUE_PAIRS: Final = ("poll", "rfence", "flush", "order")
ALONE: Final = ("mfence", "barrier")
STATEMENTS: Final = (
    *("store", "load", "cas", "put", "copy", "get", "remote-cas", "remote-faa", "poll", "rfence", "mfence"),
    *("fetch", "quiet-cas", "quiet-faa", "operand-swap", "lane-put", "lane-get", "relaxed-put", "relaxed-get"),
    *("flush", "order", "barrier"),
)
"""What programs are made of: `copy` is a put of a word, `put` one of a constant, `quiet-` atomics have no answer, nor has
an `operand-swap`, which writes what the own card reads in a word. `lane-` requests are on a queue pair of their own, and
`relaxed-` ones at words of a relaxed region. A `barrier` is one of all threads."""

WITHOUT_WORDS: Final = (*ON_QUEUE_PAIRS, *ALONE)


@dataclass(frozen=True, slots=True, order=True)
class Statement:
    """A `kind` at word number `word`; `source` is the own word that one of `FROM_WORDS` reads, and for one of
    `ON_QUEUE_PAIRS` the number of the statement of its thread whose queue pair it is about."""

    kind: str
    word: int = -1
    source: int = -1


Threads = tuple[tuple[Statement, ...], ...]

Key = tuple[tuple[int, tuple[tuple[str, int, int, int, int], ...]], ...]
"""Of each thread its node, and of each statement its kind, its word and the node of that, the same of its source; of one
about a queue pair the other node, and 1 on a lane."""


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """A program: its threads, and the node of each thread and of each word."""

    threads: Threads
    homes: tuple[int, ...]
    words: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.threads))

    def queue_pair(self, posted: Statement) -> tuple[int, bool]:
        """Return the other node of a request, and whether it is on a lane."""
        return self.words[posted.word], posted.kind in ON_LANES

    def key(self) -> Key:
        """Return what is the same for programs that differ in names and in the order of threads only."""
        return min(self._named(order) for order in permutations(range(len(self.threads))))

    def _named(self, order: Sequence[int]) -> Key:
        words: dict[int, int] = {}
        nodes: dict[int, int] = {}
        found = []
        for t in order:
            node = nodes.setdefault(self.homes[t], len(nodes))
            line = []
            for s in self.threads[t]:
                touched = (s.word, s.source) if s.kind in FROM_WORDS else (s.word,)
                if s.kind in ALONE:
                    line.append((s.kind, -1, -1, -1, -1))
                    continue
                if s.kind in ON_QUEUE_PAIRS:
                    peer, on_lane = self.queue_pair(self.threads[t][s.source])
                    line.append((s.kind, nodes.setdefault(peer, len(nodes)), 1 if on_lane else -1, -1, -1))
                    continue
                numbers = [(words.setdefault(w, len(words)), nodes.setdefault(self.words[w], len(nodes))) for w in touched]
                line.append((s.kind, *numbers[0], *(numbers[1] if len(numbers) > 1 else (-1, -1))))
            found.append((node, tuple(line)))
        return tuple(found)

    def smaller(self) -> Iterator[ProgramShape]:
        """Yield the programs with one statement less; a poll or fence of what is gone goes with it."""
        for t, thread in enumerate(self.threads):
            for k in range(len(thread)):
                rest = _without(thread, k)
                if rest is not None:
                    yield _compact([*self.threads[:t], rest, *self.threads[t + 1 :]], self.homes, self.words)


def _without(thread: tuple[Statement, ...], gone: int) -> tuple[Statement, ...] | None:
    kept: list[Statement] = []
    numbers: dict[int, int] = {}
    for k, s in enumerate(thread):
        if k == gone:
            continue
        if s.kind in ON_QUEUE_PAIRS:
            if s.source not in numbers:
                return None
            kept.append(Statement(s.kind, s.word, numbers[s.source]))
        else:
            kept.append(s)
        numbers[k] = len(kept) - 1
    return tuple(kept)


def _compact(threads: Sequence[tuple[Statement, ...]], homes: Sequence[int], words: Sequence[int]) -> ProgramShape:
    kept = [t for t, thread in enumerate(threads) if thread]
    return ProgramShape(tuple(threads[t] for t in kept), tuple(homes[t] for t in kept), tuple(words))


def shapes(size: int, kinds: Sequence[str], threads: int) -> list[ProgramShape]:
    """Return every program of `size` statements of `kinds` in at most so many threads that may show something, in a fixed
    order: every word is written, and touched twice at least, every poll has something to take, and the statements hang
    together by the words that they share; and all threads have as many barriers."""
    found: dict[Key, ProgramShape] = {}
    for lengths in _lengths(size, size, threads):
        for made in _threads(lengths, kinds, 0):
            count = 1 + max((max(s.word, s.source if s.kind in FROM_WORDS else -1) for t in made for s in t), default=-1)
            if not _shows(made, count) or not _meet(made) or not _of_one_region(made):
                continue
            for homes, words in _places(made, count):
                shape = ProgramShape(made, homes, words)
                if _polls_find(shape):
                    found.setdefault(shape.key(), shape)
    return [found[key] for key in sorted(found)]


def _lengths(size: int, most: int, threads: int) -> Iterator[tuple[int, ...]]:
    """The lengths of threads, none longer than the one before."""
    if size == 0:
        yield ()
    elif threads:
        for first in range(min(size, most), 0, -1):
            yield from ((first, *rest) for rest in _lengths(size - first, first, threads - 1))


def _threads(lengths: tuple[int, ...], kinds: Sequence[str], words: int) -> Iterator[Threads]:
    if not lengths:
        yield ()
        return
    for thread, used in _thread(lengths[0], kinds, words, ()):
        yield from ((thread, *rest) for rest in _threads(lengths[1:], kinds, used))


def _thread(
    length: int, kinds: Sequence[str], words: int, before: tuple[Statement, ...]
) -> Iterator[tuple[tuple[Statement, ...], int]]:
    """Words are numbered in the order in which they come."""
    if len(before) == length:
        yield before, words
        return
    for kind in kinds:
        if kind in ALONE:
            nexts = [(Statement(kind), words)]
        elif kind in ON_QUEUE_PAIRS:
            posted = [k for k, s in enumerate(before) if s.kind in POSTED]
            nexts = [(Statement(kind, -1, k), words) for k in posted]
        elif kind in FROM_WORDS:
            nexts = [
                (Statement(kind, a, b), max(words, a + 1, b + 1))
                for a in range(words + 1)
                for b in range(max(words, a + 1) + 1)
                if a != b
            ]
        else:
            nexts = [(Statement(kind, a), max(words, a + 1)) for a in range(words + 1)]
        for statement, used in nexts:
            yield from _thread(length, kinds, used, (*before, statement))


def _shows(threads: Threads, count: int) -> bool:
    touched: list[list[int]] = [[] for _ in range(count)]
    written = [False] * count
    for t, thread in enumerate(threads):
        for s in thread:
            if s.kind not in WITHOUT_WORDS:
                touched[s.word].append(t)
                written[s.word] |= s.kind in WRITES
            if s.kind in FROM_WORDS:
                touched[s.source].append(t)
    if not all(len(each) > 1 for each in touched) or not all(written):
        return False
    group = list(range(len(threads)))
    for each in touched:
        for t in each[1:]:
            old, new = group[t], group[each[0]]
            group = [new if g == old else g for g in group]
    return len(set(group)) == 1


def _meet(threads: Threads) -> bool:
    """Whether all threads, of which there are several, have as many barriers."""
    numbers = {sum(s.kind == "barrier" for s in thread) for thread in threads}
    return numbers == {0} or (len(numbers) == 1 and len(threads) > 1)


def _of_one_region(threads: Threads) -> bool:
    """Whether every word is of a relaxed region for all requests that are posted for it, or for none."""
    regions: dict[int, bool] = {}
    posted = [s for thread in threads for s in thread if s.kind in POSTED]
    return all(regions.setdefault(s.word, s.kind in ON_RELAXED) is (s.kind in ON_RELAXED) for s in posted)


def _places(threads: Threads, count: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The ways to put threads and words on nodes: what a CPU touches is on its node, what is posted goes to another."""
    for homes in _grown(len(threads), 0):
        fixed: dict[int, int] = {}
        away: dict[int, set[int]] = {}
        fits = True
        for home, thread in zip(homes, threads, strict=True):
            for s in thread:
                own = [s.word] if s.kind in OWN else [s.source] if s.kind in FROM_WORDS else []
                for word in own:
                    fits &= fixed.setdefault(word, home) == home
                if s.kind in POSTED:
                    away.setdefault(s.word, set()).add(home)
        if fits:
            yield from ((homes, words) for words in _words(count, fixed, away, 1 + max(homes)))


def _grown(length: int, nodes: int) -> Iterator[tuple[int, ...]]:
    if length == 0:
        yield ()
        return
    for node in range(nodes + 1):
        yield from ((node, *rest) for rest in _grown(length - 1, max(nodes, node + 1)))


def _words(
    count: int, fixed: dict[int, int], away: dict[int, set[int]], nodes: int, number: int = 0
) -> Iterator[tuple[int, ...]]:
    if number == count:
        yield ()
        return
    for node in [fixed[number]] if number in fixed else range(nodes + 1):
        if node not in away.get(number, ()):
            yield from ((node, *rest) for rest in _words(count, fixed, away, max(nodes, node + 1), number + 1))


def _polls_find(shape: ProgramShape) -> bool:
    """Whether every poll has a completion to take. Of the statements of a queue pair a poll or fence names the first."""
    for thread in shape.threads:
        open_: dict[tuple[int, bool], int] = {}
        first: dict[tuple[int, bool], int] = {}
        for k, s in enumerate(thread):
            if s.kind in POSTED:
                pair = shape.queue_pair(s)
                open_[pair] = open_.get(pair, 0) + 1
                first.setdefault(pair, k)
            elif s.kind in ON_QUEUE_PAIRS:
                pair = shape.queue_pair(thread[s.source])
                open_[pair] -= s.kind == "poll"
                if open_[pair] < 0 or first[pair] != s.source:
                    return False
    return True
