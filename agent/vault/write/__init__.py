"""The write protocol: one durable commit for each request of a caller, and commits of the edits that people save."""
