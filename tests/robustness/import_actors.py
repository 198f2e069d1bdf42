"""What other processes do in these tests: import folders once they are told to."""

from brainkit import Brain, Settings


def import_folders(pipe, url, home, folders):
    """Open the brain, say so, wait for the word, import; the exit code tells whether it worked."""
    with Brain.open(Settings(home=home, database_url=url, embedder="wordllama")) as brain:
        brain.recall("warm up")
        pipe.send("ready")
        pipe.recv()
        brain.import_paths(folders, prune=True)
