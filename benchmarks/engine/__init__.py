"""The cost of the engine's parts, one by one."""
