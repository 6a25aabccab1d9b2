"""Public suites of right and wrong MPI programs: `python -m bench.mpi_suites SUITE FOLDER [PATTERN...]`.

FOLDER is a checkout of the suite (none is part of this project), or for the MPI Bugs Initiative what its generators write;
with patterns only files whose path has one of them. Each test is asked as a user would: `messages check FILE -n N`. Where
the suite runs a program with different arguments, all of them are asked. A finding that is no note says that a program is
wrong. Printed are the tests that are not answered as they are labelled, then counts, coverage, F1, and how many wrong
programs have a finding of a class that `docs/c-mpi.md` gives for their label.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.rmaracebench import label_of
from rdma_robust.cli.app import run
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import MessageQuestions

_HEADER: Final = re.compile(r"\$ mpirun -np (\d+) (?:\$(\w+)_buffer )?\$\{EXE\}(.*)\n\s*\| (OK|ERROR:? (\w+))")
_BUFFERS: Final = {"": "any", "zero": "zero", "infty": "infinite"}
_PAGE: Final = Path(__file__).parent.parent / "docs" / "c-mpi.md"


@dataclass(frozen=True, slots=True)
class LabelledTest:
    """A test of a suite: a file, how many processes run it, options, and its label, "" for a right one."""

    file: Path
    processes: int
    label: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said of a test: `wrong`, `right`, `open` or `refused`, the classes of its findings, and the first text."""

    word: str
    classes: frozenset[str]
    said: str = ""


def _with_header(path: Path) -> Iterator[LabelledTest]:
    """Yield the tests that the header of a file has."""
    found = _HEADER.findall(path.read_text(encoding="utf-8", errors="replace"))
    given = [int(each) for _, _, each, _, _ in found if each.strip()]
    inputs = ("--arg", f"{min(given)}..{max(given)}") if given else ()
    for processes, buffer, _, _, label in found:
        asked = "any" if label == "BufferingHazard" else _BUFFERS[buffer]  # which is there whatever runs have
        yield LabelledTest(path, int(processes), label, (*inputs, "--buffer", asked))


def _not_held_back(path: Path) -> Iterator[LabelledTest]:
    """Yield the tests of a file of the MPI Bugs Initiative, if it is not of the third that is kept for later."""
    if int(hashlib.sha256(path.name.encode()).hexdigest(), 16) % 3:
        yield from _with_header(path)


def _by_folder(path: Path) -> Iterator[LabelledTest]:
    """Yield a file of MPI-CorrBench, whose right programs, MPICH's, have a folder of their own, if it has no OpenMP."""
    if "openmp" not in path.parts:
        include = next(each for each in path.parents if each.name == "0-level") / "correct" / "include"
        label = "" if "correct" in path.parts else path.stem.partition("-")[0]
        yield LabelledTest(path, 2, label, ("-I", str(include), "--buffer", "any"))


def _by_name(path: Path) -> Iterator[LabelledTest]:
    """Yield a file of RMARaceBench, whose label says whether it races, if it has no OpenMP."""
    if "hybrid" not in path.parts:
        label = label_of(path)
        yield LabelledTest(path, label.processes, "race" if label.races else "", ("--buffer", "any"))


SUITES: Final[Mapping[str, Callable[[Path], Iterator[LabelledTest]]]] = {
    "mbi": _not_held_back,
    "bugbench": _with_header,
    "corrbench": _by_folder,
    "rmaracebench": _by_name,
}


