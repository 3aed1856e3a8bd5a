"""The companion plugin for Obsidian, in a real Chromium against a stand-in of Obsidian and a real daemon."""
