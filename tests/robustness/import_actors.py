"""What other processes do in these tests, once they are told to: import, embed, read, scrub again."""

import itertools
import os

from brainkit import Brain, Settings
from brainkit.ingestion import backlog, workers


def first_import(brain, folder):
    brain.import_paths([folder])


def again(brain, folder):
    brain.import_paths([folder], prune=True)


def embed(brain, _):
    brain.embed()


def rescrub(brain, _):
    brain.rescrub()
    brain.embed()


def act(pipe, settings, work, *arguments):
    """Open the brain, say so, wait for the word, work; the exit code tells whether it went well.

    In a process group of its own, which can be killed as a whole.
    """
    os.setsid()
    backlog.BATCH = 8  # more moments that differ
    with Brain.open(Settings(**settings)) as brain:
        brain.recall("warm up")
        pipe.send("ready")
        pipe.recv()
        if work is import_with_workers:
            arguments += (pipe,)
        work(brain, *arguments)


def import_folders(brain, *folders):
    brain.import_paths(folders, prune=True)


def import_with_workers(brain, folder, pipe=None):
    """Workers for the smallest import; says so when the first file is stored, as they take long to start."""
    workers.WORTH_BYTES, workers.GROUP_BYTES = 0, 4000
    told = itertools.count()

    def progress(*_):
        if pipe and not next(told):
            pipe.send("storing")

    brain.import_paths([folder], progress=progress)
