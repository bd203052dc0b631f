"""Relations and sentences that contradict each other."""
