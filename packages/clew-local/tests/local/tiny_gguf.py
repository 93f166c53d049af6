"""A language model of random weights, made here: some 50 kB that know nothing.

Its tokens are bytes, so every text can be read and written; its template is ChatML with tools as
open models are taught them (Hermes).
"""

from pathlib import Path
from typing import Final

import gguf
import numpy as np

CONTEXT: Final = 131_072
WIDTH: Final = 16
LAYERS: Final = 1
HEADS: Final = 1

TEMPLATE: Final = (
    "{%- if tools %}<|im_start|>system\n"
    "{%- if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}\n# Tools\n"
    "{%- for tool in tools %}{{ tool | tojson }}\n{% endfor %}"
    'Call one as <tool_call>\n{"name": ..., "arguments": ...}\n</tool_call><|im_end|>\n'
    "{%- elif messages[0].role == 'system' %}"
    "<|im_start|>system\n{{ messages[0].content }}<|im_end|>\n{%- endif %}"
    "{%- for message in messages %}"
    "{%- if message.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ message.content }}\n"
    "</tool_response><|im_end|>\n"
    "{%- elif message.role == 'assistant' %}<|im_start|>assistant\n{{ message.content }}"
    "{%- for call in message.tool_calls or [] %}\n<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n"
    "{%- elif message.role == 'user' %}<|im_start|>user\n{{ message.content }}<|im_end|>\n"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PLAIN_TEMPLATE: Final = (
    "{%- for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""One that knows no tools."""


def write_model(
    path: Path, *, seed: int = 0, template: str = TEMPLATE, context: int = CONTEXT
) -> Path:
    """Write the model to a file; its weights depend on nothing but the seed."""
    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, "llama")
    words = ["<unk>", "<s>", "<|im_end|>", "<|im_start|>"]
    words += [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 3, *[gguf.TokenType.BYTE] * 256]
    writer.add_name("random")
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)

    def add(name: str, *shape: int) -> None:
        weights = random.normal(0, 0.5, shape).astype(np.float32)
        writer.add_tensor(name, np.ones(shape, np.float32) if len(shape) == 1 else weights)

    add("token_embd.weight", len(words), WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", len(words), WIDTH)
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{name}.weight", WIDTH)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", 2 * WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", 2 * WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, 2 * WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
