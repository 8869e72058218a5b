"""What a fitted model has learnt, for reading and plotting."""
