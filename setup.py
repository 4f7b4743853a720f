"""Packaging: the dependencies, and the ``.pth`` file that lets ParlAI find the package (see parlai_empathy/hook.py)."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
PTH = "parlai_empathy.pth"

# ParlAI 1.7.2 is not in this list: its own pins (NumPy 1.23 among them) would make every install fail. It is installed
# separately, with `pip install --no-deps parlai==1.7.2`; this list includes those of its dependencies that are needed.
REQUIRES = [
    "torch>=2.6",  # the oldest release whose weights-only loading is safe
    "numpy>=1.26,<3",  # both ends tested
    "scikit-learn>=1.3",  # ParlAI's dictionaries and classifiers import it
    "scipy>=1.11",  # correlations; scikit-learn depends on it too
    "nltk>=3.9",  # ParlAI's BLEU; older ones fail on Python 3.12
    "iopath>=0.1.10,<0.2",  # ParlAI's files
    "requests>=2.31",  # downloads
    "tqdm>=4.65",  # progress bars
    "pillow>=10",  # imported by ParlAI's teachers
    "pyyaml>=6",  # ParlAI's options
    "packaging>=23",  # imported by ParlAI, not declared there
]
EXTRAS = {
    "hf": ["transformers>=4.40,<6"],  # Hugging Face models; both ends tested
    "openai": ["openai>=1.55.3,<4"],  # models behind a server; both ends tested, older ones fail with httpx 0.28
    "overlap": ["sacrebleu>=2.4", "rouge-score>=0.1.2"],  # BLEU-4 and ROUGE-L of replies; METEOR needs WordNet too
    "plots": ["matplotlib>=3.8"],  # the plots of reports
    "sentences": ["sentence-transformers>=3"],  # sentence encoders other than the default one
    "rating": ["psycopg[binary]>=3.1.8,<4"],  # ratings in PostgreSQL; in an SQLite file they need nothing
    "reddit": ["zstandard>=0.19"],  # Pushshift's dumps are .zst files
    "red": ["duckdb>=1.5", "pyarrow>=16"],  # RED: curation without a server, and its Parquet files
    "spark": ["pyspark>=4,<5", "duckdb>=1.5", "pyarrow>=16"],  # the same on Apache Spark; it needs Java 17
    "site": ["starlette>=0.40,<2", "uvicorn>=0.30", "jinja2>=3.1"],  # pages where people rate and chat
    "crowd": ["boto3>=1.34"],  # raters from Amazon Mechanical Turk, through Amazon's own library
    "tensorboard": ["tensorboardX>=2.6.1"],  # ParlAI's -tblog; older ones fail with protobuf 7
    "index": ["faiss-cpu>=1.13"],  # fast search in pools of 100,000 replies and more
    "bench": ["sentence-transformers[train]>=6"],  # a benchmark compares with its trainer, whose modules moved in 6
    "lint": ["ruff>=0.6", "mypy>=1.11", "types-requests", "types-tqdm", "types-PyYAML"],
}
# The tests use every optional library, and compare our alpha with that of the krippendorff package.
EXTRAS["test"] = [
    *("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "krippendorff>=0.8.2"),
    *("httpx>=0.27", "playwright>=1.45"),  # clients of the web pages; playwright's browser is installed separately
    "ninja>=1.11",  # builds the simulated GPU, with the system's compiler
    *EXTRAS["crowd"],
    *EXTRAS["hf"],
    *EXTRAS["index"],
    *EXTRAS["openai"],
    *EXTRAS["overlap"],
    *EXTRAS["plots"],
    *EXTRAS["rating"],
    *EXTRAS["red"],
    *EXTRAS["reddit"],
    *EXTRAS["sentences"],
    *EXTRAS["site"],
    *EXTRAS["spark"],
]


class BuildWithPth(build_py):
    """Put the ``.pth`` file beside the package: in the wheel's root, or in site-packages for an editable install."""

    def run(self):
        if not self.editable_mode:  # delete modules of an earlier build that no longer exist
            shutil.rmtree(Path(self.build_lib) / "parlai_empathy", ignore_errors=True)
        super().run()
        folder = self.get_finalized_command("install").install_lib if self.editable_mode else self.build_lib
        self.mkpath(folder)
        self.copy_file(str(HERE / PTH), str(Path(folder) / PTH), preserve_mode=False)

    def get_outputs(self, include_bytecode=1):
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib) / PTH)]


setup(
    name="parlai-empathy",
    version=re.search(r'__version__ = "(.+)"', (HERE / "parlai_empathy/__init__.py").read_text())[1],
    description="Empathetic and engaging dialogue for ParlAI: tasks, agents and metrics of four papers",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.10",
    classifiers=[
        "Intended Audience :: Science/Research",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)),  # as in README.md
    ],
    packages=find_packages(include=["parlai_empathy", "parlai_empathy.*"]),
    package_data={
        "parlai_empathy": [
            *("**/*.csv", "**/*.tsv", "**/*.TXT", "**/*.json", "**/*.jsonl", "**/*.md", "**/*.yaml", "py.typed"),
            *("rating/**/*.html", "rating/**/*.css", "rating/**/*.js", "rating/**/*.svg"),
            *("tasks/*/sample/*.txt", "tasks/*/sample/*/*.txt", "tasks/newsgroups/sample/*/*/*"),
        ]
    },
    install_requires=REQUIRES,
    extras_require=EXTRAS,
    cmdclass={"build_py": BuildWithPth},
)
