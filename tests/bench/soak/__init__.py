"""Hours of a person's day with a daemon, and what they leave behind in it: memory, files, threads, history, errors.

`machine` is the vault with its remote and a second clone, and the daemon, whose clock runs fast; `deeds` are what a
person does beside it, and `person` chooses among them. `readings` are taken once a quarter hour, `daemon_log` compares
the log with `status`, and `verdicts` judges.
"""
