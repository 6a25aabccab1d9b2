"""Answers about RDMA programs for an editor: diagnostics, and verdicts, remarks and repairs from the reports of commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rdma_robust.analyses.lints.lint import linted
from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.frame.editor import Asker, Proposal, Report
from rdma_robust.frame.finding import Finding, Level, Step, diagnostic_findings, file_at
from rdma_robust.language.load import load_program, to_be_proven
from rdma_robust.messages.language.contract_codes import CODES
from rdma_robust.messages.language.recognised import is_contracts_in_c
from rdma_robust.model import Model

MOST_INSERTIONS: Final = 3
"""Insertions that the title of a repair names."""

NOT_ROBUST: Final = "RR010"
FAULT: Final = "RR014"
HANG: Final = "RR015"
VIOLATED: Final = "RR016"
VACUOUS: Final = "RR017"

_INCLUDES: Final = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:infiniband/|rdma/|shmemx?\.h|mpi\.h|rdma_robust\.h)", re.MULTILINE
)
NO_PROCESS: Final = "RR818"
"""The code of what has no process: a library, which a harness includes."""


def diagnostics_of(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return the errors of a program, or else its warnings, those of lints too: none of them needs a search.

    What is for proofs is no error in a program that is to be proven.
    """
    try:
        return load_program(text, file).warnings if is_for_proofs(text, file) else linted(text, file).found
    except ProgramError as error:
        return error.diagnostics


def _finding(
    place: tuple[int, int], level: Level, code: str, message: str, related: tuple[Step, ...] = (), *, file: str = ""
) -> Finding:
    """Return a finding at a line and column of the text that an editor has, or of another `file`."""
    return Finding(file, *place, level, code, message, related=related)


def _step(at: Report, text: str) -> Step:
    """Return another place that a finding is about, that of a member of a report, and what happens there."""
    return Step(at["line"], None, text, file=file_at(at.get("places", ())))


async def decide_rdma(asker: Asker) -> None:
    """Ask what there is to know of a program: verdict, claims, and a repair where it is not robust or not safe."""
    await (_prove(asker) if is_for_proofs(asker.text, "") else decide_checked(asker))


async def _prove(asker: Asker) -> None:
    report = await asker.ask("prove")
    asker.decision.verdict, asker.decision.findings = proofs_line(report), list(proofs_findings(report))
    await asker.show()
    if model := unsafe_under(report):
        await _repair(asker, "--goal", "safe", "--model", model)


async def decide_checked(asker: Asker, known: Sequence[Finding] = ()) -> None:
    """Ask for the verdict, the claims, and a repair, beside what is `known`."""
    one = asker.decision
    report = await asker.ask("check")
    one.verdict, one.findings = verdict_lens(report), [*known, *check_findings(report)]
    await asker.show()
    one.asked = "claims"
    report = await asker.ask("verify")
    one.claims = claims_line(report)
    # What `check` has come by is now said by the claims, with more certainty.
    one.findings = [each for each in one.findings if each.code != HANG] + list(claims_findings(report))
    await asker.show()
    if any(each.code == NOT_ROBUST for each in one.findings):
        await _repair(asker)


async def _repair(asker: Asker, *goal: str) -> None:
    asker.decision.asked = "no_repair"
    report = await asker.ask("repair", *goal)
    asker.decision.repair, asker.decision.no_repair = of_repair(report), no_repair_line(report)


def is_asked_about(text: str) -> bool:
    """Return whether a text uses one of the libraries that are read; other C is none of our business."""
    return _INCLUDES.search(text) is not None


async def decide_c(asker: Asker) -> None:
    """Ask what there is to know of a C file, with the options that its comments say: it may take a while to read."""
    one = asker.decision
    if is_contracts_in_c(asker.text):
        await _decide_contracts(asker)
        return
    report = await asker.ask("lint")
    result = report["results"][0]
    found = _views(result["errors"])
    if any(each.code == NO_PROCESS and each.line == 1 and each.column == 1 for each in found):
        one.verdict = f"not decided: {found[0].message}"
        await asker.show()
        return
    warnings = _views(result["warnings"])
    remarks: list[Finding] = list(diagnostic_findings("", (*found, *warnings)))
    one.findings = remarks
    if found or result["error_kind"] is not None:
        one.verdict = "not decided: the program has errors" if found else f"not decided: {result['reason']}"
        await asker.show()
        return
    await asker.show()
    await decide_checked(asker, remarks)


def _views(said: Sequence[Mapping[str, Any]]) -> list[DiagnosticView]:
    """Return the records of diagnostics in JSON."""
    return [DiagnosticView(**{**each, "expanded_from": tuple(each["expanded_from"])}) for each in said]


