"""Real installations, a regular and an editable one, each in a fresh environment, and ParlAI's own commands in them.

The environments see ParlAI, torch and the rest through a ``.pth`` file that names the running interpreter's
site-packages. Its ``.pth`` files are not processed, so what works here works because of the installation under test.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from processes import PACKAGE, PTH, REPOSITORY, SAMPLE, TINY, CleanPython, run, succeeded

from parlai_empathy.tasks.empathetic_dialogues.build import SAMPLE as SAMPLE_FILES

pytest.importorskip("pip")
if int(version("setuptools").split(".")[0]) < 77:
    pytest.skip("building needs setuptools 77, as pyproject.toml says", allow_module_level=True)

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
# No network access, and packages of the running interpreter must not count as installed.
OFFLINE = ["--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed"]
BUILTIN = ("-t", "empathetic_dialogues")  # ParlAI's own task


class Installed(CleanPython):
    """A fresh environment in which the package is installed, and a folder for data and models."""

    def __init__(self, folder: Path, kind: str) -> None:
        super().__init__(folder / "env")
        self.add_stack()
        self.work = folder / "work"
        self.work.mkdir()
        self.source = copy_of_the_repository(folder / "source")
        self.kind = kind
        target = ["--editable", "."] if kind == "editable" else ["."]
        succeeded(run([*PIP, "--python", self.python, "install", *OFFLINE, *target], self.source))

    def uninstall(self) -> None:
        succeeded(run([*PIP, "--python", self.python, "uninstall", "--yes", "parlai-empathy"], self.home))

    def run(self, *command: str | Path, stdin: str = "", **environment: str) -> str:
        """Run ``python <command>``, which must succeed; return what it writes to both streams."""
        environment = {"EMPATHY_MIRROR": str(self.work / "mirror"), **environment}
        result = succeeded(run([self.python, *command], self.work, stdin, **environment))
        return result.stdout + result.stderr

    def parlai(self, command: str, *options: str | Path, stdin: str = "") -> str:
        """Run ``parlai <command>`` as a module (ParlAI's script is not installed here); return the output."""
        return self.run("-m", "parlai", command, *options, "-dp", "data", stdin=stdin)

    def make_mirror(self) -> None:
        """A mirror with the sample in place of the data set: smaller, but in the same layout."""
        folder = self.work / "mirror" / "empatheticdialogues"
        folder.mkdir(parents=True)
        for file in SAMPLE_FILES.glob("*.csv"):
            shutil.copy(file, folder)


def copy_of_the_repository(folder: Path) -> Path:
    """A copy of the sources to build from, so that no files are left in the repository."""
    ignored = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "empathy_demo")
    shutil.copytree(REPOSITORY, folder, ignore=ignored)
    return folder


