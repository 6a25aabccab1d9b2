"""Parts that all writers of reports share.

In: records and numbers. Out: exit codes, the style of drawings, and records back from JSON.
"""
