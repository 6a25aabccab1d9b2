"""Instances of Post's problem as text: two lines of words between commas, or JSON."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from rdma_robust.diagnose import Reporter, line_ends_are_plain, quote
from rdma_robust.errors import Span
from rdma_robust.hardness.pcp import Instance
from rdma_robust.text import json_mistake

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


def read_instance(text: str, file: str) -> Instance:
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
    return Instance(tuple(word.text for word in top.words), tuple(word.text for word in bottom.words))


def instance_of(top: str, bottom: str) -> Instance:
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
