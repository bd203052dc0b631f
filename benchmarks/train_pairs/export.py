"""Export of the trained encoder to ONNX with 8-bit weights, as onnxruntime runs it."""

from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from benchmarks.train_pairs.encoder import PairEncoder
from benchmarks.train_pairs.train import arrays


def export(model: PairEncoder, words: Tokenizer, out: Path) -> Path:
    """Write `pairs.onnx` (8-bit weights) and `pairs.fp32.onnx`; return the path of the first."""
    model.eval()
    example = arrays([words.encode("I live in Bern.", "I moved to Lyon."), words.encode("a b c", "d e")])
    plain, small = out / "pairs.fp32.onnx", out / "pairs.onnx"
    names = ["ids", "types", "mask"]
    torch.onnx.export(
        model,
        example,
        str(plain),
        input_names=names,
        output_names=["scores"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(
        plain,
        small,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        extra_options={"MatMulConstBOnly": True},
    )
    print(f"{small}: {small.stat().st_size / 1e6:.1f} MB")
    return small
