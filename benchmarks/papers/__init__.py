"""What of the papers' figures and claims comes out here."""
