"""The tools that a model may call, the policy for each run, and approvals by a person. Runs no model."""
