"""C programs with MPI messages: all processes are evaluated in lock step, by the evaluator of `rdma_robust.c.evaluate`.

In: the units of a program and a number of processes. Out: a program of messages, each statement at its place of the C, and
what is wrong with calls by themselves; or refusals. Which receive takes which message where that is open, and when sends
complete, is left to the engines of messages.
"""
