"""What changed between two JSON reports: verdicts, and the answers for all that they count."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from rdma_robust.batch import reported_claims
from rdma_robust.errors import UsageError
from rdma_robust.reports.batch.compare_view import (
    Answers,
    ClaimChange,
    ClaimVerdict,
    Comparison,
    Key,
    Kind,
    Report,
    ReportedProgram,
    VerdictChange,
)
from rdma_robust.reports.check.result import VerdictWord
from rdma_robust.text import json_mistake

ANSWERED: Final = "answered"
"""What stands for a verdict where only claims are answered."""

RANK: Final[Mapping[str, int]] = {
    verdict: rank for rank, verdict in enumerate(("robust", ANSWERED, "not-robust", "unknown", "error"))
}
"""From good to bad, as the exit codes are weighed."""

_OF_RESULT: Final[Mapping[str, Callable[[Mapping[str, Any]], Answers]]] = {
    "verify": lambda result: reported_claims.of_claims(result["claims"]),
    "prove": reported_claims.of_proofs,
    "messages-check": reported_claims.of_messages,
    "contracts-check": reported_claims.of_contracts,
}
"""How the results of each command are read that has no verdict for a program as a whole."""

_CHECKS: Final = ("check", "report")
"""Reports of these two are of one kind."""

FORMATS: Final = tuple(f"rdma-robust/{each}" for each in (*_CHECKS, *_OF_RESULT))


def compare(old: Report, new: Report) -> Comparison:
    """Return what changed from `old` to `new`, by the names of the files. Raises UsageError for reports of two kinds."""
    if len({_kind_of(old.format), _kind_of(new.format)}) > 1:
        raise UsageError(f"{new.path}: a report of another command ({new.format}) than {old.path} ({old.format})")
    files = [*new.programs, *(file for file in old.programs if file not in new.programs)]
    changes = tuple(_change(f, old.programs.get(f), new.programs.get(f)) for f in files)
    claims: list[ClaimChange] = []
    for change in changes:
        before, after = old.programs.get(change.file), new.programs.get(change.file)
        if before and after and "error" not in (before.verdict, after.verdict):
            claims += _claims(change, before, after, counts_expected=new.counts_expected)
    return Comparison(old, new, changes, tuple(claims))


def _kind_of(format_: str) -> str:
    return _CHECKS[0] if format_.removeprefix("rdma-robust/") in _CHECKS else format_


def _change(file: str, old: ReportedProgram | None, new: ReportedProgram | None) -> VerdictChange:
    edited = None
    if old and new and old.sha256 and new.sha256:
        edited = old.sha256 != new.sha256
    reason = new.reason if new else ""
    verdicts = (old.verdict if old else None, new.verdict if new else None)
    return VerdictChange(file, _kind(old, new), *verdicts, edited, reason)


def _kind(old: ReportedProgram | None, new: ReportedProgram | None) -> Kind:
    """Return what happened. A verdict that was as expected and is not any more got worse, whatever the verdicts are."""
    if old is None:
        return "new"
    if new is None:
        return "missing"
    if old.verdict == new.verdict:
        return "same"
    if old.as_expected is not None and new.as_expected is not None and old.as_expected != new.as_expected:
        return "improvement" if new.as_expected else "regression"
    return "regression" if RANK[new.verdict] > RANK[old.verdict] else "improvement"


def _claims(
    change: VerdictChange, old: ReportedProgram, new: ReportedProgram, *, counts_expected: bool
) -> Iterator[ClaimChange]:
    """Yield every claim of a program that is in both reports.

    What a check came by on its way says something where the claims themselves were not answered in both.
    """

    def told(name: str, kind: Kind, before: ClaimVerdict | None, after: ClaimVerdict | None) -> ClaimChange:
        words = (before.text if before else None, after.text if after else None)
        return ClaimChange(change.file, kind, name, *words, change.edited)

    if change.kind == "same":
        before, after = (ClaimVerdict("the verdict", each.verdict, 0, each.as_expected) for each in (old, new))
        if before.as_expected is not None or after.as_expected is not None:
            yield told("the verdict", _of_claim(before, after, counts_expected), before, after)
    if old.answers is None or new.answers is None:
        yield from (told(*each) for each in _pairs(old.seen, new.seen, counts_expected) if each[1] != "same")
        if old.answers is not None:
            answers = [*old.answers.claims.values()]
            yield from (told(each.name, "missing", each, None) for each in answers)
    else:
        yield from (told(*each) for each in _pairs(old.answers, new.answers, counts_expected))


def _pairs(
    old: Answers, new: Answers, counts_expected: bool
) -> Iterator[tuple[str, Kind, ClaimVerdict | None, ClaimVerdict | None]]:
    """Yield each claim of either side with its answers, and the groups of which no claim is listed on any side."""
    keys: dict[Key, None] = {**dict.fromkeys(new.claims), **dict.fromkeys(old.claims)}
    listed = {key[0] for key in keys}
    for key in keys:
        before, after = old.of(key), new.of(key)
        shown = next(each for each in (new.claims.get(key), old.claims.get(key)) if each)
        yield shown.name, _of_claim(before, after, counts_expected), before, after
    for group in {**dict.fromkeys(new.groups), **dict.fromkeys(old.groups)}:
        if group not in listed:
            before, after = old.groups.get(group), new.groups.get(group)
            yield group, _of_claim(before, after, counts_expected), before, after


def _of_claim(old: ClaimVerdict | None, new: ClaimVerdict | None, counts_expected: bool) -> Kind:
    """Return what became of a claim: as of a verdict; and a new claim that fails is worse than none."""
    if old is None or new is None:
        if new is not None and new.rank == reported_claims.BAD and new.as_expected is not True:
            return "regression"
        return "new" if old is None else "missing"
    if old.as_expected is not None and new.as_expected is not None and old.as_expected != new.as_expected:
        return "improvement" if new.as_expected else "regression"
    if old.rank != new.rank:
        return "regression" if new.rank > old.rank else "improvement"
    ranks = [{True: 0, None: int(counts_expected), False: 2}[each.as_expected] for each in (old, new)]
    return "same" if ranks[0] == ranks[1] else "regression" if ranks[1] > ranks[0] else "improvement"


def read_report(path: str, text: str) -> Report:
    """Return the report in `text`: the JSON of `report`, `check`, `verify`, `prove`, `messages check` or `contracts check`.

    `path` is for messages. Raises UsageError.
    """
    try:
        document = json.loads(text)
        if document["format"] not in FORMATS or document["version"] != 1:
            raise UsageError(
                f"{path}: a report of format {document['format']!r}, version {document['version']!r}, is not known"
            )
        programs = _programs(document)
        counts = document.get("options", {}).get("expect") is True
        version = str(document["tool"]["version"])
        report = Report(path, programs, document["interrupted"], version, document["format"], counts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = "its members are others"
        if isinstance(error, (json.JSONDecodeError, RecursionError)):
            where = f", line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            what = f"{json_mistake(error)}{where}"
        raise UsageError(f"{path}: not a JSON report that can be compared ({what})") from error
    if not isinstance(report.interrupted, bool) or not all(isinstance(file, str) for file in programs):
        raise UsageError(f"{path}: not a JSON report that can be compared")
    return report


def _programs(document: Mapping[str, Any]) -> dict[str, ReportedProgram]:
    command = document["format"].removeprefix("rdma-robust/")
    if command not in _CHECKS:
        return _merged((each, _OF_RESULT[command](each)) for each in document["results"])
    hashes = {each["file"]: each["sha256"] for each in document.get("sources", ())}
    results = document["results"]
    claims = [*document.get("claims", ()), *[None] * len(results)]
    programs = {each["file"]: _known(each, hashes, answers) for each, answers in zip(results, claims, strict=False)}
    others = [(each, reported_claims.of_messages(each)) for each in document.get("messages", ())]
    others += [(each, reported_claims.of_contracts(each)) for each in document.get("contracts", ())]
    return programs | _merged(iter(others))


def _known(result: Mapping[str, Any], hashes: Mapping[str, str | None], claims: Mapping[str, Any] | None) -> ReportedProgram:
    if result["verdict"] not in get_args(VerdictWord) or result["as_expected"] not in (True, False, None):
        raise ValueError("an unknown verdict")
    seen, answers = reported_claims.of_check(result), reported_claims.of_findings(claims)
    return ReportedProgram(
        result["verdict"], result["as_expected"], str(result["reason"]), hashes.get(result["file"]), seen, answers
    )


def _merged(results: Iterator[tuple[Mapping[str, Any], Answers]]) -> dict[str, ReportedProgram]:
    """Return what is known of files that several results may be about: buffers of one program, processes and contracts."""
    programs: dict[str, ReportedProgram] = {}
    for result, found in results:
        verdict = ANSWERED if found.claims or found.groups else "unknown" if result["error_kind"] is None else "error"
        verdict = ANSWERED if verdict == "unknown" and not result["reason"] else verdict
        known = ReportedProgram(verdict, None, str(result["reason"]), None, answers=found)
        before = programs.get(result["file"])
        if before is not None and before.answers is not None:
            worst = max(before, known, key=lambda each: RANK[each.verdict])
            both = Answers({**before.answers.claims, **found.claims}, {**before.answers.groups, **found.groups})
            known = replace(worst, answers=both)
        programs[result["file"]] = known
    return programs
