"""The codes of messages: RR001 to RR999, for people (`explain-code`), for reports, and for suppressing warnings.

In: a code. Out: its title, what it means, a program that gives it and one that does not. The data is in the `.toml` files.
"""
