"""Coverability of Petri nets, `.spec`."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import LIMITS, RUNS, CertificateKind, CommandEntry, Tool, function_of

COVER_HELP = """Decide coverability of Petri nets in the `.spec` format of mist, QCover and ICover.

FILE is a file, a directory (every *.spec below it), a glob pattern, or - for standard input.

\b
Verdicts
  safe     no initial marking leads to a marking of the target
  UNSAFE   with the firing sequence that covers a target, replayed
  UNKNOWN  a limit was reached, the row says which
  error    the net could not be read, or is no Petri net; the others are still decided
\b
Exit codes (the worst net counts, in the order 4, 2, 3, 1)
  0  all safe (--expect: all as expected)         3  some unknown
  1  some unsafe (--expect: a mismatch)           4  internal error
  2  usage, or an invalid net                     130  interrupted
\b
Examples
  rdma-robust cover mutex.spec
  rdma-robust cover nets/ --timeout 20 --jobs 2 --format jsonl
  rdma-robust cover --markings - < pump.spec
"""


TOOL: Final = Tool(
    "nets",
    commands=(
        CommandEntry(
            "cover",
            COVER_HELP,
            function_of("cover"),
            rank=40,
            group=("Decide", 80),
            reads=(".spec",),
            settings=(*LIMITS, *RUNS, "explain"),
        ),
    ),
    certificates=(
        CertificateKind(
            "spec", "rdma_robust.certify.checker:verify", {"safe": "is safe", "unsafe": "is unsafe"}, any_bytes=True
        ),
    ),
    written=(".spec",),
)
