"""The tools that only programs have: the past, forgetting, what waits, and tasks for the agent."""
