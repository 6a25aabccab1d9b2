"""The judge of answers to exercises: the tool itself, on the text of the answer.

The answer has to be the program of the exercise but for the lines that its kind lets one change; lines are compared as
`rdma-robust fmt` lays them out, without comments. What is asked of it then is decided as `check`, `verify` and `repair` do.
A limit that is reached leaves the answer undecided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Barrier, Costs, RepairOptions
from rdma_robust.analyses.safety.handing_over import verify_all
from rdma_robust.analyses.safety.verify import Status
from rdma_robust.errors import UsageError
from rdma_robust.language.load import is_c, is_trencher, load_decidable, parse_program
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import Text, check_program
from rdma_robust.teaching.exercises import Exercise, ExerciseKind
from rdma_robust.text import count

WAIT: Final = re.compile(r"(?P<kind>poll) \w+(?: (?P<times>\d+))?|(?P<fence>rfence) \w+|(?P<get>get) scrap\w* = \w+\.probe")
"""Lines that only wait, from which `rdma-robust repair` chooses too. A `get` does where it fetches a word `probe`, which is
for nothing else; a `flush` is such a get with its polls."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """An answer judged: whether it is `solved`, None if a limit came first, and why, in words for the learner."""

    solved: bool | None
    said: str


@dataclass(frozen=True, slots=True)
class _Answer:
    exercise: Exercise
    text: str
    file: str
    timeout: float | None

    def decided(self) -> Outcome:
        """Return whether the answer is robust, on the hardware that it names."""
        options = CheckOptions(timeout=self.timeout)
        return check_program(Text(self.text, self.file), options)

    def claims(self, *lines: str, hangs: bool = False) -> Assessment:
        """Return whether lines that are added to the answer hold of it, and that it does not hang if that is asked for."""
        source = "\n".join([*_lines(self.text, without="outcome"), *lines, ""])
        program = load_decidable(source, self.file)
        found = verify_all(program, Limits.of(self.timeout), program.hardware.model, hangs=hangs).checked
        for each in sorted(found, key=lambda one: one.claim.kind != "hang"):
            if each.status is Status.UNREACHABLE or not (hangs or each.claim.kind == "outcome"):
                continue
            if each.status is Status.UNKNOWN:
                return Assessment(None, f"it is not known whether this holds: {each.claim.text or 'no run hangs'}")
            if each.status is not Status.HOLDS:
                return Assessment(False, each.claim.text or "a run of the hardware can hang")
        return Assessment(True, "")


def judge(exercise: Exercise, text: str, file: str, timeout: float | None = None) -> Assessment:
    """Return whether `text` solves an exercise; `file` names it in messages. `timeout` is in seconds, for each thing that is
    decided. Raises ProgramError for what is no program, and UsageError for one of another language."""
    if is_c(text, file) or is_trencher(text, file):
        raise UsageError("an answer is the program of the exercise, changed: this is one of another language")
    load_decidable(text, file)
    change = _CHANGES[exercise.kind](exercise, _lines(exercise.program), _lines(text))
    if change:
        return Assessment(False, change)
    return _JUDGES[exercise.kind](_Answer(exercise, text, file, timeout))


# ---- what may be changed


def _lines(text: str, without: str = "") -> list[str]:
    """Return the lines of a program in the one layout, without comments, blank lines, what it expects, and those that begin
    with a word."""
    dropped = ("expect ", "program ", *((f"{without} ",) if without else ()))
    stripped = (line.strip() for line in format_tree(parse_program(text, "")).split("\n"))
    return [one for line in stripped if line and not line.startswith(dropped) for one in _polls(line)]


def _polls(line: str) -> list[str]:
    """Return `poll B 2` as two polls, and other lines as they are."""
    match = WAIT.fullmatch(line)
    return [line.removesuffix(f" {match['times']}")] * int(match["times"]) if match and match["times"] else [line]


def _only(pattern: re.Pattern[str], what: str) -> Callable[[Exercise, Sequence[str], Sequence[str]], str]:
    """Return a comparison after which only lines that match were changed: nothing, or what else was."""

    def compared(_exercise: Exercise, given: Sequence[str], now: Sequence[str]) -> str:
        before, after = ([line for line in lines if not pattern.fullmatch(line)] for lines in (given, now))
        return "" if before == after else f"{_difference(before, after)}: in this exercise only {what} can be changed"

    return compared


def _added(exercise: Exercise, given: Sequence[str], now: Sequence[str]) -> str:
    """Return what else was done to a program than to add waits."""
    if not _is_part(given, now):
        return f"{_difference(given, now)}: in this exercise everything has to stay, and waits can be added"
    return _only(WAIT, "waits")(exercise, given, now)


def _taken(exercise: Exercise, given: Sequence[str], now: Sequence[str]) -> str:
    """Return what else was done to a program than to take out a few lines."""
    gone = len(given) - len(now)
    if not _is_part(now, given):
        return f"{_difference(given, now)}: in this exercise lines can be taken out, and nothing else"
    if not 0 < gone <= exercise.most:
        return f"{count(gone, 'line')} taken out: it has to be {'one' if exercise.most == 1 else f'up to {exercise.most}'}"
    return ""


def _is_part(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether a sequence is what is left of another when some are taken out."""
    rest = iter(whole)
    return all(line in rest for line in part)


