"""The notes in `questions/`: one form for whoever asks, and what a person's answer in one of them is. Nothing is asked
here; who may ask when, is said in `law`."""
