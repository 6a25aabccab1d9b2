"""What each command does, one file a command. In: checked options. Out: an exit code."""