def classes_of_labels() -> dict[str, frozenset[str]]:
    """Return the table of the page: the classes that each label stands for."""
    rows = re.findall(r"^\| ((?:\w+, )*\w+) \| (.*`.*) \|$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {label: frozenset(re.findall(r"`([a-z-]+)`", row)) for labels, row in rows for label in labels.split(", ")}


def load() -> None:
    """Load what every test needs, which the processes of the tests have then."""
    text = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n/* rdma-robust: options -n 2 */\n"
    answered(load_messages(text, "first.c"), "any", MessageQuestions(), Limits.of(10), "auto")


def replied(test: LabelledTest, seconds: float) -> Reply:
    """Ask about a test, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "answer.json"), Path(folder, "errors")
        child = os.fork()
        if not child:
            os.dup2(os.open(errors, os.O_CREAT | os.O_WRONLY), 2)
            signal.alarm(int(3 * seconds) + 1)
            asked = ["messages", "check", str(test.file), "-n", str(test.processes), *test.options]
            asked += ["--timeout", str(seconds), "--format", "json", "-o", str(output), "--no-explain", "-j", "1"]
            os._exit(run(asked))
        os.waitpid(child, 0)
        said = errors.read_text(encoding="utf-8", errors="replace").splitlines()
        if not output.exists():
            return Reply("open", frozenset(), " ".join(said[:1]))
        return _reply_of(json.loads(output.read_text(encoding="utf-8"))["results"])


def _reply_of(results: Sequence[Mapping[str, object]]) -> Reply:
    found = [each for result in results for each in result["findings"]]  # type: ignore[attr-defined]
    classes = frozenset(each["class"] for each in found)
    wrong = [each for each in found if each["severity"] == "error"]
    if wrong:
        return Reply("wrong", classes, f"line {wrong[0]['line']}: {wrong[0]['class']}: {wrong[0]['text']}")
    for word, key in (("refused", "errors"), ("open", "warnings")):
        for each in (one for result in results for one in result[key]):  # type: ignore[attr-defined]
            return Reply(word, classes, f"line {each['line']}: {each['message']} [{each['code']}]")
    unknown = [str(each["reason"]) for each in results if each["reason"]]
    return Reply("open", classes, unknown[0]) if unknown else Reply("right", classes)


def _ratio(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.4f})" if whole else "none"


def main(arguments: list[str]) -> int:
    """Print what is not as labelled, and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("-s", dest="seconds", type=float, default=10.0)
    given, table, began = parser.parse_args(arguments), classes_of_labels(), time.monotonic()
    counts: Counter[tuple[bool, str]] = Counter()
    load()
    classed, longest = 0, 0.0
    for path in sorted(given.folder.glob("**/*.c")):
        if given.patterns and not any(each in str(path) for each in given.patterns):
            continue
        for test in SUITES[given.suite](path):
            before = time.monotonic()
            reply = replied(test, given.seconds)
            longest = max(longest, time.monotonic() - before)
            counts[bool(test.label), reply.word] += 1
            has_class = not table.get(test.label, reply.classes).isdisjoint(reply.classes)
            classed += bool(test.label) and has_class
            if reply.word != ("wrong" if test.label else "right") or (test.label and not has_class):
                print(f"{reply.word:7} {test.label or 'OK'} {path.relative_to(given.folder)} {reply.said}", flush=True)
    _print_counts(counts, classed)
    print(f"{(time.monotonic() - began) / max(counts.total(), 1):.2f} s each, the longest {longest:.1f} s")
    return 0


def _print_counts(counts: Mapping[tuple[bool, str], int], classed: int) -> None:
    wrong, right = (
        {word: counts.get((labelled, word), 0) for word in ("wrong", "right", "open", "refused")}
        for labelled in (True, False)
    )
    answered = [each["wrong"] + each["right"] for each in (wrong, right)]
    total = sum(wrong.values()) + sum(right.values())
    print(f"wrong programs: {wrong}; of a class of their label: {_ratio(classed, sum(wrong.values()))}")
    print(f"right programs: {right}")
    print(f"coverage: {_ratio(sum(answered), total)}")
    both = 2 * wrong["wrong"] + wrong["right"] + right["wrong"]
    print(f"F1 of what is answered: {2 * wrong['wrong'] / both if both else 1:.4f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
