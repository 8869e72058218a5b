"""Random bits, as the engine draws them."""


def draw_bits(seed: int, stream: int, n: int) -> int:
    """64 random bits by counter: SplitMix64's finaliser over seed, stream and number."""
    mask, stride = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    return mix((mix(mix((seed + stride) & mask) ^ stream) + (n + 1) * stride) & mask)
