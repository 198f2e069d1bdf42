"""Benchmarks beside other programs: `python -m eval.benchmarks.retrieval`, `.ingest`, `.hnsw`; see README.md here."""
