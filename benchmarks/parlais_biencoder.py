"""ParlAI's ``transformer/biencoder`` with the weights of an ``empathy:retrieval`` model: the baseline of benchmarks.

It differs from ParlAI's own in one respect: texts have no start and end tokens, because the model was trained without
them. With ``--score dot`` both compute the same scores. ParlAI does not normalise candidates; if it is given encoded
candidates, which are normalised already, it ranks them as ``--score cosine`` does.
"""

from __future__ import annotations

from typing import Any

import torch
from parlai.agents.transformer.biencoder import BiencoderAgent
from parlai.agents.transformer.transformer import TransformerRankerAgent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import TorchAgent

from parlai_empathy.agents.retrieval.retrieval import RetrievalAgent

_SIZES = ("embedding_size", "n_layers", "n_heads", "ffn_size", "n_positions", "text_truncate", "label_truncate")
_WORDS = ("dict_file", "dict_lower", "dict_tokenizer")


class SameBiencoder(BiencoderAgent):
    """ParlAI's biencoder, without start and end tokens."""

    vectorize = TransformerRankerAgent.vectorize
    _vectorize_text = TorchAgent._vectorize_text
    _set_text_vec = TorchAgent._set_text_vec


def options_like(agent: RetrievalAgent, *arguments: str) -> Opt:
    """Return ParlAI's options for an agent with the same sizes and dictionary."""
    parser = ParlaiParser(True, True)
    SameBiencoder.add_cmdline_args(parser, None)
    opt = parser.parse_args(["--share-encoders", "false", "--variant", "aiayn", "--activation", "relu", *arguments])
    opt.update({name: agent.opt[name] for name in (*_SIZES, *_WORDS)})
    opt.update(dropout=agent.opt["dropout"], embeddings_scale=True, learn_positional_embeddings=False)
    opt.update(no_cuda=agent.opt["no_cuda"], delimiter=agent.opt["delimiter"])
    return opt


def same_biencoder(agent: RetrievalAgent, *arguments: str) -> SameBiencoder:
    """Return ParlAI's agent with the weights of ``agent``.

    :param arguments: further options of ParlAI, as on the command line.
    """
    theirs = SameBiencoder(options_like(agent, *arguments))
    ours: Any = agent.bare_model
    model = theirs.model
    with torch.no_grad():
        model.embeddings.weight.copy_(ours.embedding.weight)
        for their_tower, tower in ((model.context_encoder, ours.contexts), (model.cand_encoder, ours.replies)):
            their_tower.position_embeddings.weight.copy_(tower.positions)
            for their_layer, layer in zip(their_tower.layers, tower.layers, strict=True):
                _copy(their_layer, layer)
    return theirs


def _copy(theirs: Any, ours: Any) -> None:
    attention, weight, bias = theirs.attention, ours.self_attn.in_proj_weight, ours.self_attn.in_proj_bias
    for linear, rows, numbers in zip(
        (attention.q_lin, attention.k_lin, attention.v_lin), weight.chunk(3), bias.chunk(3), strict=True
    ):
        linear.weight.copy_(rows)
        linear.bias.copy_(numbers)
    attention.out_lin.load_state_dict(ours.self_attn.out_proj.state_dict())
    theirs.ffn.lin1.load_state_dict(ours.linear1.state_dict())
    theirs.ffn.lin2.load_state_dict(ours.linear2.state_dict())
    theirs.norm1.load_state_dict(ours.norm1.state_dict())
    theirs.norm2.load_state_dict(ours.norm2.state_dict())
