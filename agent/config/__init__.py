"""Settings as nested frozen dataclasses. Only `app` and the command line load them; no other code reads their files."""
