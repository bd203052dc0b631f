"""What a new memory is compared with, and what models say of the two."""
