"""Answers in the page are the native ones: its own worker, in Node, beside the package in the Python of the tests.

Both are asked what the tabs ask. Natively kernels are left out, as by `--kernel python`, which not all commands have, and
z3: tests/kernels compares kernels, and the tabs say what is unknown without z3.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rdma_robust.frame.exits import Exit
from sitegen.playground import bundle
from tests.conftest import ROOT
from tests.support.playground_page import Lines, answering, make, worker

LACKING: Final = bundle.missing()
pytestmark = pytest.mark.skipif(
    bool(LACKING), reason=f"{' and '.join(LACKING)} is not installed: answers in the page were not compared with native ones"
)

SUITE: Final = ROOT / "litmus"
NATIVE_S: Final = 20
PAGE_S: Final = 30 * NATIVE_S
"""Enough for what is decided natively, on a busy machine too."""

SAMPLE: Final = {
    "check": (
        "mailbox-plain.rdma",
        "ring-loop-credit.rdma",
        "crowds/accelerator-told-flushed.rdma",
        "deployed/acknowledged-cpu.rdma",
        "lanes/buffer-reused-after-a-shared-poll.rdma",
        "memories/completed-with-immediate-then-flush.rdma",
        "own-tables/flag-behind-data-gap.rdma",
        "rnr/exchange.rdma",
    ),
    "verify": ("lifetimes/join-circle.rdma", "peterson-server.rdma"),
    "prove": ("prove/abp-broken.rdma",),
    "messages check": ("messages/collectives/send-in-between.mp",),
    "contracts check": ("contracts/bcast.mp",),
}
FOLDERS: Final = {"prove": "prove", "messages check": "messages", "contracts check": "contracts"}
"""The shelf of a command; those that are not here are asked about all others."""

ANSWERS: Final = (Exit.OK, Exit.NOT_ROBUST, Exit.INVALID, Exit.UNKNOWN)
"""A refusal is an answer, too."""

VARIES: Final = frozenset({"time_s", "timeout", "memory"})
"""What the machine and the limits decide."""
SHARED: Final = frozenset({"states", "transitions", "counts", "work", "engine", "reduction", "bound", "facts", "facts_of"})
"""What shares of the time decide, if an answer takes long: how much was searched, and in which way something was found."""
SHARE_S: Final = NATIVE_S / 20

_KERNELS: Final = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("rdma_robust/**/*.pyx")]
_LEFT_OUT: Final = ("z3", *_KERNELS)
_NATIVE: Final = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))  # cannot be imported, as if they were not there
from rdma_robust.cli.page_worker import ask
for line in sys.stdin:
    print(ask(line), flush=True)
"""


def programs(command: str) -> list[Path]:
    """Return the programs of the suite that a command is asked about."""
    if folder := FOLDERS.get(command):
        return sorted(each for each in SUITE.glob(f"{folder}/**/*") if each.suffix in (".rdma", ".mp"))
    return sorted(each for each in SUITE.glob("**/*.rdma") if shelf(each) not in FOLDERS.values())


def shelf(path: Path) -> str:
    return path.relative_to(SUITE).parts[0] if path.parent != SUITE else path.name.partition("-")[0]


SHELVES: Final = sorted({(command, shelf(path)) for command in SAMPLE for path in programs(command)})


@dataclass(frozen=True)
class Sides:
    """The two that are asked."""

    native: Lines
    page: Lines

    def answers(self, command: str, path: Path) -> tuple[Any, Any] | None:
        """Return both answers, or None if natively there is none in time."""
        begun = time.monotonic()
        native = self.native.ask(request(command, path, NATIVE_S))
        assert native["exit"] in ANSWERS, native
        took = time.monotonic() - begun
        if native["exit"] == Exit.UNKNOWN or took > NATIVE_S:
            return None
        given = [json.dumps(request(command, path, PAGE_S))]
        page = self.page.ask({"id": 1, "call": "ask", "given": given})["answer"]
        assert json.loads(native["out"])["tool"]["kernel"] == "python"
        varies = VARIES | SHARED if took > SHARE_S else VARIES
        return without_cut_notes(compared(native, varies), compared(page, varies))


