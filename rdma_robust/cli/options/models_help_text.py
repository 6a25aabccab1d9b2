"""Help of `models`."""

MODELS_HELP = """Decide programs on all hardware: with store buffers or without, and with weaker and stronger networks.

The table of a program has the verdict under every setting of --cpu, --atomics, --order and --ordered-reads, the strongest
first. Settings that make no difference to it are left out, and that is said. Beneath it stands which setting is the first
to break it, the one with the fewest steps away from the strongest, and why. Its `hardware` line only marks a row.

\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0    robust under all settings
  1    not robust under some
  2    usage, or an invalid program
  3    some setting is undecided, or the program
  4    internal error
  130  interrupted
\b
Examples
  rdma-robust models mp.rdma
  rdma-robust models litmus/ --format json -o models.json
"""
