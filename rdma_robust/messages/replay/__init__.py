"""An interpreter of message programs that checks runs move by move and shares no code with what finds them.

In: a MessageProgram and a schedule. Out: what holds at its end, or the move that is not enabled. Definition: the rules of
docs/theory-messages.md, one by one, on the structured statements.
"""
