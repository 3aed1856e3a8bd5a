"""Times and days in plain words: `when` takes what is to come, `periods` the days that are looked back to, `named_days`
the days that a text names, and `typed` a time of a command's option.

The words and forms of each language are data, in `languages/`. What is not understood is never guessed.
"""
