"""JUnit XML in the dialect that Jenkins, GitLab and GitHub's actions read (`junit-10.xsd`)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rdma_robust.text import printable

Kind = Literal["", "failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """A test. With a `kind` it did not pass: `type` and `message` say why, `text` in detail; else it printed `text`."""

    name: str
    classname: str
    time_s: float
    kind: Kind = ""
    type: str = ""
    message: str = ""
    text: str = ""


def junit_document(suites: Mapping[str, Sequence[Case]]) -> str:
    """Return the document of the suites, by name. No two tests of a class have one name: readers would keep one of them."""
    seen: Counter[tuple[str, str]] = Counter()
    suites = {name: [_apart(case, seen) for case in cases] for name, cases in suites.items()}
    every = [case for cases in suites.values() for case in cases]
    root = ET.Element("testsuites", {"name": "rdma-robust", **_counts(every)})
    for name, cases in suites.items():
        skipped = str(sum(case.kind == "skipped" for case in cases))
        suite = ET.SubElement(root, "testsuite", {"name": _text(name), **_counts(cases), "skipped": skipped})
        for case in cases:
            _append(suite, case)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _apart(case: Case, seen: Counter[tuple[str, str]]) -> Case:
    """Return a test with a number behind its name if there was one of that name before."""
    seen[case.classname, case.name] += 1
    number = seen[case.classname, case.name]
    return case if number == 1 else _apart(replace(case, name=f"{case.name} [{number}]"), seen)


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    kinds = [case.kind for case in cases]
    return {
        "tests": str(len(kinds)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "time": f"{sum(case.time_s for case in cases):.3f}",
    }


def _append(suite: ET.Element, case: Case) -> None:
    attributes = {"name": _text(case.name), "classname": _text(case.classname), "time": f"{case.time_s:.3f}"}
    element = ET.SubElement(suite, "testcase", attributes)
    if case.kind:
        what = ET.SubElement(element, case.kind, {"type": _text(case.type), "message": _text(case.message)})
        what.text = _text(case.text)
    elif case.text:
        ET.SubElement(element, "system-out").text = _text(case.text)


def _text(text: str) -> str:
    """Return text that XML can hold: characters that are not printable, but line ends and tabs, are escaped as in Python."""
    return printable(text, "\n\t")
