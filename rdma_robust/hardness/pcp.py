"""Post's Correspondence Problem as an RDMA program: a thread's end is reachable iff the instance has a solution.

An instance is a list of pairs of non-empty words. A solution is a sequence of one or more indices such that the top words of
these pairs, one after the other, are the same word as the bottom words. Whether there is one is undecidable (Post 1946).

The program has four threads on four nodes. The guesser sends any sequence of indices, at least one, and then an end symbol
to both expanders. For each index an expander sends the letters of its word to the checker, and after the end symbol an
end symbol. The checker receives from both in turn, goes on only while the two symbols are the same, and ends after the
end symbols. Everything is sent by the alternating-bit protocol of :mod:`rdma_robust.hardness.abp`.

Why the checker's end is reachable iff there is a solution: a round of the protocol that is completed has received exactly
what was sent, so a checker that has ended has found the same letters in both sequences, up to their end symbols; both were
made from the one sequence of indices that the guesser has sent to both. Conversely, delivering each put when the
receiver waits for it completes every round, whatever the guesser sends. The buffers of the network hold what one
expander is ahead of the other, which no memory of fixed size could.

Source: Theorem 3.1, Section 3 and Appendix A of the paper.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from rdma_robust.diagnose import Reporter, line_ends_are_plain, quote
from rdma_robust.errors import Span
from rdma_robust.hardness.abp import ONE, SymbolChannel, receive_symbol, send_symbol
from rdma_robust.hardness.symbols import EMPTY, alphabet, comment_lines, laid_out, nested_lines, symbol_variable
from rdma_robust.text import json_mistake

GUESSER, TOP, BOTTOM, CHECKER = range(4)
"""The threads of the program, by their place."""

THREADS = ("Guesser", "Top", "Bottom", "Checker")
NODES = ("G", "T", "B", "C")
SENT = "sent"
"""The guesser's variable that shows which index it has sent last."""

INDEX = {TOP: SymbolChannel("T", "index", "index_flag"), BOTTOM: SymbolChannel("B", "index", "index_flag")}
LETTER = {TOP: SymbolChannel("C", "top", "top_flag"), BOTTOM: SymbolChannel("C", "bottom", "bottom_flag")}
READ_INTO = {TOP: "s", BOTTOM: "t"}


