"""Loading of models, tokenizers and word vectors that others trained."""
