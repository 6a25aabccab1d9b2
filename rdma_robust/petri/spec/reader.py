"""Reading `.spec` files, the format of mist, QCover and ICover: from text to a Petri net and its coverability question.

The usual text of rules and conditions is read by regular expressions; the general parser, which would take ten times as
long, reads all other, and says what is wrong. Tests compare the two on every text that is read here.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from typing import Final

from rdma_robust.diagnose import Reporter, did_you_mean, line_ends_are_plain, quote
from rdma_robust.errors import Span
from rdma_robust.petri.net import Net, NetTransition, Vector
from rdma_robust.petri.spec.spec_syntax import MAX_DIGITS, Constraint, SpecRule, SpecSyntaxError, SpecWord, Update, show_at

# Only characters are repeated possessively: groups that are went wrong before Python 3.11.5.
_GAP = r"[ \t\r\n\f\v]*+"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_NUMBER = f"[0-9]{{1,{MAX_DIGITS}}}+(?![0-9])"


def _guard(name: str, number: str) -> str:
    return f"{name}{_GAP}>={_GAP}{number}"


def _update(name: str, sign: str, number: str) -> str:
    return f"{name}{_GAP}'{_GAP}={_GAP}{name}{_GAP}(?:{sign}{_GAP}{number})?"


def _list(item: str) -> str:
    return f"{item}{_GAP}(?:,{_GAP}{item}{_GAP})*"


_NAMES = re.compile(f"vars{_GAP}(?:{_NAME}{_GAP})*")
_WORD = re.compile(_NAME)
_RULE = re.compile(
    f"{_GAP}(?:{_list(_guard(_NAME, _NUMBER))}|true{_GAP})->{_GAP}(?:{_list(_update(_NAME, '[+-]', _NUMBER))})?;"
)
_GUARDS = re.compile(r"(?<![A-Za-z0-9_])" + _guard(f"({_NAME})", f"({_NUMBER})"))
_UPDATES = re.compile(r"(?<![A-Za-z0-9_])" + _update(f"({_NAME})", "([+-])", f"({_NUMBER})"))
_CONSTRAINT = re.compile(
    rf"{_GAP}(,?){_GAP}({_NAME}){_GAP}"
    rf"(?:(>=|=){_GAP}({_NUMBER})|(in){_GAP}\[{_GAP}({_NUMBER}){_GAP},{_GAP}({_NUMBER}){_GAP}\])"
)
_KEYWORDS = frozenset({"in", "true"})


def usual_names(text: str, start: int, end: int) -> list[str] | None:
    """Return the places that text[start:end], which begins with `vars`, declares, if each is declared once."""
    if not _NAMES.fullmatch(text, start, end):
        return None
    found = _WORD.findall(text, start + len("vars"), end)
    distinct = set(found)
    return found if len(distinct) == len(found) and not distinct & _KEYWORDS else None


def usual_rule(text: str, start: int, end: int, places: Mapping[str, int]) -> tuple[Vector, Vector] | None:
    """Return guard and delta of the rule at text[start:end], if it is one of a Petri net over `places`."""
    if not _RULE.fullmatch(text, start, end):
        return None
    arrow = text.index("->", start)
    guard: dict[int, int] = {}
    delta: dict[int, int] = {}
    try:
        for name, digits in _GUARDS.findall(text, start, arrow):
            place = places[name]
            guard[place] = max(int(digits), guard.get(place, 0))
        for name, source, sign, digits in _UPDATES.findall(text, arrow, end):
            place = places[name]
            if source != name or place in delta:
                return None
            delta[place] = int(sign + (digits or "0"))
            if sign == "-":
                guard[place] = max(int(digits), guard.get(place, 0))
    except KeyError:  # a place that is not declared
        return None
    return tuple(sorted(item for item in guard.items() if item[1])), tuple(sorted(item for item in delta.items() if item[1]))


def usual_conjunctions(section: str, text: str, start: int, end: int) -> list[list[Constraint]] | None:
    """Return the conjunctions at text[start:end], which begins with the word `section`."""
    end = start + len(text[start:end].rstrip(" \t\r\n\f\v"))
    found: list[list[Constraint]] = []
    at = start + len(section)
    while at < end:
        match = _CONSTRAINT.match(text, at, end)
        if match is None or match[2] in _KEYWORDS:
            return None
        if match[1] and not found:
            return None
        if not match[1]:
            found.append([])
        place = SpecWord(match[2], match.start(2))
        if match[3]:
            found[-1].append(Constraint(place, match[3], SpecWord(match[4], match.start(4))))
        else:
            low, high = SpecWord(match[6], match.start(6)), SpecWord(match[7], match.start(7))
            found[-1].append(Constraint(place, match[5], low, high))
        at = match.end()
    ok = found and (section != "init" or len(found) == 1)
    ok = ok and (section != "invariants" or all(c.operator == "=" for group in found for c in group))
    return found if ok else None


SECTIONS: Final = ("vars", "rules", "init", "target", "invariants")
_OPTIONAL: Final = "invariants"
_KEYWORD: Final = re.compile(rf"(?:^|[^A-Za-z0-9_])[0-9]*+({'|'.join(SECTIONS)})(?![A-Za-z0-9_])")
_SUPPORTED: Final = "rules of Petri nets have guards `x >= k` and updates `x' = x + c` or `x' = x - c`"
_ORDER: Final = "the sections are `vars`, `rules`, `init`, `target` and perhaps `invariants`, once each, in this order"
_FORMAT: Final = "Petri nets are read in the `.spec` format of mist: `vars`, `rules`, `init`, `target`"
_BLANK: Final = " \t\r\n\f\v"


def read_spec(text: str, file: str) -> Net:
    """Return the net in `text`; `file` names it, also in messages. Rule number i becomes transition r<i+1> with its line.

    A rule needs of a place what its guard asks for, and what it subtracts. Places that `init` does not mention may
    start with any number. Each conjunction of `target` is a cone. Raises ProgramError with the errors of the file, also
    for what no Petri net has: equality guards, resets, transfers, targets that are not upward-closed. Source:
    docs/coverability.md, "The format", after the parsers of mist and QCover.
    """
    return _Reader(text.removeprefix("\ufeff"), file).net()


class _Reader:
    def __init__(self, source: str, file: str) -> None:
        self.file = file
        self.report = Reporter(file, source)
        self.text = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), source) if "#" in source else source
        self.line_starts = [0, *(end.end() for end in re.finditer("\n", source))]
        self.places: dict[str, int] = {}

    def net(self) -> Net:
        if not line_ends_are_plain(self.report):
            self.report.raise_errors()
        sections = self._sections()
        names = self._names(*sections["vars"]) if "vars" in sections else []
        self.places = {name: i for i, name in enumerate(names)}
        transitions = tuple(self._transitions(*sections["rules"])) if "rules" in sections else ()
        groups = {section: self._groups(section, *sections[section]) for section in SECTIONS[2:] if section in sections}
        least, most = self._init([c for group in groups.get("init", ()) for c in group])
        targets = tuple(self._cone(group) for group in groups.get("target", ()))
        weights = tuple(w for group in groups.get("invariants", ()) if (w := self._weights(group)))
        if len(sections) < len(SECTIONS) and not self.report.failed:
            self._missing(sections)
        self.report.raise_errors()
        return Net(self.file, tuple(names), transitions, least, most, targets, weights)

    # ---- sections

    def _sections(self) -> dict[str, tuple[int, int]]:
        """Return where each section is, keyword included, as far as they are in order."""
        found = [(match[1], match.start(1)) for match in _KEYWORD.finditer(self.text)]
        if stray := self.text[: found[0][1] if found else None].strip(_BLANK):
            at = self.text.index(stray[0])
            self._error("RR601", at, at + 1, f"unexpected {show_at(self.text, at)}", expected="`vars`", hint=_FORMAT)
        ends = [*(at for _, at in found[1:]), len(self.text)][: len(found)]
        sections: dict[str, tuple[int, int]] = {}
        for (word, at), end in zip(found, ends, strict=True):
            if len(sections) == len(SECTIONS) or word != SECTIONS[len(sections)]:
                again = "a second time" if word in sections else "too early"
                self._error("RR602", at, at + len(word), f"the section {quote(word)} begins {again}", hint=_ORDER)
                break
            sections[word] = (at, end)
        return sections

    def _missing(self, sections: dict[str, tuple[int, int]]) -> None:
        expected = SECTIONS[len(sections)]
        if expected != _OPTIONAL:
            end = len(self.text.rstrip())
            hint = "the file may have been cut short" if sections else _FORMAT
            self._error("RR602", end, end + 1, "unexpected end of the file", expected=f"the section `{expected}`", hint=hint)

    def _names(self, start: int, end: int) -> list[str]:
        names = usual_names(self.text, start, end)
        if names is not None:
            return names
        from rdma_robust.petri.spec.spec_syntax import parse_names  # noqa: PLC0415 - slow, and seldom needed

        first: dict[str, SpecWord] = {}
        try:
            for word in parse_names(self.text, start, end):
                if (other := first.setdefault(word.text, word)) is not word:
                    line = self._span(other.at, other.at).line
                    self._error_at("RR603", word, f"the place {quote(word.text)} is declared twice", f"first in line {line}")
        except SpecSyntaxError as error:
            self._syntax_error(error)
            self.report.raise_errors()  # without the places, nothing else makes sense
        return list(first)

    def _groups(self, section: str, start: int, end: int) -> list[list[Constraint]]:
        groups = usual_conjunctions(section, self.text, start, end)
        if groups is not None:
            return groups
        from rdma_robust.petri.spec.spec_syntax import parse_constraints  # noqa: PLC0415

        try:
            return parse_constraints(section, self.text, start, end)
        except SpecSyntaxError as error:
            self._syntax_error(error)
            return []

    # ---- rules

    def _transitions(self, start: int, end: int) -> Iterator[NetTransition]:
        for number, (first, last) in enumerate(self._pieces(start + len("rules"), end), 1):
            guard, delta = usual_rule(self.text, first, last, self.places) or self._rule(first, last)
            yield NetTransition(f"r{number}", guard, delta, bisect.bisect_right(self.line_starts, first))

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where each rule is: from its first sign to its semicolon."""
        while start < end:
            stop = self.text.find(";", start, end)
            last = end if stop < 0 else stop + 1
            first = last - len(self.text[start:last].lstrip(_BLANK))
            if first < last:
                yield first, last
            start = last

    def _rule(self, start: int, end: int) -> tuple[Vector, Vector]:
        if self.report.full:
            self._error("RR601", start, end, "not read after so many errors")
            return (), ()
        from rdma_robust.petri.spec.spec_syntax import parse_rule  # noqa: PLC0415

        try:
            rule = parse_rule(self.text, start, end)
        except SpecSyntaxError as error:
            self._syntax_error(error)
            return (), ()
        return self._effect(rule)

    def _effect(self, rule: SpecRule) -> tuple[Vector, Vector]:
        guard: dict[int, int] = {}
        delta: dict[int, int] = {}
        for constraint in rule.guards:
            place, low = self._place(constraint.place), self._number(constraint.low)
            if constraint.operator != ">=":
                self._refuse("RR605", constraint, "a guard that holds only up to a number is not supported", _SUPPORTED)
            guard[place] = max(low, guard.get(place, 0))
        for update in rule.updates:
            place = self._place(update.place)
            if place >= 0 and place in delta:
                self._error_at("RR606", update.place, f"{quote(update.place.text)} is updated twice in one rule")
            delta[place] = self._change(update)
            guard[place] = max(-delta[place], guard.get(place, 0))
        return _vector(guard), _vector(delta)

    def _change(self, update: Update) -> int:
        """Return what an update adds to its place."""
        unknown = [word for word in update.terms if self._place(word) < 0]
        amount = self._number(update.amount) if update.amount else 0
        text = quote(" ".join(self.text[update.place.at : update.end].split()))
        problem = ""
        if not update.terms:
            problem = f"{text} sets a place to a number, which is not supported"
        elif [word.text for word in update.terms] != [update.place.text]:
            problem = f"{text} is a transfer, which is not supported"
        if problem and not unknown:
            self._error("RR605", update.place.at, update.end, problem, hint=_SUPPORTED)
        return -amount if update.sign == "-" else amount

    # ---- markings

    def _init(self, constraints: list[Constraint]) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
        least = [0] * len(self.places)
        most: list[int | None] = [None] * len(self.places)
        for constraint in constraints:
            place, low = self._place(constraint.place), self._number(constraint.low)
            high = self._number(constraint.high) if constraint.high else low if constraint.operator == "=" else None
            if place < 0:
                continue
            least[place] = max(least[place], low)
            known = most[place]
            most[place] = known if high is None else high if known is None else min(high, known)
            bound = most[place]
            if bound is not None and bound < least[place]:
                self._refuse("RR608", constraint, f"no number of tokens in {quote(constraint.place.text)} meets this", "")
        return tuple(least), tuple(most)

    def _cone(self, constraints: list[Constraint]) -> Vector:
        least: dict[int, int] = {}
        for constraint in constraints:
            place, low = self._place(constraint.place), self._number(constraint.low)
            if constraint.operator != ">=":
                hint = "a target is a set of markings with at least so many tokens: `x >= 3`"
                self._refuse("RR605", constraint, "a target that is not upward-closed is not a coverability question", hint)
            least[place] = max(low, least.get(place, 0))
        return _vector(least)

    def _weights(self, constraints: list[Constraint]) -> Vector:
        """Return the weights of an invariant; () if a place has two, which says nothing sensible."""
        weights: dict[int, int] = {}
        for constraint in constraints:
            place, weight = self._place(constraint.place), self._number(constraint.low)
            weights[place] = weight if place not in weights else 0
        return _vector(weights) if len(weights) == len(constraints) else ()

    # ---- words

    def _place(self, word: SpecWord) -> int:
        """Return the index of a place, -1 for an unknown one, which is reported."""
        place = self.places.get(word.text, -1)
        if place < 0:
            hint = did_you_mean(word.text, self.places) or "every place is declared in the section `vars`"
            self._error_at("RR604", word, f"there is no place {quote(word.text)}", hint)
        return place

    def _number(self, word: SpecWord) -> int:
        if len(word.text) > MAX_DIGITS:
            self._error_at("RR607", word, f"this number has {len(word.text):,} digits, more than {MAX_DIGITS:,}")
            return 0
        return int(word.text)

    # ---- messages

    def _refuse(self, code: str, constraint: Constraint, message: str, hint: str) -> None:
        last = constraint.high or constraint.low
        end = self.text.index("]", last.at) + 1 if constraint.high else last.at + len(last.text)
        self._error(code, constraint.place.at, end, message, hint=hint)

    def _syntax_error(self, error: SpecSyntaxError) -> None:
        self._error("RR601", error.at, error.end, str(error), expected=error.expected, hint=error.hint)

    def _error_at(self, code: str, word: SpecWord, message: str, hint: str = "") -> None:
        self._error(code, word.at, word.at + len(word.text), message, hint=hint)

    def _error(self, code: str, at: int, end: int, message: str, *, expected: str = "", hint: str = "") -> None:
        self.report.error(code, self._span(at, end), message, expected=expected, hint=hint)

    def _span(self, start: int, end: int) -> Span:
        (line, column), (end_line, end_column) = (self._position(at) for at in (start, end))
        return Span(line, column, end_line, end_column, start, end)

    def _position(self, at: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.line_starts, at)
        return line, at - self.line_starts[line - 1] + 1


def _vector(values: dict[int, int]) -> Vector:
    return tuple(sorted((place, value) for place, value in values.items() if value))
