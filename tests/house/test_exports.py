"""The exported names of every package, pinned: a name that comes or goes is a decision."""

import importlib
import importlib.metadata
import pkgutil

import pytest

import brainkit

EXPORTS = {
    "brainkit": """Brain BrainkitError Certificate Decision DeltaEvent DoneEvent Filters ImportReport Label Recall Reply
        RetrievalSettings Settings ThinkingEvent __version__""",
    "brainkit.answering": """DeltaEvent DoneEvent LLM Message Quote Reply Source Speaker Steering StreamEvent
        ThinkingEvent Usage deflection extract iterate logged make_llm reply_to suggest""",
    "brainkit.brain": "",
    "brainkit.chunking": "Chunk JsonChunker MarkdownChunker PythonChunker TextChunker YamlChunker chunk",
    "brainkit.cli": "",
    "brainkit.embedding": """EmbedResult Embedder MiniLMEmbedding ModelIdentity TokenVectors WordLlamaEmbedding
        make_embedder""",
    "brainkit.eval": "Evaluation evaluate",
    "brainkit.gate": """Calibration Certificate Count CrossFit Decision Drift EvidenceGate FEATURES GATES Gate Interval
        LabelledEvidence Outlook Scored StratumRate Threshold allowed_false_answers certificate_file certify
        clopper_pearson cross_fit decide drift exact_threshold gather joint_threshold labels_needed make_gate
        other_brain read_certificate
        shipped_threshold threshold_in_force""",
    "brainkit.gate.features": "FEATURES features",
    "brainkit.ingestion": """EmbedReport FileOutcome ImportReport Importer Model Models Preparer RescrubReport
        embed_pending list_models open_models preview rescrub""",
    "brainkit.interfaces": "",
    "brainkit.interfaces.http": "Tokens bind make_app make_server",
    "brainkit.labels": """DRAFTS FEEDBACK HiddenVariant Label Problem Relevant Review STRATA Said Topic VERDICTS check
        drafted given_labels hidden_variant label_of load merge save scrubbed settled topics verdict_of""",
    "brainkit.memory": "",
    "brainkit.readers": """Block Document Format FoundFile Link Skipped TextScrubber blocks front_matter_end git_log
        parse_python read_all scan""",
    "brainkit.retrieval": """ChunkReranker ContextDocument Evidence Filters FullDocumentPostprocessor HybridRetriever
        Recall RecalledChunk RecalledDocument RetrievalSettings Searcher absolute_score context_documents""",
    "brainkit.scrub": "SCRUB_VERSION Finding ScrubResult ScrubTransform Scrubber scrub",
    "brainkit.scrub.rules": "",
    "brainkit.store": """Change Database DocumentRow DocumentStore Entry LabelStore Language PendingChunk QueryLog
        StoredModel Term VectorStore detect_language document_terms make_entry question_terms serve_with
        stored_models""",
    "brainkit.store.migrations": "",
    "brainkit.store.migrations.versions": "",
    "brainkit.store.server": "EmbeddedServer Programs",
    "brainkit.widgets": """Calibrator Chat Comparison Labeller NotebookProgress Workbench compare_gates logged_questions
        open_workbench""",
}


def test_every_package_is_pinned():
    found = [module.name for module in pkgutil.walk_packages(brainkit.__path__, "brainkit.") if module.ispkg]
    assert sorted([*found, "brainkit"]) == sorted(EXPORTS)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_package_exports_what_is_pinned_and_all_of_it_is_there(name):
    package = importlib.import_module(name)
    exported = getattr(package, "__all__", [])
    assert sorted(exported) == sorted(EXPORTS[name].split())
    assert all(getattr(package, one) is not None for one in exported)


@pytest.mark.parametrize("name", [name for name in EXPORTS if EXPORTS[name]])
def test_what_is_not_there_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_that_name'"):
        _ = importlib.import_module(name).nothing_of_that_name


def test_version_is_that_of_the_distribution():
    assert brainkit.__version__ == importlib.metadata.version("brainkit")
