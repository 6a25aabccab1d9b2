"""Reproduce what the project claims, offline: `python3 release/reproduce.py` in an unpacked artifact.

Installs the tool from `wheels/` into `.venv`, unless one is there, runs each claim's commands and compares what they print
with `expected/`, but for times. Exit code 0 if all is as expected, 1 if something differs, which is then shown. Needs Python
and nothing else; the wheels are for the Python and the platform that `wheels/PLATFORM` names. `make artifact` records
`expected/` with `--record`; `--quick` leaves out the claims that take more than a minute.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
EXPECTED = HERE / "expected"
BIN = HERE / ".venv/bin"
TIME = re.compile(r" *\b\d[\d,]*\.\d+ s\b")


@dataclass(frozen=True)
class Claim:
    """What is claimed, and the commands that show it. With `needs`, a program without which they are not run, all that is
    expected is exit code 0: it is not run where the artifact is packed, and the end of what it says is shown."""

    name: str
    says: str
    commands: tuple[str, ...]
    quick: bool = False
    needs: str | None = None


CLAIMS = (
    Claim(
        "counterexample",
        "A buffer that is used again is found; a poll repairs it; the repaired program is decided again",
        (
            "rdma-robust check litmus/mailbox-plain.rdma",
            "rdma-robust repair litmus/mailbox-plain.rdma",
            "rdma-robust check litmus/mailbox-polled.rdma",
        ),
        quick=True,
    ),
    Claim(
        "certificates",
        "A checker that shares no code with the search accepts the evidence for verdicts of both kinds",
        (
            "rdma-robust check --quiet --expect --certificate certificates litmus/mp-get*.rdma",
            "rdma-robust verify-certificate certificates",
        ),
        quick=True,
    ),
    Claim("suite", "Every program of the suite has the verdict it claims", ("rdma-robust --expect litmus/*.rdma",)),
    Claim(
        "deployed",
        "So have programs for x86, remote atomics, messages and weaker networks",
        ("rdma-robust --expect litmus/deployed",),
    ),
    Claim("crowds", "So have programs with any number of threads", ("rdma-robust --expect litmus/crowds",)),
    Claim("messages", "Message passing: deadlocks and races", ("rdma-robust messages check --expect litmus/messages",)),
    Claim("proofs-of-safety", "Invariants under SC, TSO, PSO, RMA and RDMA", ("rdma-robust prove --expect litmus/prove",)),
    Claim("coq", "The decision procedure is proved correct", ("make -s -C proofs check",), needs="coqc"),
)


def install() -> None:
    """Install the tool into `.venv` from `wheels/` alone."""
    if (BIN / "rdma-robust").exists():
        return
    subprocess.run([sys.executable, "-m", "venv", str(HERE / ".venv")], check=True)
    pip = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, "--find-links", str(HERE / "wheels"), "rdma-robust[smt]"], check=True)


def printed(claim: Claim) -> str:
    """Return what the commands of `claim` print, on both streams, and their exit codes; times are left out."""
    said = []
    for command in claim.commands:
        done = subprocess.run(
            f'PATH="{BIN}:$PATH"; COLUMNS=160; export PATH COLUMNS; {command}',
            shell=True,
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        said.append(f"$ {command}\n{TIME.sub(' _ s', done.stdout)}(exit code {done.returncode})\n")
    return "".join(said)


def differences(claim: Claim, record: bool) -> list[str]:
    """Run `claim`; return how what it prints differs from what is expected, or record that."""
    begun = time.monotonic()
    now = printed(claim)
    file = EXPECTED / f"{claim.name}.txt"
    if record:
        file.write_text(now, encoding="utf-8")
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), str(file.name), "now", lineterm="", n=0))
    print(
        f"{'DIFFERS' if lines else 'as expected'}: {claim.name}: {claim.says} ({time.monotonic() - begun:.0f} s)", flush=True
    )
    return lines


def answered(claim: Claim) -> bool:
    """Run a claim that needs another program, and show the end of what it says; return whether it ended with exit code 0."""
    begun = time.monotonic()
    *said, ended = printed(claim).splitlines()
    fine = ended == "(exit code 0)"
    print(*(f"    {line}" for line in said[-12:]), sep="\n")
    print(
        f"{'as expected' if fine else 'DIFFERS'}: {claim.name}: {claim.says} ({time.monotonic() - begun:.0f} s)", flush=True
    )
    return fine


def main() -> int:
    asked = argparse.ArgumentParser(description="Reproduce what the project claims, offline.")
    asked.add_argument("--quick", action="store_true", help="only what takes less than a minute")
    asked.add_argument("--record", action="store_true", help="write what is printed to expected/")
    asked.add_argument(
        "claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(each.name for each in CLAIMS)}; default: all"
    )
    options = asked.parse_args()
    names = [each.name for each in CLAIMS]
    if unknown := [name for name in options.claims if name not in names]:
        asked.error(f"no claim is called {unknown[0]!r}; there is {', '.join(names)}")
    install()
    EXPECTED.mkdir(exist_ok=True)
    differ = 0
    for claim in CLAIMS:
        if (options.claims and claim.name not in options.claims) or (options.quick and not claim.quick):
            continue
        if claim.needs and (options.record or shutil.which(claim.needs) is None):
            why = "while packing" if options.record else f"there is no {claim.needs} here"
            print(f"NOT RUN: {claim.name}: {claim.says} ({why})")
        elif claim.needs:
            differ += not answered(claim)
        elif lines := differences(claim, options.record):
            differ += 1
            print("\n".join(f"    {line}" for line in lines[:40]))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
