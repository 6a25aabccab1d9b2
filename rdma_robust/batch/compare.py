"""Changes between two JSON reports: verdicts, and the answers for all that they count.

What the JSON reports say of each claim, in one form for every tool: a name, an answer in a word, and how bad that is.

What is not listed has the answer of its group: a report says nothing by itself of an assertion that no run fails. Raises
KeyError, TypeError, ValueError or AttributeError for what is no such report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from rdma_robust.errors import UsageError
from rdma_robust.reports.batch.compare_report import (
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

Json = Mapping[str, Any]

GOOD, NOTHING, OPEN, BAD = range(4)
"""From good to bad: it holds; it holds and is about nothing; nobody knows; it is seen to fail."""

RANKS: Final = {
    **dict.fromkeys(("holds", "hold", "no", "met", "safe", "verified"), GOOD),
    **dict.fromkeys(("unknown", "refused"), OPEN),
    **dict.fromkeys(("violated", "reachable", "yes", "failed", "unsafe"), BAD),
    "unreachable": NOTHING,
}
_CLAIMED: Final = {
    "assertions": {"holds": True, "violated": True},
    "deadlock": {"no deadlock": True, "deadlock": True},
    "race": {"no race": True, "race": True},
}
"""The claims of `expect` lines of message programs that are about each thing that is found."""


def of_check(result: Json) -> Answers:
    """Return what a check has come by on its way: faults, and hangs."""
    met = {True: ClaimVerdict("", "reachable", BAD), False: ClaimVerdict("", "possible", GOOD)}
    found: dict[Key, ClaimVerdict] = {}
    for fault, number in _numbered(result.get("faults", ()), ("kind", "message")):
        answer = met[fault.get("met", result.get("faults_exact") is True)]
        key = ("fault", str(fault["kind"]), str(fault["message"]), str(number))
        found[key] = answer.named(f"{fault['kind']} line {fault['line']:d}")
    if result.get("hangs"):
        found["hang", ""] = ClaimVerdict("hang", "seen", BAD)
    return Answers(found, {each: ClaimVerdict(each, "not seen", GOOD) for each in ("fault", "hang")})


def of_findings(claims: Json | None) -> Answers | None:
    """Return the answers for the claims of a program in a `report`, None where they were not asked for."""
    return None if claims is None else of_claims(claims["findings"], str(claims["reason"]))


def of_claims(claims: Iterable[Json], cut: str = "") -> Answers:
    """Return the answers for claims, as `verify` and `report` have them; `cut` says why some are missing, if so."""
    found: dict[Key, ClaimVerdict] = {}
    for claim, number in _numbered(claims, ("kind", "text", "model")):
        line, kind, model, status = claim["line"], str(claim["kind"]), claim["model"], claim["status"]
        name = str(claim["text"]) if line is None else f"{kind} line {line:d}{'' if model == 'rdma' else f' under {model}'}"
        meant = status == "violated" and (claim.get("expected") is True or claim.get("exit_code") == 0)
        rank = GOOD if meant or (kind == "target" and status == "unreachable") else RANKS[status]
        key = ("claim", kind, str(claim["text"]), str(model), str(number))
        found[key] = ClaimVerdict(name, "violated as expected" if meant else str(status), rank)
    named = Counter(each.name for each in found.values())
    found = {key: each.named(f"{each.name}: {key[2]}") if named[each.name] > 1 else each for key, each in found.items()}
    return Answers(found, {"claim": ClaimVerdict("claims", "unknown", OPEN)} if cut else {})


def of_proofs(result: Json) -> Answers:
    """Return the answers of `prove` for a program, one for each model, and for each outcome that is allowed."""
    found: dict[Key, ClaimVerdict] = {}
    for each in result["models"]:
        model, verdict = str(each["model"]), each["verdict"]
        found["safe", model] = ClaimVerdict(f"safe under {model}", str(verdict), RANKS[verdict], _maybe(each["as_expected"]))
        for view, number in _numbered(
            (one["claim"] | {"of": one["possible"]} for one in each["possible"]), ("kind", "text")
        ):
            word = {True: "holds", False: "violated", None: "unknown"}[view["of"]]
            key = ("possible", model, str(view["kind"]), str(view["text"]), str(number))
            found[key] = ClaimVerdict(f"{view['kind']} line {view['line']} allowed under {model}", word, RANKS[word])
    return Answers(found, {})


def of_messages(result: Json) -> Answers:
    """Return what was found of a message program under one buffer semantics."""
    if result["buffer"] is None:
        return Answers({}, {})
    buffer = str(result["buffer"])
    claims = [(str(each["text"]), each) for each in result["claims"]]
    met = {thing: _all_met(each["status"] for text, each in claims if text in texts) for thing, texts in _CLAIMED.items()}
    under = f" under {buffer}"
    found: dict[Key, ClaimVerdict] = {}
    group = f"assertions{under}"
    for each, number in _numbered(result["violations"], ("kind", "text")):
        kind = "assertion" if each["kind"] == "assert" else str(each["kind"])
        place = "" if each["line"] is None else f" line {each['line']:d}"
        key = (group, kind, str(each["text"]), str(number))
        found[key] = ClaimVerdict(f"{kind}{place}{under}", "violated", BAD, met["assertions"])
    for receive, number in _numbered((each["receive"] for each in result["races"]), ("process", "nth")):
        name = f"race of receive {receive['nth']:d} of {receive['process']}{under}"
        found[f"race{under}", str(receive["process"]), str(receive["nth"]), str(number)] = ClaimVerdict(
            name, "yes", BAD, met["race"]
        )
    for each, number in _numbered(result["mismatches"], ("calls",)):
        found[f"order{under}", str(each["calls"]), str(number)] = ClaimVerdict(
            f"order of calls line {each['line']}{under}", "differs", BAD
        )
    for thing, expected in (("deadlock", met["deadlock"]), ("leak", None)):
        answer = result[thing]["answer"]
        found[thing, buffer] = ClaimVerdict(f"{thing}{under}", str(answer), RANKS[answer], expected)
    known = {text for texts in _CLAIMED.values() for text in texts}
    for text, each in claims:
        if text not in known:
            found["expected", buffer, text] = ClaimVerdict(
                f"`{text}` line {each['line']:d}{under}", str(each["status"]), RANKS[each["status"]]
            )
    rank = min(RANKS[result["asserts"]], OPEN) if result["asserts"] != "violated" else GOOD
    none = {GOOD: "holds", OPEN: "unknown"}
    no_race = GOOD if result["pairs_exact"] else OPEN
    return Answers(
        found,
        {
            group: ClaimVerdict(group, none[rank], rank, met["assertions"]),
            f"race{under}": ClaimVerdict(f"race{under}", "no" if no_race == GOOD else "unknown", no_race, met["race"]),
            f"order{under}": ClaimVerdict(f"order of calls{under}", "same", GOOD),
        },
    )


def of_contracts(result: Json) -> Answers:
    """Return the answers for the functions of a file: for each number of processes whether it is verified, and against
    which class of errors it is not."""
    found: dict[Key, ClaimVerdict] = {}
    groups: dict[str, ClaimVerdict] = {}
    under = "" if result["buffer"] in (None, "infinite") else f" under {result['buffer']}"
    for function in result["functions"]:
        name = str(function["name"])
        met = _all_met(each["status"] for each in result["claims"] if each["function"] == name)
        for each in function["n"]:
            group = f"contract {name}, n = {each['n']:d}{under}"
            verdict = str(each["verdict"]).lower()
            open_ = RANKS[verdict] == OPEN
            groups[group] = ClaimVerdict(
                group, verdict if verdict != "violated" else "not seen", OPEN if open_ else GOOD, met
            )
            if verdict == "violated":
                found[group, str(each["class"])] = ClaimVerdict(group, f"violated {each['class']}", BAD, met)
        if function["every_n"] is not None:
            verdict = str(function["every_n"]["verdict"]).lower()
            found["every", name] = ClaimVerdict(f"contract {name}, every n{under}", verdict, RANKS[verdict], met)
    return Answers(found, groups)


def _numbered(each: Iterable[Json], members: Sequence[str]) -> Iterator[tuple[Json, int]]:
    """Yield each object with how many before it are alike in these members: lines are no names, since edits move them."""
    seen: Counter[str] = Counter()
    for one in each:
        alike = repr([one[member] for member in members])
        yield one, seen[alike]
        seen[alike] += 1


def _all_met(status: Iterable[str]) -> bool | None:
    """Return whether claims are met, None if there are none, or if some are open and none fails."""
    found = {RANKS[each] for each in status}
    return False if BAD in found else None if not found or OPEN in found else True


def _maybe(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise ValueError("neither true nor false nor null")


ANSWERED: Final = "answered"
"""What stands for a verdict where only claims are answered."""

RANK: Final[Mapping[str, int]] = {
    verdict: rank for rank, verdict in enumerate(("robust", ANSWERED, "not-robust", "unknown", "error"))
}
"""From good to bad, as the exit codes are weighed."""

_OF_RESULT: Final[Mapping[str, Callable[[Mapping[str, Any]], Answers]]] = {
    "verify": lambda result: of_claims(result["claims"]),
    "prove": of_proofs,
    "messages-check": of_messages,
    "contracts-check": of_contracts,
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
        if new is not None and new.rank == BAD and new.as_expected is not True:
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
    others = [(each, of_messages(each)) for each in document.get("messages", ())]
    others += [(each, of_contracts(each)) for each in document.get("contracts", ())]
    return programs | _merged(iter(others))


def _known(result: Mapping[str, Any], hashes: Mapping[str, str | None], claims: Mapping[str, Any] | None) -> ReportedProgram:
    if result["verdict"] not in get_args(VerdictWord) or result["as_expected"] not in (True, False, None):
        raise ValueError("an unknown verdict")
    seen, answers = of_check(result), of_findings(claims)
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
