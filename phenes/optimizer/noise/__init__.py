"""What a run knows of the noise of its inputs: declared, learnt, drawn, and kept as data."""
