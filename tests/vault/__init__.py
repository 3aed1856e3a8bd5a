"""Files and git, on real vaults in temporary folders."""
