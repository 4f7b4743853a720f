"""``zoo:empathy/retrieval_sample/model``: small enough to be trained in a minute or two, wherever it is needed."""

from parlai_empathy.zoo.build import ZooModel

MODEL = ZooModel(
    name="retrieval_sample",
    title="Small retrieval model of the sample dialogues: the one that `parlai empathy_demo` trains",
    recipe=(
        "-t empathy:empathetic_dialogues --edition sample -m empathy:retrieval "
        "--embedding-size 128 --n-heads 4 --n-layers 1 --ffn-size 256 --num-epochs 30 --seed 1"
    ),
)
download = MODEL.download
