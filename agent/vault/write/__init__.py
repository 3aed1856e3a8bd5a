"""The write protocol: from what a caller asks for to one durable commit, and from what a person saved to theirs."""
