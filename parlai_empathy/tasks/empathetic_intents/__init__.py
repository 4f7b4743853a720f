"""What a reply intends: questioning, consoling and the like."""
