"""The grammar files, as package data (the marker file makes editable installs find them)."""
