"""What is learnt: policies in tables and policies in networks, as the one loop needs them."""
