"""What all judges (agents that score texts) share: options, classes, candidate replies, losses, metrics."""
