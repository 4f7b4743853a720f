"""Dictionaries, which convert texts to token ids: of words, or of a Hugging Face tokenizer's tokens."""
