"""``zoo:empathy/retrieval_sample/model``: small enough to be trained in two minutes, wherever it is needed."""

from parlai_empathy.zoo.build import ZooModel

MODEL = ZooModel(
    name="retrieval_sample",
    title="Small retrieval model of the sample dialogues: the one that `parlai empathy_demo` trains",
    # One layer is all that 288 short dialogues can fill; the word vectors keep the paper's size.
    recipe=(
        "-t empathy:empathetic_dialogues --edition sample -m empathy:retrieval "
        "--n-layers 1 --ffn-size 600 --num-epochs 25 --seed 1"
    ),
)
download = MODEL.download
