"""Builds the two towers: the paper's Transformer over words, or a pretrained encoder."""

from __future__ import annotations

from parlai.core.dict import DictionaryAgent
from parlai.core.opt import Opt

from parlai_empathy.agent_kit.dictionaries.tokenizer import TokenizerDictionary, encoder_source
from parlai_empathy.agents.retrieval.options import check_encoder
from parlai_empathy.modules.encoders.biencoder import BiEncoder, PretrainedBiEncoder, PretrainedTower
from parlai_empathy.modules.pretrained.hugging_face import load_encoder
from parlai_empathy.modules.pretrained.vectors import copy_vectors


def transformer_towers(opt: Opt, words: DictionaryAgent, pad: int, begins: bool) -> BiEncoder:
    """Build the paper's Transformer.

    :param pad: id of the padding token.
    :param begins: whether training starts, so that ``--vectors-file`` is loaded if given.
    """
    model = BiEncoder(
        len(words),
        pad,
        embedding_size=opt["embedding_size"],
        temperature=opt["temperature"] if opt["score"] == "cosine" else None,
        n_layers=opt["n_layers"],
        n_heads=opt["n_heads"],
        ffn_size=opt["ffn_size"],
        dropout=opt["dropout"],
        n_positions=opt["n_positions"],
    )
    if opt.get("vectors_file") and begins:
        copy_vectors(opt["vectors_file"], words.tok2ind, model.embedding.weight)
    return model


def pretrained_towers(opt: Opt, words: TokenizerDictionary, pad: int, is_new: bool) -> PretrainedBiEncoder:
    """Build one or two towers on a Hugging Face encoder.

    :param words: the encoder's vocabulary.
    :param pad: id of its padding token.
    :param is_new: whether to load pretrained weights; otherwise a trained model's weights follow.
    """
    length = opt["temperature"] ** -0.5 if opt["score"] == "cosine" else None
    encoders = [load_encoder(encoder_source(opt), pretrained=is_new) for _ in range(opt["towers"])]
    check_encoder(opt, encoders[0].config, words.tokenizer_of_encoder)
    towers = [PretrainedTower(encoder, pad, opt["pooling"], opt["projection"], length) for encoder in encoders]
    return PretrainedBiEncoder(*towers)
