"""Two models on the same rows: differences of scores with intervals, calibration, disagreements."""
