"""Hosts: the programs in which agents run, and what plugs a memory into each of them."""
