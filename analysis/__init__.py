"""What passes share: facts about IR that no single pass owns."""
