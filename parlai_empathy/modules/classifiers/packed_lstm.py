"""torch's bidirectional LSTM over texts of different lengths."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


class PackedLSTM(nn.LSTM):
    """A bidirectional LSTM that skips the padding of each text.

    :param input_size: features of a step.
    :param hidden_size: units in each direction.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, steps: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        """``(n, longest, input_size)`` to ``(n, longest, 2 * hidden_size)``, zeros beyond the lengths.

        :param lengths: ``(n,)``, at least 1.
        """
        packed = pack_padded_sequence(steps, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self._read(packed), batch_first=True, total_length=steps.size(1))
        return states

    def _read(self, packed: PackedSequence) -> PackedSequence:
        if packed.data.device.type != "cpu" or _has_avx512():
            return super().forward(packed)[0]
        # If all texts have the same length, torch uses oneDNN, whose LSTM supports bfloat16 only with AVX-512.
        with torch.autocast("cpu", enabled=False):
            return super().forward(packed.to(next(self.parameters()).dtype))[0]


def _has_avx512() -> bool:
    # Torch has this check only under a private name; if a release lacks it, single precision always works.
    ask = getattr(torch.cpu, "_is_avx512_supported", None)
    return ask is not None and bool(ask())