@pytest.fixture(scope="session", params=["normal", "editable"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment with the package installed, and a mirror of the data."""
    environment = Installed(tmp_path_factory.mktemp(request.param), request.param)
    environment.make_mirror()
    return environment


@pytest.fixture(scope="session")
def model(installed: Installed) -> Path:
    """A minimal model, trained in that environment on ParlAI's own task."""
    installed.parlai("train_model", *BUILTIN, *TINY, "-mf", "model/model", "--seed", "1")
    return installed.work / "model" / "model"


# --- what is installed -----------------------------------------------------------------------------------------------


def test_installed_package_is_imported(installed: Installed) -> None:
    home = installed.site if installed.kind == "normal" else installed.source
    assert installed("import parlai_empathy; print(parlai_empathy.__file__)") == f"{home}/parlai_empathy/__init__.py\n"
    assert (installed.site / PTH.name).read_text() == PTH.read_text()


def test_installation_adds_exactly_one_finder(installed: Installed) -> None:
    count = "import sys; print([type(finder).__name__ for finder in sys.meta_path].count('ParlaiFinder'))"
    assert installed(count) == "1\n"


def test_self_check_reports_ready_after_install(installed: Installed) -> None:
    output = installed.run("-m", "parlai_empathy")
    assert "Ready" in output
    assert "problem" not in output


@pytest.mark.parametrize("kind", ["normal", "editable"])
def test_uninstall_removes_all_files(tmp_path: Path, kind: str) -> None:
    environment = Installed(tmp_path, kind)
    assert (environment.site / PTH.name).is_file()
    environment.uninstall()
    assert [path.name for path in environment.site.iterdir() if "empathy" in path.name] == []
    assert environment("import sys; print([type(f).__name__ for f in sys.meta_path].count('ParlaiFinder'))") == "0\n"


def test_reinstall_over_existing_install_keeps_the_hook(tmp_path: Path) -> None:
    environment = Installed(tmp_path, "normal")
    for target in (["--editable", "."], ["."]):
        succeeded(run([*PIP, "--python", environment.python, "install", *OFFLINE, *target], environment.source))
        assert (environment.site / PTH.name).is_file()
        assert environment("import sys; print(type(sys.meta_path[0]).__name__)") == "ParlaiFinder\n"


# --- ParlAI's commands -----------------------------------------------------------------------------------------------


def test_parlai_help_lists_empathy_demo(installed: Installed) -> None:
    assert "empathy_demo" in installed.run("-m", "parlai", "--help")


def test_train_model_on_builtin_task_uses_the_mirror(installed: Installed, model: Path) -> None:
    assert model.is_file()
    built = installed.work / "data" / "empatheticdialogues" / "empatheticdialogues"
    assert (built / "train.csv").read_bytes() == (SAMPLE_FILES / "train.csv").read_bytes()


def test_eval_model_reports_precision_and_bleu(installed: Installed, model: Path) -> None:
    output = installed.parlai("eval_model", *BUILTIN, "-mf", model, "-dt", "test", "--report-filename", "report.json")
    assert "P@k,100|protocol:shuffled" in output  # the signature
    report = json.loads((installed.work / "report.json").read_text())["report"]
    assert 0 <= report["p_at_1_100_shuffled"] <= 1
    assert 0 <= report["avg_bleu"] <= 100


def test_interactive_replies_to_each_message(installed: Installed, model: Path) -> None:
    output = installed.parlai("interactive", "-mf", model, stdin="My cat ran away.\nShe is back!\n[EXIT]\n")
    replies = [line for line in output.splitlines() if "[Retrieval]: " in line]
    assert len(replies) == 2
    assert all(reply.split("]: ", 1)[1].strip() for reply in replies)


def test_self_chat_starts_with_an_utterance_from_the_data(installed: Installed, model: Path) -> None:
    options = ("-mf", model, *SAMPLE, "--num-self-chats", "1", "--selfchat-max-turns", "4", "--outfile", "chat.jsonl")
    installed.parlai("self_chat", *options, "--save-format", "conversations")
    [chat] = [json.loads(line) for line in (installed.work / "chat.jsonl").read_text().splitlines()]
    first = chat["dialog"][0][0]["text"]
    # A text as it is written in the file; fields end at commas.
    assert f",{first.replace(',', '_comma_')}," in (SAMPLE_FILES / "test.csv").read_text()


def test_display_data_accepts_teacher_and_option_in_task_name(installed: Installed) -> None:
    output = installed.parlai("display_data", "-t", "empathy:empathetic_dialogues:BothRoles:edition=sample", "-n", "5")
    # The turns of both roles except each conversation's first: rows of the file minus conversations.
    rows = (SAMPLE_FILES / "train.csv").read_text(encoding="utf-8").splitlines()[1:]
    expected = len(rows) - len({row.split(",")[0] for row in rows})
    assert f"loaded {expected} episodes with a total of {expected} examples" in output


def test_multiprocessing_train_saves_a_model(installed: Installed) -> None:
    installed.parlai("multiprocessing_train", *SAMPLE, *TINY, "-mf", "two/model", "--distributed-world-size", "2")
    assert (installed.work / "two" / "model").is_file()


def test_parlai_scripts_run_as_modules(installed: Installed) -> None:
    train = ("-m", "parlai.scripts.train_model", *SAMPLE, *TINY, "-mf", "module/model", "-dp", "data")
    installed.run(*train)
    output = installed.run(
        "-m", "parlai.scripts.eval_model", *SAMPLE, "-mf", "module/model", "-dt", "test", "-dp", "data"
    )
    assert "avg_bleu" in output


def test_saved_model_replies_without_importing_the_package(installed: Installed, model: Path) -> None:
    code = (
        "from parlai.core.agents import create_agent_from_model_file as load\n"
        f"agent = load({str(model)!r}, {{'interactive_mode': True}})\n"
        "print('class', type(agent).__module__)\nprint('reply', bool(agent.respond('My cat ran away.')))"
    )
    output = installed.run("-c", code).splitlines()
    assert "class parlai_empathy.agents.retrieval.retrieval" in output
    assert "reply True" in output


def test_zoo_model_is_fetched_from_the_mirror(installed: Installed, model: Path) -> None:
    folder = installed.work / "mirror" / "models" / "empathy" / "retrieval_sample"
    folder.mkdir(parents=True)
    for ending in ("", ".opt", ".dict", ".pool"):
        shutil.copy(f"{model}{ending}", folder / f"model{ending}")
    name = "zoo:empathy/retrieval_sample/model"
    assert "avg_bleu" in installed.parlai("eval_model", *SAMPLE, "-mf", name, "-dt", "test")
    assert (installed.work / "data" / "models" / "empathy" / "retrieval_sample" / "model").is_file()


def test_command_line_errors_are_one_line(installed: Installed) -> None:
    command = ["-m", "parlai.scripts.display_data", *SAMPLE, "--ed-history", "0", "-dp", "data"]
    result = run([installed.python, *command], installed.work)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: --ed-history 0")


# --- distributions ---------------------------------------------------------------------------------------------------


def python_here(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return succeeded(run([sys.executable, "-c", code], cwd))


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    source = copy_of_the_repository(folder / "source")
    python_here(f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})", source)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked", filter="data")
    [unpacked] = (folder / "unpacked").iterdir()
    left = unpacked / "build" / "lib" / "parlai_empathy" / "of_an_earlier_build.py"
    left.parent.mkdir(parents=True)
    left.touch()
    python_here(f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})", unpacked)
    return folder


