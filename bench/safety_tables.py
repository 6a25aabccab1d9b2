"""The tables of docs/prove-results.md: our proofs and fewest waits beside the numbers that the two papers print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from bench.records import Certified, Placement, Proof, load

MODELS: Final = ("sc", "tso", "pso", "rma", "rdma")


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of table 3 of the VMCAI paper and of the tables of the SAS paper, as far as they have it.

    `rma` is: predicates for sc and with those extrapolated, seconds for the boolean program and for the checker, flushes
    needed and at first. `sas` is: predicates for sc, pso and tso; cubes for pso and tso; seconds (program + check) for pso
    and tso.
    """

    name: str
    ours: str | None
    rma: tuple[str, str, str, str] | None = None
    sas: tuple[str, str, str, str] | None = None


PRINTED: Final = (
    Printed("Dekker", "dekker", ("11 to 29", "1", "876", "4/12"), ("7/20/18", "0/0", "6+5", "5+3")),
    Printed("Peterson", "peterson", ("10 to 21", "1", "4", "4/7"), ("7/20/18", "2/2", "3+3", "3+2")),
    Printed("ABP", "abp", ("16 to 20", "1", "1", "1/2"), ("8/15/17", "5/5", "4+1", "5+1")),
    Printed("Pc1", None, ("18 to 35", "2", "126", "2/7")),
    Printed("Pgsql", "pgsql", ("12 to 18", "1", "1", "2/4")),
    Printed("Qw", "qw", ("13 to 29", "2", "1345", "4/5")),
    Printed("Sober", "sober", ("23 to 48", "8", "10", "0/9")),
    Printed("Kessel", "kessels", ("18 to 36", "3", "16", "5/10")),
    Printed("Loop2_TLM", None, ("29 to 43", "165", "3960", "4/4")),
    Printed("Szymanski", "szymanski", ("34 to 64", "228", "316", "7/14"), ("20/35/37", "1/1", "33+4", "35+5")),
    Printed("Queue", "queue", ("13 to 22", "24", "13", "1/2"), ("7/15/16", "99/99", "17+2", "31+2")),
    Printed("Ticket", "ticket", ("17 to 43", "114", "4320", "5/6"), ("11/36/48", "622/622", "2163+40", "1518+545")),
    Printed("Bakery", "bakery", ("19 to 41", "330", "288", "6/10"), ("15/38/36", "422/422", "1773+104", "1386+121")),
    Printed("RMA Lock", "mcs", ("24 to 60", "50", "65679", "9/18")),
)
"""The tables that both papers print. `ours` is how the files of our program begin, None where the source is not public."""


def rma_paper() -> Iterator[str]:
    """The rows of table 3 of the VMCAI paper, with ours under rma."""
    proofs, placements = load("proofs", Proof), load("placements", Placement)
    yield from _head(
        "algorithm", "predicates", "program", "check", "flushes", "ours", "engine", "states", "time", "fewest flushes"
    )
    for row in PRINTED:
        if row.rma is not None:
            predicates, build, check, flushes = row.rma
            yield _row(
                row.name, predicates, f"{build} s", f"{int(check):,} s", flushes, *_ours(row, "rma", proofs, placements)
            )


def sas_paper() -> Iterator[str]:
    """The rows of the tables of the SAS paper, with ours under tso and pso."""
    proofs, placements = load("proofs", Proof), load("placements", Placement)
    heads = (
        "algorithm",
        "predicates sc/pso/tso",
        "cubes pso/tso",
        "model",
        "program + check",
        "ours",
        "engine",
        "states",
        "time",
    )
    yield from _head(*heads, "fewest fences")
    for row in PRINTED:
        if row.sas is not None:
            predicates, cubes, pso, tso = row.sas
            first = (row.name, predicates, cubes)
            for model, times in (("tso", tso), ("pso", pso)):
                yield _row(*first, model, f"{times.replace('+', ' + ')} s", *_ours(row, model, proofs, placements))
                first = ("", "", "")


def _ours(row: Printed, model: str, proofs: Sequence[Proof], placements: Sequence[Placement]) -> tuple[str, ...]:
    """Return which of our programs is safe with the fewest waits, what gave the answer, and how few waits are enough."""
    if row.ours is None:
        return "source not public", "", "", "", ""
    mine = [
        each for each in proofs if _algorithm(each.program) == row.ours and each.model == model and each.verdict == "safe"
    ]
    if not mine:
        return "-", "", "", "", ""
    best = min(mine, key=lambda each: (_rank(each.program, model), each.seconds))
    placed = [each for each in placements if _algorithm(each.program) == row.ours and each.model == model]
    return best.program, best.engine, f"{best.states:,}", f"{best.seconds:.2f} s", ", ".join(map(fewest, placed)) or "-"


def _algorithm(program: str) -> str:
    return program.partition("-")[0]


def _rank(program: str, model: str) -> int:
    """Programs without waits first, then those with as few as the model needs, then those with more."""
    words = ("plain", f"{model}-fewest", "fewest", "fenced", "flushed")
    return next((number for number, word in enumerate(words) if word in program), len(words))


def fewest(each: Placement) -> str:
    """Return how few waits are enough, as in the papers: 2/6; with `?` if that is not proven."""
    found = "-" if each.fewest is None else str(each.fewest)
    return f"{found}/{each.candidates}{'' if each.optimal else '?'}"


def proofs() -> Iterator[str]:
    """Every program of the suite under every model that it claims something about."""
    yield from _head("program", *MODELS)
    rows: dict[str, dict[str, Proof]] = {}
    for each in load("proofs", Proof):
        rows.setdefault(each.program, {})[each.model] = each
    for program, found in rows.items():
        yield _row(program, *(_cell(found.get(model)) for model in MODELS))


def _cell(each: Proof | None) -> str:
    return "" if each is None else f"{each.verdict} {each.engine} {each.states:,} {each.seconds:.2f} s"


def placements() -> Iterator[str]:
    """The fewest waits of every program without any."""
    yield from _head("program", "model", "fewest/candidates", "programs decided", "time")
    for each in load("placements", Placement):
        yield _row(each.program, each.model, fewest(each), str(each.decided), f"{each.seconds:.2f} s")


def certificates() -> Iterator[str]:
    """What certificates cost, by engine: their sizes, and the time to check them beside that of the proof."""
    yield from _head("engine", "answers", "bytes, median", "proofs", "making", "checking", "checking / proofs")
    groups: dict[str, list[Certified]] = {}
    for each in load("certificates", Certified):
        groups.setdefault(f"{each.verdict} {each.engine}".strip(), []).append(each)
    for name, rows in groups.items():
        prove_s, make_s, check_s = (
            sum(times) for times in zip(*((r.prove_s, r.make_s, r.check_s) for r in rows), strict=True)
        )
        size = f"{median(row.size for row in rows):,.0f}"
        times = (f"{prove_s:.2f} s", f"{make_s:.2f} s", f"{check_s:.2f} s", f"{check_s / max(prove_s, 1e-9):.1f}")
        yield _row(name, str(len(rows)), size, *times)


def _head(*columns: str) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---' for _ in columns)}|"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


TABLES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "rma-paper": rma_paper,
    "sas-paper": sas_paper,
    "proofs": proofs,
    "placements": placements,
    "certificates": certificates,
}
"""By their names in docs/prove-results.md; the last three by those of the files in bench/data."""
