"""What the JSON reports say of each claim, in one form for every tool: a name, an answer in a word, and how bad that is.

What is not listed has the answer of its group: a report says nothing by itself of an assertion that no run fails. Raises
KeyError, TypeError, ValueError or AttributeError for what is no such report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rdma_robust.reports.batch.compare_view import Answers, ClaimVerdict, Key

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
