"""Measurements that build their own vaults. Every figure in the README comes from one of these."""
