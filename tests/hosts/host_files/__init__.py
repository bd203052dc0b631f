"""Tests of what is written into the files of hosts."""
