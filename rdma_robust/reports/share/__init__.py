"""What all writers share: escaping, exit codes, wording, drawing, and records back from JSON."""
