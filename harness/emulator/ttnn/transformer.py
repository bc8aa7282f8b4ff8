"""ttnn.transformer."""

from harness.emulator.ttnn.attention import scaled_dot_product_attention, scaled_dot_product_attention_decode

__all__ = ["scaled_dot_product_attention", "scaled_dot_product_attention_decode"]


def __getattr__(name: str) -> object:
    raise AttributeError(f"ttnn.transformer.{name} is not modelled by the emulator")
