"""The arms of recall, and what they weigh."""
