"""What the agent suggests by itself after a run: at most one thing, for a goal, a drive or a pattern of its person.

`aims` reads what the person works towards, `evaluate` chooses. Whether and when they hear of it is left to attention.
"""
