"""Programs to begin with. In: a name. Out: the text of a program whose claims hold."""
