"""``python -m parlai_empathy``: check the installation, and print versions and problems."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from parlai_empathy import __version__, hook


def problems() -> list[str]:
    """Return what keeps ParlAI from working with this package, one line per problem."""
    found = []
    if not hook.is_installed():
        found.append("parlai_empathy.pth is not in site-packages, so ParlAI cannot find this package: install it again")
    try:
        import parlai  # noqa: F401
    except ModuleNotFoundError:
        found.append(hook.PARLAI_MISSING)
    found += [f"{name} is not installed: pip install {name}" for name in ("torch", "numpy") if find_spec(name) is None]
    return found


def main() -> int:
    """Print versions and problems; return the exit status, 0 if there is no problem."""
    print(f"parlai-empathy {__version__}, Python {sys.version.split()[0]}")
    for name in ("parlai", "torch", "numpy", "transformers"):
        try:
            print(f"{name} {version(name)}")
        except PackageNotFoundError:
            print(f"{name}: not installed")
    found = problems()
    for problem in found:
        print(f"problem: {problem}")
    print("Not ready." if found else "Ready: try `parlai empathy_demo`.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
