"""What every agent that judges text has: options, classes, the replies to choose among, losses, metrics."""
