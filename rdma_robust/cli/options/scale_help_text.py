"""Help of `scale`."""

SCALE_HELP = """Decide one program for many values of a constant, and say how the answer changes and the search grows.

-D NAME=2..8 says for which values. The table has verdict, states, transitions and time of each. Beneath it stands where
the verdict changes, and the law by which the states grow: constant, polynomial or exponential, exactly where it is, else by
least squares on logarithms with how far it is off. Instances that a limit cuts say nothing about growth.

\b
Forms
  text   the table                     html   one page with the table and charts
  json   by scale.schema.json          svg    the chart of the states
  csv    a row for each value
\b
Exit codes (the worst instance counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, or an invalid program                 130  interrupted
\b
Examples
  rdma-robust scale -D N=2..8 ring.rdma
  rdma-robust scale -D N=2..8 -D ROUNDS=1 --timeout 20 ring.rdma -o ring.html
"""