async def _decide_contracts(asker: Asker) -> None:
    """Ask whether functions keep their contracts, and say of each that does not where its first violation is."""
    report = await asker.ask("contracts", "check")
    result, one = report["results"][0], asker.decision
    one.findings = list(diagnostic_findings("", _views([*result["errors"], *result["warnings"]])))
    if result["error_kind"] is not None:
        one.verdict = "not decided: " + ("the contracts have errors" if result["errors"] else result["reason"])
    else:
        one.verdict = "; ".join(f"{each['name']}: {each['verdict']}" for each in result["functions"])
        for function in result["functions"]:
            wrong = next((each for each in function["n"] if each["verdict"] == "VIOLATED"), None)
            if wrong is not None:
                found = wrong["counterexample"]
                at = found["place"] or wrong["clause"]
                text = f"{function['name']}, n = {wrong['n']}: {wrong['class']}, {found['text']}"
                one.findings.append(_finding((at["line"], at["column"]), "error", CODES[wrong["class"]], text))
    await asker.show()


def is_for_proofs(text: str, file: str) -> bool:
    """Return whether only `prove` can answer for a program without errors, and the program says that it is to."""
    try:
        program = load_program(text, file)
    except ProgramError:
        return False
    return bool(program.undecided) and to_be_proven(program)


def verdict_lens(report: Report) -> str:
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


def check_findings(report: Report) -> Iterator[Finding]:
    """Yield what a `check` report of one program has to be shown: the reordering, and faults that some execution reaches."""
    result = report["results"][0]
    witness = result["witness"]
    if result["verdict"] == "not-robust" and witness is not None:
        events = {event["id"]: event for event in witness["events"]}
        for pair in witness["relaxed"]:
            earlier, later = events[pair["earlier"]], events[pair["later"]]
            related = [_step(earlier, earlier["text"]), _step(later, later["text"])]
            targets = [(events[edge["target"]], edge["text"]) for edge in witness["cycle"]]
            cycle = [_step(event, said) for event, said in targets if event["line"]]
            place, message = (earlier["line"], earlier["column"]), f"not robust: {pair['text']}"
            yield _finding(place, "error", NOT_ROBUST, message, (*related, *cycle), file=file_at(earlier["places"]))
    for fault in result["faults"]:
        message = f"{'reachable' if fault['met'] else 'possible'}: {fault['kind']}: {fault['message']}"
        yield _finding((fault["line"], fault["column"]), "warning", FAULT, message, file=file_at(fault["places"]))
    for wait in result["hangs"]:
        place, message = (wait["line"] or 1, wait["column"] or 1), f"the program can hang: {wait['text']}"
        yield _finding(place, "warning", HANG, message, file=file_at(wait["places"]))


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


def proofs_findings(report: Report) -> Iterator[Finding]:
    """Yield what a `prove` report of one program has to be shown: the claims that a run violates, with the run."""
    for answer in report["results"][0]["models"]:
        claim = answer["claim"]
        if answer["verdict"] == "unsafe" and claim is not None:
            moves = answer["run"]["moves"] if answer["run"] is not None else ()
            run = tuple(_step(each, each["text"]) for each in moves if each["line"])
            foreseen = answer["as_expected"] is True
            message = f"violated under {answer['model']}: {claim['text']}"
            yield _finding((claim["line"], claim["column"]), "note" if foreseen else "error", VIOLATED, message, run)


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


def claims_findings(report: Report) -> Iterator[Finding]:
    """Yield what a `verify` report of one program has to be shown: claims that are violated or about nothing, and hangs."""
    for claim in report["results"][0]["claims"]:
        if claim["expected"]:
            continue
        if claim["status"] == "violated" and claim["hang"] is not None:
            waits = [wait for wait in claim["hang"]["waits"] if wait["line"] is not None]
            for wait in waits:
                others = tuple(_step(each, each["text"]) for each in waits if each is not wait)
                place, message = (wait["line"], wait["column"] or 1), f"{claim['hang']['kind']}: {wait['text']}"
                yield _finding(place, "error", VIOLATED, message, others, file=file_at(wait["places"]))
        elif claim["line"] is not None and claim["status"] == "violated":
            message = f"violated: {claim['text']}: {claim['reason']}"
            yield _finding((claim["line"], 1), "error", VIOLATED, message, file=file_at(claim["places"]))
        elif claim["line"] is not None and claim["status"] == "unreachable":
            message = f"about nothing: {claim['reason']}"
            yield _finding((claim["line"], 1), "warning", VACUOUS, message, file=file_at(claim["places"]))
