"""Recorded runs of message passing: programs whose control flow is fixed.

In: the JSON of a trace, the text format of the paper's authors, logs of MPI, or a program and a run of it. Out: a
MessageProgram, or the JSON of a trace. Definition: the trace format in docs/messages-language.md.
"""