def package_files(*endings: str) -> list[str]:
    found = (path for path in PACKAGE.rglob("*") if path.name.endswith(endings) and "__pycache__" not in path.parts)
    return sorted(str(path.relative_to(REPOSITORY)) for path in found)


def test_wheel_contains_hook_code_samples_and_readmes(distributions: Path) -> None:
    [wheel] = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.read(PTH.name).decode() == PTH.read_text()  # at the root, hence in site-packages
        record = archive.read(next(name for name in names if name.endswith("/RECORD"))).decode()
    assert PTH.name in [line.split(",")[0] for line in record.splitlines()]  # so that uninstalling finds it
    expected = package_files(".py", ".csv", ".md", "py.typed")
    assert any(name.endswith("sample/train.csv") for name in expected)
    assert [name for name in expected if name not in names] == []


def test_wheel_contains_no_other_files(distributions: Path) -> None:
    [wheel] = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if "of_an_earlier_build" in name] == []
    others = [name for name in names if not name.startswith("parlai_empathy/")]
    assert sorted({name.split("/")[0].split("-")[0] for name in others}) == ["parlai_empathy", PTH.name]
    assert all(name == PTH.name or ".dist-info/" in name for name in others)


def test_wheel_is_platform_independent(distributions: Path) -> None:
    [wheel] = distributions.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")


def test_metadata_omits_parlai_and_lists_extras(distributions: Path) -> None:
    [wheel] = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    assert not [line for line in required if line.lower().startswith("requires-dist: parlai")]
    assert any(line.startswith("Requires-Dist: torch") for line in required)
    assert {"Provides-Extra: hf", "Provides-Extra: test"} <= set(metadata.splitlines())
    assert "License-Expression: MIT" in metadata or "License: MIT" in metadata


def test_source_distribution_contains_build_and_data_files(distributions: Path) -> None:
    [unpacked] = (distributions / "unpacked").iterdir()
    for name in (PTH.name, "setup.py", "pyproject.toml", "README.md", "LICENSE", *package_files(".csv", ".md")):
        assert (unpacked / name).is_file(), name


def test_source_distribution_has_all_that_its_readme_and_makefile_name(distributions: Path) -> None:
    [unpacked] = (distributions / "unpacked").iterdir()
    links = re.findall(r"\]\((?!https?://)([^)#]+)", (unpacked / "README.md").read_text(encoding="utf-8"))
    assert "CONTRIBUTING.md" in links
    assert [link for link in links if not (unpacked / link).exists()] == []
    makefile = (unpacked / "Makefile").read_text(encoding="utf-8")
    assert "\ndemo:" in makefile
    scripts = re.findall(r"\$\(BIN\)/python (\w+/\w+\.py)", makefile)
    assert {Path(script).parent.name for script in scripts} == {"benchmarks", "docs"}
    needed = [*scripts, *re.findall(r"--constraint (\S+)", makefile)]
    assert [name for name in needed if not (unpacked / name).is_file()] == []


def test_source_distribution_has_the_tests(distributions: Path) -> None:
    """For ``make test``."""
    [unpacked] = (distributions / "unpacked").iterdir()
    ours = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "tests").rglob("*") if path.is_file()}
    kept = {path for path in ours if "__pycache__" not in path.parts}
    assert Path("tests/conftest.py") in kept
    assert sorted(path for path in kept if not (unpacked / path).is_file()) == []
