"""What a run asks about the rows that changed, before much is read: each question once for all of its views."""
