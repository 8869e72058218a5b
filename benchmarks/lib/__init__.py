"""What the scripts and the asv suite share."""
