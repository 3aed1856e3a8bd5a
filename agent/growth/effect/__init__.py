"""What the agent's help that nobody asked for changes in what gets done, as far as that can be told from counting. It
writes nothing."""
