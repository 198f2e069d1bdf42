"""The scrub as a step of other people's LlamaIndex pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from pydantic import PrivateAttr

from brainkit.scrub.engine import Scrubber


class ScrubTransform(TransformComponent):
    """Takes the secrets out of the text, the metadata and the relations' metadata of nodes; put it FIRST in a pipeline.

    Where raw text is still kept in a LlamaIndex pipeline:

    - in the documents themselves that the reader returned: this component changes the nodes it is given in place, but a
      node that an earlier step made (a splitter before this one) has already copied its text;
    - in ``IngestionPipeline(docstore=...)``: the docstore is asked before the transformations run and keeps, under
      ``UPSERTS``, a hash of the raw text (no text), and under ``set_document`` calls of your own whatever you gave it;
    - in ``IngestionPipeline(cache=...)``: the cache's key is a hash of the raw text, its value the output of this step;
    - in ``SimpleDirectoryReader``'s ``file_path`` and ``file_name`` metadata, which are
      scrubbed here; but ``ref_doc_id`` and ``node_id``, which that reader can derive from the path
      (``filename_as_id=True``), are not, since other nodes point to them;
    - in extractors and embedders that run BEFORE this step, in their providers' logs, and in any callback handler or
      tracer that records the pipeline's inputs.

    Args:
        email: take e-mail addresses out too.
        rules: a TOML file with more rules and an allow-list.

    Example:
        >>> from llama_index.core.schema import TextNode
        >>> [node] = ScrubTransform()([TextNode(text="password: hunter2!")])
        >>> node.get_content()
        'password: [REDACTED:password]'
    """

    email: bool = False
    rules: Path | None = None
    _scrubber: Scrubber = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Reads the rules file once."""
        super().model_post_init(context)
        self._scrubber = Scrubber(email=self.email, rules=self.rules)

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """The same nodes, scrubbed in place."""
        for node in nodes:
            if isinstance(node, TextNode):
                node.text = self._clean(node.text)
            elif hasattr(node, "text_resource") and node.text_resource is not None and node.text_resource.text:
                node.set_content(self._clean(node.text_resource.text))
            node.metadata = self._clean(node.metadata)
            for related in node.relationships.values():
                for item in related if isinstance(related, list) else [related]:
                    item.metadata = self._clean(item.metadata)
        return nodes

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._scrubber.scrub(value).text
        if isinstance(value, dict):
            return {key: self._labelled(key, item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._clean(item) for item in value)
        return value

    def _labelled(self, key: object, value: Any) -> Any:
        """A value of metadata, judged with its key: ``{"password": "sunshine"}`` is a secret as a pair only."""
        if not isinstance(value, str):
            return self._clean(value)
        label = f"{key}: "
        pair = self._scrubber.scrub(f'{label}"{value}"').text if "\n" not in value and '"' not in value else ""
        return pair[len(label) + 1 : -1] if pair.startswith(label) else self._clean(value)
