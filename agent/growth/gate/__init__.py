"""The measured gate: what the agent wants to change of itself is tried on past tasks before it goes live.

`change` has what is proposed, `past_tasks` the tasks of the person's own runs, `scratch` a small vault of what
steers the agent, `recorded_tools` the recorded results in place of tools, `replay` one task done again, `measure` the
comparison. Nothing here writes to the person's vault; who calls it decides what follows from a report.
"""
