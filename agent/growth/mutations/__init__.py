"""Mutations: changes of skills that already work, tried on every second use and kept only if they do better.

`candidates` says which skills may be changed, `material` what the model is told of them, `answer` what it proposes,
`kinds` how much a proposal changes, `start` begins a trial, `verdict` judges it, `finish` writes what becomes of it,
`mutations` does all of it for one vault. The versions that runs take are in `agent.runs.skill_trials`.
"""
