"""Networks that classify texts or judge replies."""
