"""ttnn.experimental."""

from harness.emulator.ttnn.heads import nlp_concat_heads, nlp_create_qkv_heads
from harness.emulator.ttnn.rope import rotary_embedding_hf

__all__ = ["nlp_concat_heads", "nlp_create_qkv_heads", "rotary_embedding_hf"]


def __getattr__(name: str) -> object:
    raise AttributeError(f"ttnn.experimental.{name} is not modelled by the emulator")
