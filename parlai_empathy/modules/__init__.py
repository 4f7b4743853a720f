"""Torch modules that agents share."""
