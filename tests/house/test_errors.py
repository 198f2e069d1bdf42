"""The tree of errors is what its docstring draws, exit codes included."""

import re

from brainkit import errors


def test_the_docstring_draws_the_tree_as_it_is():
    drawn, path = {}, []
    for line in errors.__doc__.splitlines():
        if found := re.match(r"^(.*?)(\w+Error) +(?:exit code|(\d)  \w)", line):
            depth = len(found[1]) // 5
            path = [*path[:depth], found[2]]
            drawn[found[2]] = (path[-2] if depth else "Exception", int(found[3] or 1))
    real = {
        name: (kind.__bases__[0].__name__, kind.exit_code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert drawn == real
    assert len(real) == 15


def test_every_error_says_in_a_sentence_what_it_is_for():
    for name, kind in vars(errors).items():
        if isinstance(kind, type):
            assert kind.__doc__.endswith("."), name
