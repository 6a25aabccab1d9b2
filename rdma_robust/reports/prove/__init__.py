"""The reports of `prove`. In: answers for a program under memory models. Out: rows, runs, facts, and forms for other
tools."""
