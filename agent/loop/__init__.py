"""The agent's run: ask the model, do what it asks for, keep every step in the session's note, know when to stop."""