def _difference(given: Sequence[str], now: Sequence[str]) -> str:
    less, more = Counter(given) - Counter(now), Counter(now) - Counter(given)
    named = [f"`{line}` is missing" for line in less] + [f"`{line}` is new" for line in more]
    return ", ".join(named[:3]) or "the order of the lines is another"


_CHANGES: Final[dict[ExerciseKind, Callable[[Exercise, Sequence[str], Sequence[str]], str]]] = {
    "outcome": _only(re.compile(r"outcome .*"), "`outcome` lines"),
    "repair": _added,
    "fewest": _only(WAIT, "waits"),
    "hardware": _only(re.compile(r"hardware .*"), "the `hardware` line"),
    "break": _taken,
}


# ---- what is asked


def _outcomes(answer: _Answer) -> Assessment:
    given = set(_lines(answer.exercise.program))
    found = [line for line in _lines(answer.text) if line.startswith("outcome ") and line not in given]
    if not found:
        return Assessment(
            False, "there is no outcome yet: add a line like `outcome T.r == 0 : allowed under rdma, forbidden under sc`"
        )
    for line in found:
        condition = _condition(line)
        for claim, otherwise in (
            ("allowed under rdma", "RDMA hardware does not do that either"),
            ("forbidden under sc", "it can happen under sequential consistency too"),
        ):
            held = answer.claims(f"{condition} : {claim}")
            if not held.solved:
                return (
                    held if held.solved is None else Assessment(False, f"{condition.removeprefix('outcome ')}: {otherwise}")
                )
    return Assessment(True, f"only RDMA hardware has {_condition(found[0]).removeprefix('outcome ')}")


def _condition(line: str) -> str:
    """Return an `outcome` line of the one layout without its claims."""
    return line.partition(" : ")[0]


def _cheapest(answer: _Answer) -> Assessment:
    """Robust, no new way to hang, and at the cost of the cheapest repair: of the program, or of it without its waits."""
    outcome = answer.decided()
    if outcome.verdict is Verdict.UNKNOWN:
        return Assessment(None, f"it is not known whether it is robust: {outcome.reason}")
    if outcome.verdict is Verdict.NOT_ROBUST:
        return Assessment(False, f"it is not robust{_overtaking(outcome)}")
    held = answer.claims(*answer.exercise.hidden, hangs=True)
    if not held.solved:
        return held if held.solved is None else Assessment(False, f"it is robust, but this does not hold of it: {held.said}")
    given = answer.exercise.program
    start = given if answer.exercise.kind == "repair" else "\n".join(x for x in _lines(given) if not WAIT.fullmatch(x))
    found = repair(start, answer.file, RepairOptions(timeout=answer.timeout))
    if found.status != "repaired" or not found.optimal:
        return Assessment(None, f"the cheapest repair was not found: {found.reason}")
    least = found.solutions[0].cost
    mine = _cost(answer.text) - _cost(start)
    if mine < least:
        return Assessment(
            None, f"it costs {mine}, and `rdma-robust repair` says that nothing below {least} is enough: please report this"
        )
    if mine > least:
        return Assessment(False, f"it is robust, at cost {mine}; it can be done for less")
    return Assessment(True, f"it is robust at cost {mine}, and no cheaper repair exists")


def _hardware(answer: _Answer) -> Assessment:
    if not any(line.startswith("hardware ") for line in _lines(answer.text)):
        return Assessment(False, "there is no hardware yet: add a line like `hardware cpu sc, order default` at the top")
    outcome = answer.decided()
    if outcome.verdict is Verdict.UNKNOWN:
        return Assessment(None, f"it is not known whether it is robust there: {outcome.reason}")
    robust = outcome.verdict is Verdict.ROBUST
    said = "it is robust on that hardware" if robust else f"it is not robust on that hardware{_overtaking(outcome)}"
    return Assessment(robust == (answer.exercise.goal == "robust"), said)


def _broken(answer: _Answer) -> Assessment:
    held = answer.claims(*answer.exercise.hidden)
    if held.solved:
        return Assessment(True, f"it is broken: {held.said or '; '.join(_conditions(answer.exercise.hidden))}")
    return held if held.solved is None else Assessment(False, f"that does not do it: {held.said} does not hold")


def _conditions(lines: Sequence[str]) -> Iterator[str]:
    yield from dict.fromkeys(line.removeprefix("outcome ") for line in lines)


_JUDGES: Final[dict[ExerciseKind, Callable[[_Answer], Assessment]]] = {
    "outcome": _outcomes,
    "repair": _cheapest,
    "fewest": _cheapest,
    "hardware": _hardware,
    "break": _broken,
}


def _overtaking(outcome: Outcome) -> str:
    """Return which lines the counterexample reorders, behind a colon."""
    pairs = outcome.witness.relaxed if outcome.witness else ()
    lines = {(a.step.span.where, b.step.span.where) for a, b in pairs if a.step is not None and b.step is not None}
    told = ", ".join(f"line {b} can take effect before line {a}" for a, b in sorted(lines))
    return f": {told}" if told else ""


def _cost(text: str) -> int:
    """Return what the waits of a program cost, by the default prices of `rdma-robust repair`."""
    costs, blocks, total = Costs(), [False], 0
    for line in _lines(text):
        blocks = blocks[:-1] if line.startswith("}") else blocks
        if match := WAIT.fullmatch(line):
            kind = Barrier(next(match[name] for name in ("kind", "get", "fence") if match[name]))
            total += costs.of(kind, sum(blocks))
        if line.endswith("{"):
            blocks = [*blocks, line.startswith(("while ", "loop "))]
    return total
