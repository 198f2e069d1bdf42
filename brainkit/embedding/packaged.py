"""Model files that come inside installed packages: found without running the package, and checked before use."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from brainkit.errors import EmbeddingError


def packaged_file(package: str, inner: str) -> Path:
    """Path of a file inside an installed package; the package itself is not imported.

    Raises:
        EmbeddingError: the package is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(f"The package {package} is not installed. Install brainkit again with its dependencies.")
    return Path(spec.submodule_search_locations[0]) / inner


def verified(path: Path, sha256: str) -> bytes:
    """Content of a file whose SHA-256 is as expected.

    Raises:
        EmbeddingError: it cannot be read or is another file; its vectors would not fit those already stored.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbeddingError(f"The model file {path} cannot be read: {error.strerror}.") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbeddingError(
            f"The model file {path} has sha256 {found[:16]}..., expected {sha256[:16]}...: it is damaged or another "
            "version. Install brainkit again with the pinned dependencies."
        )
    return content
