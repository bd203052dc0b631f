"""What a text names and states: by rules and, where a generator is configured, by it as well."""