@dataclass(frozen=True, slots=True)
class PcpInstance:
    """Pairs of non-empty words of printable letters: `top[i]` and `bottom[i]`, both sides as long, at least one pair."""

    top: tuple[str, ...]
    bottom: tuple[str, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters that occur, sorted."""
        return alphabet((*self.top, *self.bottom))

    @property
    def end(self) -> int:
        """The value of the end symbol: one more than every index and every letter."""
        return max(len(self.top), len(self.letters)) + 1

    def words(self, thread: int) -> tuple[str, ...]:
        """Return the words of an expander, TOP or BOTTOM."""
        return self.top if thread == TOP else self.bottom

    def is_solution(self, indices: tuple[int, ...]) -> bool:
        """Return whether indices, counted from 1, are a solution."""
        top, bottom = ("".join(words[i - 1] for i in indices) for words in (self.top, self.bottom))
        return bool(indices) and top == bottom


def pcp_program(instance: PcpInstance) -> str:
    """Return the text of a program whose thread Checker can end iff the instance has a solution (Theorem 3.1).

    The program has puts and local accesses only. Values: indices count from 1, letters by their place in
    `instance.letters` from 1, 0 is no symbol, and END ends both.
    """
    lines = [
        *comment_lines(_header(instance)),
        "program pcp",
        f"const END = {instance.end}",
        "",
        *_nodes(instance),
        "",
        *nested_lines(f"thread {THREADS[GUESSER]} on {NODES[GUESSER]}", _guesser(instance)),
        "",
        *nested_lines(f"thread {THREADS[TOP]} on {NODES[TOP]}", _expander(instance, TOP)),
        "",
        *nested_lines(f"thread {THREADS[BOTTOM]} on {NODES[BOTTOM]}", _expander(instance, BOTTOM)),
        "",
        *nested_lines(f"thread {THREADS[CHECKER]} on {NODES[CHECKER]}", _checker()),
    ]
    return laid_out(lines)


def _header(instance: PcpInstance) -> list[str]:
    pairs = [f"  {k}: {t} / {b}" for k, (t, b) in enumerate(zip(instance.top, instance.bottom, strict=True), 1)]
    return [
        "Post's Correspondence Problem with the pairs (top / bottom)",
        *pairs,
        f"Letters: {', '.join(f'{letter} = {k}' for k, letter in enumerate(instance.letters, 1))}. 0: no symbol.",
        "Question: can Checker end? Exactly if the problem has a solution (Theorem 3.1), so no procedure",
        "answers it for all programs like this one.",
    ]


def _nodes(instance: PcpInstance) -> list[str]:
    indices = [f"index_{k} = {k}" for k in range(1, len(instance.top) + 1)]
    cells = {GUESSER: [*indices, "index_end = END", f"{ONE} = 1", f"{SENT} = 0"]}
    for thread in (TOP, BOTTOM):
        letters = [f"{symbol_variable(x)} = {instance.letters.index(x) + 1}" for x in alphabet(instance.words(thread))]
        words = [f"{INDEX[thread].symbol} = {EMPTY}", f"{INDEX[thread].flag} = 0"]
        cells[thread] = [*words, *letters, "letter_end = END", f"{ONE} = 1"]
    cells[CHECKER] = [f"{name} = 0" for c in LETTER.values() for name in (c.symbol, c.flag)]
    return [f"node {NODES[thread]} {{ {', '.join(names)} }}" for thread, names in cells.items()]


def _guesser(instance: PcpInstance) -> list[str]:
    branches = []
    for k in range(1, len(instance.top) + 1):
        puts = [line for channel in INDEX.values() for line in send_symbol(channel, f"index_{k}")]
        branches.append([*puts, f"{SENT} = {k}"])
    choice = branches[0] if len(branches) == 1 else _choose(branches)
    again = [*choice, "choose { skip } or { more = 0 }"]
    ends = [line for channel in INDEX.values() for line in send_symbol(channel, "index_end")]
    return ["reg more = 1", *nested_lines("while more == 1", again), *ends]


def _choose(branches: list[list[str]]) -> list[str]:
    lines = nested_lines("choose", branches[0])
    for branch in branches[1:]:
        first, *rest = nested_lines("or", branch)
        lines = [*lines[:-1], f"}} {first}", *rest]
    return lines


def _expander(instance: PcpInstance, thread: int) -> list[str]:
    body = receive_symbol(INDEX[thread], "i", f"i != {EMPTY}")
    for k, word in enumerate(instance.words(thread), 1):
        puts = [line for letter in word for line in send_symbol(LETTER[thread], symbol_variable(letter))]
        body += nested_lines(f"if i == {k}", puts)
    return ["reg i", *nested_lines("while i != END", body), *send_symbol(LETTER[thread], "letter_end")]


def _checker() -> list[str]:
    top, bottom = READ_INTO[TOP], READ_INTO[BOTTOM]
    accept = {TOP: f"{top} != {EMPTY}", BOTTOM: f"{bottom} == {top}"}
    body = [line for thread in LETTER for line in receive_symbol(LETTER[thread], READ_INTO[thread], accept[thread])]
    return [f"reg {top}, {bottom}", *nested_lines(f"while {top} != END", body)]


MOST_PAIRS = 100
MOST_LETTERS = 2_000
LARGEST = 100_000
SHAPE = 'two lines of words between commas, or {"top": ["a", "ab"], "bottom": ["baa", "aa"]}'
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)')
_LINE = re.compile(r"[^\r\n]++")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Side:
    """The words of one side, and where they are."""

    words: tuple[_Word, ...]
    span: Span


def read_instance(text: str, file: str) -> PcpInstance:
    """Return the instance in `text`; `file` names it in messages.

    The text is two lines, the top and the bottom words between commas, or a JSON object with the lists `top` and `bottom`.
    Raises ProgramError with everything that is wrong: sides of different lengths, empty words, symbols that cannot be shown.
    """
    report = Reporter(file, text)
    if len(text) > LARGEST:
        report.error("RR614", _span(text, 0, 1), f"{len(text):,} characters, and an instance has at most {LARGEST:,}")
        report.raise_errors()
    if not line_ends_are_plain(report):
        report.raise_errors()
    sides = _of_json(text, report) if text.lstrip().startswith("{") else _of_lines(text, report)
    report.raise_errors()
    assert sides is not None
    top, bottom = sides
    for side in sides:
        _check_words(side, report)
    _check_sizes(top, bottom, report)
    report.raise_errors()
    return PcpInstance(tuple(word.text for word in top.words), tuple(word.text for word in bottom.words))


def pcp_instance(top: str, bottom: str) -> PcpInstance:
    """Return the instance of two lists of words between commas. Raises ProgramError as :func:`read_instance`."""
    return read_instance(f"{_one_line(top)}\n{_one_line(bottom)}\n", "--top, --bottom")


def _one_line(words: str) -> str:
    return " ".join(words.splitlines())


def _of_lines(text: str, report: Reporter) -> tuple[_Side, _Side] | None:
    lines = [(m.start(), m.group()) for m in _LINE.finditer(text) if m.group().strip()]
    if len(lines) != 2:
        at = lines[2][0] if len(lines) > 2 else len(text)
        report.error("RR613", _span(text, at, at + 1), f"an instance has 2 lines, and here are {len(lines)}", expected=SHAPE)
        return None
    top, bottom = (_split(text, start, line) for start, line in lines)
    return top, bottom


def _split(text: str, start: int, line: str) -> _Side:
    words = []
    at = start
    for part in line.split(","):
        word = part.strip()
        begin = at + len(part) - len(part.lstrip()) if word else at
        words.append(_Word(word, _span(text, begin, begin + max(1, len(word)))))
        at += len(part) + 1
    return _Side(tuple(words), _span(text, start, start + len(line)))


def _of_json(text: str, report: Reporter) -> tuple[_Side, _Side] | None:
    """Find the two lists. In valid JSON quotation marks only delimit strings, so the strings can be found one by one."""
    try:
        members = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        report.error("RR611", _span(text, error.pos, error.pos + 1), f"not JSON: {json_mistake(error)}", expected=SHAPE)
        return None
    except (RecursionError, ValueError) as error:
        report.error("RR612", _span(text, 0, 1), f"not an instance: {json_mistake(error)}", expected=SHAPE)
        return None
    is_shaped = sorted(key for key, _ in members) == ["bottom", "top"] and all(_are_strings(v) for _, v in members)
    if not is_shaped:
        start = text.index("{")
        report.error("RR612", _span(text, start, start + 1), "not an object with two lists of strings", expected=SHAPE)
        return None
    spans = [_span(text, m.start() + 1, m.end() - 1) for m in _STRING.finditer(text)]
    sides: dict[str, _Side] = {}
    for key, words in members:
        of_key, *of_words = spans[: len(words) + 1]
        spans = spans[len(words) + 1 :]
        sides[key] = _Side(tuple(_Word(w, s) for w, s in zip(words, of_words, strict=True)), of_key)
    return sides["top"], sides["bottom"]


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _check_words(side: _Side, report: Reporter) -> None:
    for word in side.words:
        bad = next((c for c in word.text if c.isspace() or not c.isprintable()), None)
        if not word.text:
            report.error("RR614", word.span, "a word is empty", hint="every word of an instance has at least one letter")
        elif bad is not None:
            report.error("RR614", word.span, f"{quote(bad)} cannot be a letter: it cannot be seen")


def _check_sizes(top: _Side, bottom: _Side, report: Reporter) -> None:
    sizes = len(top.words), len(bottom.words)
    letters = sum(len(word.text) for side in (top, bottom) for word in side.words)
    if sizes[0] != sizes[1]:
        report.error("RR614", bottom.span, f"{sizes[0]} words on top and {sizes[1]} at the bottom; they come in pairs")
    elif not sizes[0]:
        report.error("RR614", top.span, "an instance has at least one pair")
    elif sizes[0] > MOST_PAIRS or letters > MOST_LETTERS:
        report.error(
            "RR614", top.span, f"larger than {MOST_PAIRS} pairs or {MOST_LETTERS} letters, which is more than can be shown"
        )


def _span(text: str, start: int, end: int) -> Span:
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Span(line, column, line, column + max(1, end - start), start, max(end, start + 1))
