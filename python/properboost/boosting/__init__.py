"""From codes to models: the engine as Python sees it, and what it returns."""
