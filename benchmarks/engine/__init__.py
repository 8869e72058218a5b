"""What the engine's parts cost, one by one."""
