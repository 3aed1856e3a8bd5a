"""When the agent does something by itself: jobs and tasks as notes, their times, and what came of each.

Begin at `job` (one note), `occurrences` (its times) and `planner` (what is due, missed or left out now). No run is
started here: `background.jobs` does that, and writes down what came of it.
"""
