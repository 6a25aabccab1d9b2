"""Effects of races: whether it matters which of several messages a receive takes.

In: a MessageProgram and a buffer semantics. Out: for each receive that has a choice, nothing, or the assertions, deadlocks
and final values that differ, with two runs. Definition: docs/theory-messages.md, "Races that change nothing".
"""
