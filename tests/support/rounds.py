"""A program with two constants, for commands that are asked about many of their values."""

ROUNDS = """\
const ROUNDS = 1, BACK = 1  // robust unless both are at least 1
node A { x = 0 }
node B { y = 0 }
thread T on A {
  reg r
  for i in 1..ROUNDS { put B.y = 1 }
  r = x
}
thread U on B {
  reg r
  for i in 1..BACK { put A.x = 1 }
  r = y
}
"""
