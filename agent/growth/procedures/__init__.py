"""How each kind of task is done, one module a kind; begin at `run`.

A module has a plain form, which needs no model, and says what becomes of a model's answer; the prompts are in
`agent/prompts/tasks/`. When a procedure runs is not decided here.
"""
