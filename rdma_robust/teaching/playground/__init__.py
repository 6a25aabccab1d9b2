"""The tool in a browser tab: which questions a page asks, how a program is written into a link, and the server at home.

In: a program and the question that is open. Out: a link to it; the files of the page, served to this machine.
`sitegen/playground/` makes the page. Nothing is decided here, so no theorem: the page runs the commands of the tool.
"""
