"""What decides message programs, from what needs no search to what always does.

In: a MessageProgram, a buffer semantics, questions and limits. Out: a BufferAnswer, with schedules of what is wrong, or None
where an engine for special programs does not apply. Source: docs/theory-messages.md, "Deciding message passing".
"""
