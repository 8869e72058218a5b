"""How fast properboost is beside others, and what of its papers comes out here."""
