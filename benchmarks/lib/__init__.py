"""Code that the scripts and the asv suite share."""
