"""The agent's run: ask the model, carry out the tool calls, record every step in the session's note, stop in time."""
