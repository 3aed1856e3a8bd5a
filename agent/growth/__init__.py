"""What the agent does for itself and for its person without being asked; each ends in a commit, or in nothing."""
