"""What other processes do in these tests, once they are told to: import, embed, read, scrub again."""

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


def use_small_steps():
    """Workers for the smallest import, a few texts at a time: more moments that differ."""
    workers.WORTH_BYTES, workers.GROUP_BYTES, backlog.BATCH = 0, 4000, 8


def act(pipe, settings, work, *arguments):
    """Open the brain, say so, wait for the word, work; the exit code tells whether it went well.

    In a process group of its own, which can be killed as a whole.
    """
    os.setsid()
    with Brain.open(Settings(**settings)) as brain:
        brain.recall("warm up")
        pipe.send("ready")
        pipe.recv()
        work(brain, *arguments)


def import_folders(brain, *folders):
    brain.import_paths(folders, prune=True)


def import_with_workers(brain, folder):
    use_small_steps()
    brain.import_paths([folder])
