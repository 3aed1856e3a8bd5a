"""What the agent asks its person: a note with boxes, a record of it outside the vault, and what counts as an answer.

Begin at `proposal` for the values, and at `answers` for the law. What follows from a yes is left to the room that asks.
"""
