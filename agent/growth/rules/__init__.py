"""Rules of conduct that the agent learns: from reflections to a proposal, on probation, active or set aside again.

Begin at `tend`, which does all of it; `rule` has the values, `rule_note` their notes, `given_rules` brings them into
runs. No rule begins without one yes, and none comes from what strangers wrote.
"""
