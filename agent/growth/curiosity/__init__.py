"""What the agent would like to know of its person, and when it may ask: seldom, one thing at a time, with a reason and
with what it does without an answer. Asked in notes in `questions/`, told by attention; no run is started here."""
