"""The language model as a judge of notes: first-token probabilities, sampled replies, the notes it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from brainkit.answering.llm import CONNECT_SECONDS, LLM
from brainkit.answering.prompt import ANSWER_SHARE, tokens
from brainkit.embedding.faults import Kind, fault_of
from brainkit.embedding.hosts import is_loopback
from brainkit.errors import LLMUnavailableError
from brainkit.gate.judging import Note
from brainkit.retrieval import Recall, RecalledDocument, RetrievalSettings, context_documents
from brainkit.retrieval.context import GAP, sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llama_index.core.llms import ChatResponse

CANDIDATES: Final = 20
"""Candidates for the first token that are asked for: the most that servers give."""
SAMPLE_TOKENS: Final = 1024
"""Room for a sampled reply, thinking included."""
OVERHEAD: Final = 300
"""Tokens of the judge's own prompt and of a chat template."""
RETRIES: Final = 1


class LLMJudge:
    """Asks a language model for one word; each call has a connection of its own."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The model."""
        return self._llm.model

    def first_token(self, prompt: str) -> Mapping[str, float] | None:
        """Log-probability of each of up to 20 candidates for the first token; None if the server tells none.

        Raises:
            LLMUnavailableError: it does not answer.
        """
        response = self._chat(prompt, temperature=0.0, max_tokens=1, logprobs=True, top_logprobs=CANDIDATES)
        if response is None or not response.logprobs:
            return None
        return {candidate.token: candidate.logprob for candidate in response.logprobs[0]}

    def sample(self, prompt: str, temperature: float) -> str:
        """One reply.

        Raises:
            LLMUnavailableError: it does not answer.
        """
        response = self._chat(prompt, temperature=temperature, max_tokens=SAMPLE_TOKENS)
        return (response.message.content or "") if response else ""

    def _chat(self, prompt: str, **values: Any) -> ChatResponse | None:
        """The server's reply; None if it will not have such a call."""
        import openai
        from llama_index.core.llms import ChatMessage

        address = self._llm.address
        local: dict[str, Any] = {"trust_env": False} if is_loopback(address) else {}
        try:
            timeout = openai.Timeout(self._llm.timeout, connect=min(self._llm.timeout, CONNECT_SECONDS))
            with openai.DefaultHttpxClient(
                follow_redirects=False, timeout=timeout, verify=address.startswith("https:"), **local
            ) as client:
                model = self._llm.llama(max_retries=RETRIES, http_client=client, **values)
                return model.chat([ChatMessage(role="user", content=prompt)])
        except Exception as error:
            fault = fault_of(error, self._llm.llama().api_key or "")
            if fault.kind is Kind.REPLY and values.get("logprobs"):
                return None
            raise LLMUnavailableError(
                f"The model {self._llm.model} at {self._llm.address} does not judge the notes ({fault.detail}). "
                "Start it or check BOR_LLM_BASE_URL and BOR_LLM_MODEL."
            ) from error


def notes_to_judge(recall: Recall, context: int) -> list[Note]:
    """The documents an answer would be given, best first, as many as fit; one that is too large as its found sections.

    Args:
        recall: of the question.
        context: tokens of the model's window.
    """
    left = context - OVERHEAD - tokens(recall.question) - min(SAMPLE_TOKENS, context // ANSWER_SHARE)
    notes: list[Note] = []
    for document, _ in context_documents(recall, RetrievalSettings.parse(recall.settings).docs):
        text = document.content
        if tokens(text) > left and not notes:
            text = _found(recall, document, left)
        if text and tokens(text) <= left:
            notes.append(Note(f"{document.source}:{document.path}", text))
            left -= tokens(text)
    return notes


def _found(recall: Recall, document: RecalledDocument, left: int) -> str:
    """The chunks found of a document, best first, as many as fit."""
    text = ""
    for chunk in recall.chunks:
        if chunk.document_id == document.id:
            longer = text + (GAP if text else "") + sections([(chunk.heading, chunk.text)])
            text = longer if tokens(longer) <= left else text
    return text
