"""One program's verdict for people and for machines.

In: an outcome or a failure. Out: a record, its table row with the paragraphs beneath, its JSON. The words for events
and orders are those of Definitions 1 to 4 of the paper.
"""
