"""What lies on disk, as Documents: scan a folder, decode and scrub each file, find its title, tags, links and date."""

from brainkit.readers.markdown import Block, blocks, front_matter_end
from brainkit.readers.model import Document, Format, FoundFile, Skipped, TextScrubber
from brainkit.readers.python import parse_python
from brainkit.readers.read import read
from brainkit.readers.scan import scan

__all__ = [
    "Block",
    "Document",
    "Format",
    "FoundFile",
    "Skipped",
    "TextScrubber",
    "blocks",
    "front_matter_end",
    "parse_python",
    "read",
    "scan",
]
