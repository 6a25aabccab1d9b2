"""Small programs with contracts, by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

BCAST: Final = """
fun bcast(dat, root) contract collective {
  bounds dat in 10+PID..10+PID;
  bounds root in 0..NPROCS-1;
  requires 0 <= root && root < NPROCS && \\agree(root);
  assigns \\nothing;
  ensures \\result == \\on(root, dat);
  waitsfor root;
  quiet to \\all until root if PID != root;
} {
  if PID == root {
    for p in 0..NPROCS - 1 { if p != root { send dat to p } }
  } else { recv dat from root }
  return dat
}
expect contract bcast verified
"""

GATHER: Final = """
fun gather_w(val, root) contract collective {
  bounds val in 10+PID..10+PID;
  bounds root in 0..NPROCS-1;
  requires 0 <= root && root < NPROCS && \\agree(root);
  assigns \\nothing;
  behavior root: assumes PID == root;
    ensures len(\\result) == NPROCS && \\forall t in 0..NPROCS-1 : \\result[t] == \\on(t, val);
    waitsfor \\all;
} {
  reg dat, v, s
  if PID == root {
    dat = new(NPROCS)
    dat[root] = val
    for p in 1..NPROCS - 1 {
      recv v from any s
      dat[s] = v
    }
  } else { send val to root }
  return dat
}
expect contract gather_w violated ITF from 3
"""

LAST: Final = """
fun last(val) contract collective {
  bounds val in 5*PID..5*PID;
  assigns \\nothing;
  ensures PID == 0 ==> \\result == \\on(NPROCS - 1, val);
} {
  if PID == 0 {
    for p in 1..NPROCS - 1 { recv val from any }
  } else { send val to 0 }
  return val
}
expect contract last verified
"""

BROKEN: Final = """
fun f(x) contract collective { ensures \\reslt == x; } { return x }
fun g(x) contract collective { requires y == 1; } { return x }
"""

TEXTS: Final = {"bcast": BCAST, "gather": GATHER, "last": LAST, "broken": BROKEN}


def written_contracts(folder: Path) -> None:
    """Write all of them into a folder."""
    for name, text in TEXTS.items():
        (folder / f"{name}.mp").write_text(text)
