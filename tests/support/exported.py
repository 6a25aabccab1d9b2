"""Programs of `.rdma`, and what they are again as C that was written from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rdma_robust import check
from rdma_robust.c.export.verbs_c import verbs_c
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.support.random_deployed import model_of

Finals = set[tuple[frozenset[tuple[str, int]], bool, bool]]


def names_in_c(program: Program) -> dict[str, str]:
    """Return the words of a program by what they are called in the C: `A.A_x` for `A.x`."""
    words: dict[str, str] = {}
    for cell in program.cells:
        if not cell.hidden:
            place = cell.node + "_relaxed" * cell.relaxed
            plain = cell.name.replace("[", "_").rstrip("]")
            alone = [other for other in program.cells if other.node == cell.node and other.relaxed == cell.relaxed]
            sole = len([other for other in alone if not other.hidden]) == 1
            words[f"{cell.node}.{place}" if sole else f"{cell.node}.{place}_{plain}"] = str(cell)
    return words


def finals(program: Program, names: dict[str, str]) -> Finals | None:
    """Return the final values of words, by new names, and the models that reach them; None if the search was cut short."""
    found = explore_outcomes(program, model_of(program), timeout=20)
    at = {names[name]: index for index, name in enumerate(found.names) if name in names}
    merged: dict[frozenset[tuple[str, int]], tuple[bool, bool]] = {}
    for state in found.states:
        key = frozenset((name, state.values[index]) for name, index in at.items())
        sc, rdma = merged.get(key, (False, False))
        merged[key] = (sc or state.sc, rdma or state.rdma)
    return {(key, *reached) for key, reached in merged.items()} if found.complete else None


def round_trips(programs: Iterable[tuple[str, str]], *, states: bool = True, timeout: float = 20) -> Counter[str]:
    """Write programs, by name, as C, read that, and compare; return how many had which verdict, or were refused and why."""
    seen: Counter[str] = Counter()
    for name, text in programs:
        program = load_decidable(text, name)
        try:
            back = load_decidable(verbs_c(text, name), "exported.c")
        except ProgramError as error:
            codes = {each.code for each in error.diagnostics if each.severity == "error"}
            # RR818: everybody waits for what never comes, so there is nothing to decide
            assert codes <= {"RR850", "RR813", "RR817", "RR818", "RR820"}, (name, error)
            seen[f"refused {min(codes)}"] += 1
            continue
        verdicts = [check(each, timeout=timeout).verdict for each in (program, back)]
        seen[verdicts[0].name] += 1
        if Verdict.UNKNOWN in verdicts:
            continue
        assert verdicts[0] is verdicts[1], f"{name}\n{text}\n{verbs_c(text, name)}"
        if states:
            seen["final states"] += _same_states(program, back, text)
    return seen


def _same_states(program: Program, back: Program, text: str) -> bool:
    """Compare final states, of the words that both have; return whether both searches came to an end."""
    in_c = names_in_c(program)
    kept = {str(cell) for cell in back.cells}
    shared = {name: word for name, word in in_c.items() if name in kept}
    wanted = finals(program, {word: word for word in shared.values()})
    found = finals(back, shared)
    if wanted is None or found is None:
        return False
    assert wanted == found, text
    return True
