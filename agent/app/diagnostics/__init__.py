"""The checks of `doctor` above the vault: search, models and policy, skills."""
