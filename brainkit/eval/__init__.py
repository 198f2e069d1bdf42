"""The evaluation harness: labelled questions in, a verdict with intervals out."""
