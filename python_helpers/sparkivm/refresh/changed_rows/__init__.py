"""What a run asks about changed rows before it reads much: each question once for all of its views."""
