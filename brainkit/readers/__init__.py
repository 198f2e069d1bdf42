"""What lies on disk, as Documents: scan a folder, decode, scrub and convert each file, find title, tags and links."""

from brainkit.readers.history import git_log
from brainkit.readers.markdown import Block, blocks, front_matter_end
from brainkit.readers.model import Document, Format, FoundFile, Link, Skipped, TextScrubber
from brainkit.readers.python import parse_python
from brainkit.readers.read import read_all
from brainkit.readers.scan import scan

__all__ = [
    "Block",
    "Document",
    "Format",
    "FoundFile",
    "Link",
    "Skipped",
    "TextScrubber",
    "blocks",
    "front_matter_end",
    "git_log",
    "parse_python",
    "read_all",
    "scan",
]
