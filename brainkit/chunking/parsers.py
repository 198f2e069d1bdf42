"""LlamaIndex node parsers over the same chunking, for pipelines that are not brainkit's."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, ClassVar

from llama_index.core.bridge.pydantic import Field
from llama_index.core.node_parser import NodeParser
from llama_index.core.node_parser.interface import IdFuncCallable
from llama_index.core.node_parser.node_utils import build_nodes_from_splits
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode

from brainkit.chunking.chunk import chunk
from brainkit.settings import CHUNK_CAP_CHARS

if TYPE_CHECKING:
    from collections.abc import Sequence


def chunk_id(position: int, document: BaseNode) -> str:
    """The same id for the same document and position on every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"brainkit:{document.node_id}:{position}"))


class _Chunker(NodeParser):
    """Text verbatim, ``metadata["heading"]`` beside it, the cap held whatever ``target`` says."""

    format: ClassVar[str]
    target: int = Field(default=1000, ge=1, description=f"Characters to aim at, never over {CHUNK_CAP_CHARS}.")
    overlap: int = Field(default=200, ge=0, description="Characters shared by pieces of one long section.")
    id_func: IdFuncCallable = Field(default=chunk_id, exclude=True)

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:  # noqa: ARG002, FBT
        made: list[BaseNode] = []
        for node in nodes:
            text = node.get_content(metadata_mode=MetadataMode.NONE)
            parts = chunk(text, self.format, target=self.target, overlap=self.overlap)
            built = build_nodes_from_splits([part.content for part in parts], node, id_func=self.id_func)
            for part, piece in zip(parts, built, strict=True):
                piece.metadata = {"heading": part.heading}
            made += built
        return made

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]) -> list[BaseNode]:
        """LlamaIndex's own, which takes a wrong place for a text that its document repeats: that gets none here."""
        repeated = [node for node in nodes if _stands_twice(node, parent_doc_map.get(node.ref_doc_id or ""))]
        made = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node in repeated:
            if isinstance(node, TextNode):
                node.start_char_idx = node.end_char_idx = None
        return made


def _stands_twice(node: BaseNode, document: Document | None) -> bool:
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    return document is not None and document.text.find(text, document.text.find(text) + 1) >= 0


class MarkdownChunker(_Chunker):
    """Markdown by headings."""

    format = "markdown"


class YamlChunker(_Chunker):
    """YAML by documents and keys."""

    format = "yaml"


class JsonChunker(_Chunker):
    """JSON, pretty-printed, by keys; text when it does not parse."""

    format = "json"


class PythonChunker(_Chunker):
    """Python by definitions; text when it does not parse."""

    format = "python"


class TextChunker(_Chunker):
    """Text by paragraphs."""

    format = "text"
