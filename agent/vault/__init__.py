"""Files and git: the only package that writes to a vault or runs git. It does not interpret the notes."""
