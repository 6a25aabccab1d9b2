"""What the tests pin of every program of litmus/messages; `python -m tests.litmus.message_goldens` rewrites the files
(make promote).

A golden never holds an expectation: those are the `expect` lines. It holds which asserts are violated and which faults are
met, whether some run leaks, which processes call library procedures in different orders, how many pairs are feasible, what
races change, how many states the engine `states` had to look at, and the warnings.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Final

from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
from rdma_robust.messages.races.race_effects import race_effects
from sitegen.messages_index import FAMILIES, MESSAGES, family_programs

EXPECTED: Final = MESSAGES / "expected"
ALL: Final = MessageQuestions(count=True)
RACED: Final[tuple[Buffer, ...]] = ("zero", "infinite")
"""The buffers for which it is pinned what races change; `any` has the races of `infinite`."""


@functools.cache
def load(path: Path) -> MessageProgram:
    return load_messages(path.read_text(encoding="utf-8"), path.name)


def facts(answer: BufferAnswer) -> dict[str, Any]:
    """Return what any engine has to find out about a program under one buffer semantics, besides what can be expected."""
    violations = sorted({(v.span.line, v.kind) for v in answer.violations})
    found: dict[str, Any] = {"violations": [f"line {line}: {kind}" for line, kind in violations], "leak": answer.leaking}
    if answer.mismatches:
        found["mismatches"] = ["; ".join(sorted(each.calls)) for each in answer.mismatches]
    return found | {"pairs": len(answer.pairs or ()), "races": len(answer.races)}


def measured(path: Path) -> dict[str, Any]:
    """Return the golden of a program."""
    program = load(path)
    answers = [by_states(program, buffer, ALL, Limits()) for buffer in program.buffers]
    found = {each.buffer: facts(each) | {"states": each.work["states"]} for each in answers}
    for buffer in RACED:
        found[buffer] |= effects(program, buffer)
    return {"warnings": warnings(program)} | found if program.warnings else found


def effects(program: MessageProgram, buffer: Buffer) -> dict[str, Any]:
    """Return what choices between messages change, for each place of the text; nothing where there are none."""
    found = race_effects(program, buffer, Limits())
    places = [f"line {each.span.line}: {each.effect}" for each in found.effects]
    return {"effects": found.reason or places} if found.reason or places else {}


def warnings(program: MessageProgram) -> list[str]:
    return [f"{each.code}, line {each.span.line}" for each in program.warnings]


def read_golden(path: Path) -> dict[str, Any]:
    text = (EXPECTED / f"{path.parent.name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)[path.stem]
    return found


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    for old in EXPECTED.glob("*.json"):
        if old.stem not in FAMILIES:
            old.unlink()
    for family in FAMILIES:
        content = {path.stem: measured(path) for path in family_programs(family)}
        (EXPECTED / f"{family}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
