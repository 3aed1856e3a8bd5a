"""Files and git: all that writes to a vault, and the only door to git. What notes mean is not its business."""
