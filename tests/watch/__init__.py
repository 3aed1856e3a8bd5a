"""What the watcher sees of a vault that people and programs write to."""
