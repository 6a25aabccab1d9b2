"""The engines that decide message programs, from those that need no search to those that always do.

In: a MessageProgram, a buffer semantics, questions and limits. Out: a BufferAnswer, with schedules of what is wrong, or None
where an engine for special programs does not apply. Source: docs/theory-messages.md, "Deciding message passing".
"""
