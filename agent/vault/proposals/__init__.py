"""Proposals: what the agent wants to write and needs one yes for; begin at `proposals`, `proposal` has the values.

Who proposes, and what follows from an answer beside the written notes, is the matter of each kind's room.
"""
