"""Memory: what a program holds; each operation checks what it is given and hands it to its flow."""
