"""The embedded bundle: a small pretrained encoder and banking-like queries, both our own."""
