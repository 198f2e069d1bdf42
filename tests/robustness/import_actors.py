"""Another process for these tests: ``python import_actors.py URL HOME FOLDER...`` imports, once it is told to."""

import sys

from brainkit import Brain, Settings


def main(url, home, *folders):
    with Brain.open(Settings(home=home, database_url=url, embedder="wordllama")) as brain:
        brain.recall("warm up")
        print("ready", flush=True)
        sys.stdin.readline()
        brain.import_paths(folders, prune=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
