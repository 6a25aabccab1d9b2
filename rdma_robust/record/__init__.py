"""Runs of programs, recorded: compiled with hooks, run with a card in software, and written as `.rdma`.

In: a command line. Out: a program of straight threads, each of which does what a thread of the run did, in its order, where
every read must see what it saw; or an error that says what is not recorded.
"""
