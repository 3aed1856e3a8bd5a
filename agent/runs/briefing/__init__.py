"""What a briefing has to say of a day, from the person's notes and the agent's own records; no model is asked.

Begin at `briefing.py`. `dated.py` reads what the notes say of days, `people.py` who waits for whom, `by_itself.py` what
the agent did unasked; what needs the person is `runs.needs`, the one list of it.
"""
