"""Proofs that RDMA programs are safe under memory models."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import LIMITS, RUNS, CommandEntry, SettingKind, Tool, function_of

PROVE_HELP = """Prove that programs are safe under SC, TSO, PSO, RMA or RDMA: for all runs, with unbounded integers.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input. Nothing is given by hand: what
must hold are the `assert` statements, the `invariant` lines, the `outcome` lines under the model, and that nothing else goes
wrong. No claim is made about hangs.

\b
Verdicts, one for each program and model
  safe     an inductive invariant was found, or all states were searched
  UNSAFE   with a run that the machine of the model has replayed
  UNKNOWN  a limit was reached, or a path was neither confirmed nor excluded: it is printed
  refused  the model does not have what the program does (--model all; an error where the model is named)
\b
Forms
  text, json, jsonl  as those of check
  junit              a suite for each program, a test for each model
  sarif              findings at the lines of the claims, with the run
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all safe (--expect: all as expected)         3  some unknown
  1  some unsafe (--expect: a mismatch)           4  internal error
  2  usage, an invalid program, a refused model   130  interrupted
\b
Examples
  rdma-robust prove ticket.rdma
  rdma-robust prove --model tso,pso peterson.rdma
  rdma-robust prove --model all --explain peterson.rdma
  rdma-robust prove --expect litmus/prove/
  rdma-robust prove --model rma --certificate proofs/ lock.rdma
"""


TOOL: Final = Tool(
    "prove",
    commands=(
        CommandEntry(
            "prove",
            PROVE_HELP,
            function_of("prove"),
            rank=200,
            group=("Decide", 70),
            settings=(*LIMITS, *RUNS, "threads", "explain", "reduction", "bound"),
        ),
    ),
    settings=(
        SettingKind("reduction", "text", 270),
        SettingKind("bound", "whole", 280),
    ),
)
