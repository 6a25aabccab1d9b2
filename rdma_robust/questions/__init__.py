"""The questions of the tools: what is asked, how one input is decided, what is kept of its answer.

In: sources and options. Out: answers, as plain records.
"""
