"""From reports of the commands to findings at places of the text: what an editor underlines, and the verdict in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rdma_robust.analyses.lints.lint import linted
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Severity
from rdma_robust.language.load import load_program, to_be_proven
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.recognised import has_contracts, is_messages
from rdma_robust.model import Model

Report = Mapping[str, Any]

MOST_INSERTIONS: Final = 3
"""Insertions that the title of a repair names."""

NOT_ROBUST: Final = "RR010"
FAULT: Final = "RR014"
HANG: Final = "RR015"
VIOLATED: Final = "RR016"
VACUOUS: Final = "RR017"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding is about: its 1-based line, and what happens there."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be shown at the statement of a 1-based line and column."""

    line: int
    column: int
    severity: Severity | Literal["information"]
    code: str
    message: str
    related: tuple[Related, ...] = field(default=())


def diagnostics_of(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return the errors of a program, or else its warnings, those of lints too: none of them needs a search.

    Of a program of `.mp` they are those that reading it and its contracts finds.
    What is for proofs is no error in a program that is to be proven.
    """
    try:
        if is_messages(text, file):
            return _of_messages(text, file)
        return load_program(text, file).warnings if is_for_proofs(text, file) else linted(text, file).found
    except ProgramError as error:
        return error.diagnostics


def _of_messages(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return the warnings about a program of `.mp` and its contracts. Raises ProgramError with the errors of both."""
    of_contracts = load_contracts(text, file).warnings if has_contracts(text) else ()
    return tuple(dict.fromkeys((*of_contracts, *load_messages(text, file).warnings)))


def is_for_proofs(text: str, file: str) -> bool:
    """Return whether only `prove` can answer for a program without errors, and the program says that it is to."""
    try:
        program = load_program(text, file)
    except ProgramError:
        return False
    return bool(program.undecided) and to_be_proven(program)


def is_wrong(found: tuple[Diagnostic, ...]) -> bool:
    """Return whether a program with these diagnostics cannot be decided."""
    return any(each.severity == "error" for each in found)


def in_words(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as one text: the message, what was expected, and the hint."""
    parts = [diagnostic.located]
    if diagnostic.span != NO_SPAN:
        parts += [f"expanded from line {origin.line}" for origin in diagnostic.span.chain()]
    if diagnostic.expected:
        parts.append(f"expected: {diagnostic.expected}")
    if diagnostic.hint:
        parts.append(f"hint: {diagnostic.hint}")
    return "\n".join(parts)


def verdict_line(report: Report) -> str:
    """Return the verdict of a `check` report of one program as a line."""
    result = report["results"][0]
    words = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown", "error": "no verdict"}
    line = words[result["verdict"]]
    if result["model"] is not None:
        line += f" under {Model(**result['model']).words}"
    if result["verdict"] in ("unknown", "error"):
        return f"{line}: {result['reason']}"
    if result["as_expected"] is False:
        line += f", but `expect {words[result['expected']]}`"
    return line


def of_check(report: Report) -> Iterator[Finding]:
    """Yield what a `check` report of one program has to be shown: the reordering, and faults that some execution reaches."""
    result = report["results"][0]
    witness = result["witness"]
    if result["verdict"] == "not-robust" and witness is not None:
        events = {event["id"]: event for event in witness["events"]}
        for pair in witness["relaxed"]:
            earlier, later = events[pair["earlier"]], events[pair["later"]]
            related = [Related(earlier["line"], earlier["text"]), Related(later["line"], later["text"])]
            targets = [(events[edge["target"]]["line"], edge["text"]) for edge in witness["cycle"]]
            cycle = [Related(line, said) for line, said in targets if line]
            message = f"not robust: {pair['text']}"
            yield Finding(earlier["line"], earlier["column"], "error", NOT_ROBUST, message, (*related, *cycle))
    for fault in result["faults"]:
        message = f"{'reachable' if fault['met'] else 'possible'}: {fault['kind']}: {fault['message']}"
        yield Finding(fault["line"], fault["column"], "warning", FAULT, message)
    for wait in result["hangs"]:
        yield Finding(wait["line"] or 1, wait["column"] or 1, "warning", HANG, f"the program can hang: {wait['text']}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of the text and what it does: pieces (1-based line and column, end line and column, new text), which belong
    together. It is a fix of findings with the code `about`."""

    title: str
    pieces: tuple[tuple[int, int, int, int, str], ...]
    about: str


def proofs_line(report: Report) -> str:
    """Return the verdicts of a `prove` report of one program as a line."""
    result = report["results"][0]
    if not result["models"]:
        return f"no verdict: {result['reason']}"
    said = (
        f"{each['verdict']} under {each['model']}" + (f", but `expect {each['expected']}`" * (each["as_expected"] is False))
        for each in result["models"]
    )
    return "; ".join(said)


def of_prove(report: Report) -> Iterator[Finding]:
    """Yield what a `prove` report of one program has to be shown: the claims that a run violates, with the run."""
    for answer in report["results"][0]["models"]:
        claim = answer["claim"]
        if answer["verdict"] == "unsafe" and claim is not None:
            moves = answer["run"]["moves"] if answer["run"] is not None else ()
            run = tuple(Related(each["line"], each["text"]) for each in moves if each["line"])
            foreseen = answer["as_expected"] is True
            message = f"violated under {answer['model']}: {claim['text']}"
            yield Finding(claim["line"], claim["column"], "information" if foreseen else "error", VIOLATED, message, run)


def unsafe_under(report: Report) -> str | None:
    """Return a model under which a `prove` report of one program has a run that waits may exclude, one that nobody expects
    first; None without."""
    found = [each for each in report["results"][0]["models"] if each["verdict"] == "unsafe"]
    found.sort(key=lambda each: each["as_expected"] is True)
    return next((each["model"] for each in found if each["model"] in ("tso", "pso", "rma")), None)


def of_repair(report: Report) -> Proposal | None:
    """Return what a `repair` report proposes, None if nothing."""
    if not report["solutions"] or not report["solutions"][0]["edits"]:
        return None
    best = report["solutions"][0]
    words = [f"{' and '.join(each['statements'])} in {each['thread']}" for each in best["insertions"]]
    shown = [*words[:MOST_INSERTIONS], *([f"{len(words) - MOST_INSERTIONS} more"] if len(words) > MOST_INSERTIONS else [])]
    how = "no cheaper repair exists" if report["optimal"] else "the cheapest found"
    pieces = tuple((e["line"], e["column"], e["end_line"], e["end_column"], e["text"]) for e in best["edits"])
    under = report["options"]["safe_under"]
    about, goal = (NOT_ROBUST, "robust") if under is None else (VIOLATED, f"safe under {under}")
    return Proposal(f"Make the program {goal}: insert {', '.join(shown)} (cost {best['cost']}, {how})", pieces, about)


def no_repair_line(report: Report) -> str:
    """Return why a `repair` report proposes nothing, empty if it does."""
    if of_repair(report) is not None:
        return ""
    words = {"impossible": "there is no repair", "unknown": "no repair found"}
    return f"{words.get(report['status'], 'no repair')}: {report['reason']}"


def claims_line(report: Report) -> str:
    """Return how the claims of a program fare, from a `verify` report of one program; empty without claims."""
    numbers = Counter(claim["status"] for claim in report["results"][0]["claims"])
    words = {"holds": "hold", "violated": "violated", "unreachable": "about nothing", "unknown": "undecided"}
    found = [f"{numbers[status]} {word}" for status, word in words.items() if numbers[status]]
    return f"claims: {', '.join(found)}" if found else ""


def of_verify(report: Report) -> Iterator[Finding]:
    """Yield what a `verify` report of one program has to be shown: claims that are violated or about nothing, and hangs."""
    for claim in report["results"][0]["claims"]:
        if claim["expected"]:
            continue
        if claim["status"] == "violated" and claim["hang"] is not None:
            waits = [wait for wait in claim["hang"]["waits"] if wait["line"] is not None]
            for wait in waits:
                others = tuple(Related(each["line"], each["text"]) for each in waits if each is not wait)
                message = f"{claim['hang']['kind']}: {wait['text']}"
                yield Finding(wait["line"], wait["column"] or 1, "error", VIOLATED, message, others)
        elif claim["line"] is not None and claim["status"] == "violated":
            yield Finding(claim["line"], 1, "error", VIOLATED, f"violated: {claim['text']}: {claim['reason']}")
        elif claim["line"] is not None and claim["status"] == "unreachable":
            yield Finding(claim["line"], 1, "warning", VACUOUS, f"about nothing: {claim['reason']}")
