"""What the program leaves behind when a call of the system fails: `scripts/harden`."""
