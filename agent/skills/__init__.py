"""Skills: how to do a kind of work, as Markdown a person can read, found for a task by rules that explain themselves.

Reads folders and weighs tasks against them. Never runs anything that lies in a skill, never trusts one that nobody on
this machine has looked at, and knows nothing of tools, of the model's context or of the loop.
"""
