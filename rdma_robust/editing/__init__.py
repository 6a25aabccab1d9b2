"""Answers for an editor while a program is written, without any protocol: names, meanings, layout, findings.

In: the text of a program, which may be wrong in any way, and a place in it. Out: diagnostics, the declaration and uses of a
name, what a statement means, edits. `language_server.py` speaks the Language Server Protocol; verdicts and repairs come from
the commands themselves, run as processes, so that no editor ever waits for a search.
"""
