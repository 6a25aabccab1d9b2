"""The commands, one file each. In: checked options. Out: an exit code."""