def request(command: str, path: Path, seconds: int) -> dict[str, Any]:
    files = {each.name: each.read_text(encoding="utf-8") for each in (path, *path.parent.glob("*.toml"))}
    arguments = [*command.split(), "--format", "json", "--timeout", str(seconds), path.name]
    return {"arguments": arguments, "files": files, "read": []}


def compared(answer: Any, varies: frozenset[str]) -> Any:
    """Return what is compared of an answer: all but what varies."""
    return {"exit": answer["exit"], "err": answer["err"], "out": without(json.loads(answer["out"] or "null"), varies)}


def without_cut_notes(native: Any, page: Any) -> tuple[Any, Any]:
    """Return both answers without what a side had no time for, what matters in a program and the last facts of proofs; and
    without the engine of message programs that the page does not have."""
    for pair in zip((native["out"] or {}).get("results", ()), (page["out"] or {}).get("results", ()), strict=False):
        if any(each.get("matters", {}).get("skipped") for each in pair):
            for each in pair:
                each.pop("matters", None)
        if [each.get("engine") for each in pair] == ["sat", "states"]:  # a browser has no python-sat: answers are the same
            for each in pair:
                for name in ("engine", "work"):
                    each.pop(name, None)
        for models in zip(*(each.get("models", ()) for each in pair), strict=False):
            verdicts = [each["verdict"] for each in models]
            is_other = verdicts == ["unsafe", "unsafe"] and models[0]["claim"] != models[1]["claim"]
            if is_other or verdicts[0] == "unknown":  # searches have shares of the time, also for which violation is found
                for each in models:
                    each.clear()
            told = min(len(each.get("facts", ())) for each in models)
            for each in models:
                each["facts"] = each.get("facts", [])[:told]
                if not told:
                    each.pop("facts_of", None)
    return native, page


def without(value: Any, names: frozenset[str]) -> Any:
    """Return a JSON value without the members of some names."""
    if isinstance(value, list):
        return [without(each, names) for each in value]
    return (
        {name: without(each, names) for name, each in value.items() if name not in names}
        if isinstance(value, dict)
        else value
    )


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("page")
    try:
        page = make(folder / "page")
    except bundle.NotMadeError as error:
        pytest.skip(f"answers in the page were not compared with native ones: {error}")
    python = json.loads((page / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]["python"]
    assert python.startswith("3.14."), "docs/playground.md and docs/assurance.md say 3.14"
    with ExitStack() as opened:
        native = opened.enter_context(answering([sys.executable, "-c", _NATIVE, *_LEFT_OUT], ROOT))
        yield Sides(native, opened.enter_context(worker(page)))


def differences(sides: Sides, command: str, paths: Sequence[Path]) -> tuple[list[str], int]:
    """Return where the answers differ, and how many programs have answers."""
    differing, decided = [], 0
    for path in paths:
        if pair := sides.answers(command, path):
            decided += 1
            if pair[0] != pair[1]:
                differing.append(f"{command} {path}: {first_difference(*pair)}")
    return differing, decided


def first_difference(native: Any, page: Any) -> str:
    """Return where two different values begin to differ."""
    if isinstance(native, dict) and isinstance(page, dict) and native.keys() == page.keys():
        return next(f"{name} {first_difference(native[name], page[name])}" for name in native if native[name] != page[name])
    if isinstance(native, list) and isinstance(page, list) and len(native) == len(page):
        at = next(at for at, value in enumerate(native) if value != page[at])
        return f"{at} {first_difference(native[at], page[at])}"
    return f"is {native!r} natively and {page!r} in the page"


@pytest.mark.ci
@pytest.mark.parametrize("command", SAMPLE)
def test_some_answers_are_the_native_ones(sides: Sides, command: str) -> None:
    assert differences(sides, command, [SUITE / name for name in SAMPLE[command]]) == ([], len(SAMPLE[command]))


@pytest.mark.long
@pytest.mark.parametrize(("command", "name"), SHELVES)
def test_all_answers_are_the_native_ones(sides: Sides, command: str, name: str) -> None:
    paths = [path for path in programs(command) if shelf(path) == name]
    differing, decided = differences(sides, command, paths)
    print(f"{command}, {name}: {len(paths)} programs, {decided} decided natively, {decided - len(differing)} equal")
    assert differing == [] and decided
