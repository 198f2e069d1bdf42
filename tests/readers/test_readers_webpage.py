"""HTML becomes Markdown; nothing of it runs, hangs or swallows the rest."""

from __future__ import annotations

import time

import pytest

from brainkit.readers import Link
from brainkit.readers.webpage import html_page


@pytest.mark.parametrize(
    ("page", "content"),
    [
        ("<h1>One</h1>a<h3>Two &amp; three</h3><p>b", "# One\n\na\n\n### Two & three\n\nb\n"),
        ("<p>a  b\n c<p>d<br>e", "a b c\n\nd e\n"),
        ("<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></li></ul>e", "- a\n- b\n  1. c\n  2. d\n\ne\n"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n  b\n"),
        ("<pre>x = 1\n  y &lt; 2\n</pre>", "```\nx = 1\n  y < 2\n```\n"),
        ('<pre><code class="language-py">a\n```\nb</code></pre>', "````py\na\n```\nb\n````\n"),
        ("<p>run <code>ls</code>, <b>now</b> or <em>never</em>", "run `ls`, **now** or *never*\n"),
        (
            "<table><tr><th>Host<th>IP</tr><tr><td>eule<td>a|b</tr><tr><td>fuchs</tr></table>",
            "| Host | IP |\n| --- | --- |\n| eule | a\\|b |\n| fuchs |  |\n",
        ),
        ("<table><tr><td><p>layout</p></td></tr><tr><td>more</td></tr></table>", "layout\n\nmore\n"),
        ("<blockquote><p>said</blockquote>x", "> said\n\nx\n"),
        ("<style>a{}</style><script>if (a<b) '<p>no</p>'</script>yes<template><p>no</template>", "yes\n"),
        ("a<!-- <p>no --> b <![CDATA[no]]> c <?php no ?> d", "a b c d\n"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2\n"),
        ("<p># no heading<p>``` x", "\\# no heading\n\n\\``` x\n"),
        ("<pre>never closed", "```\nnever closed\n```\n"),
        ("<table><tr><td>a<td>b", "| a | b |\n| --- | --- |\n"),
        ("<svg/><p>after", "after\n"),
        ('<img alt="a map"> here', "a map here\n"),
        ("<dl><dt>a</dt><dd>b</dd></dl></ul></table></pre></blockquote>", "a\n\nb\n"),
    ],
)
def test_html(page, content):
    assert html_page(page).content == content


def test_title_and_links():
    draft = html_page("<head><title>My\n page</title></head><title>no</title><p>See <a href='b.md#c'>that</a>.")
    assert (draft.title, draft.content) == ("My page", "See [that](b.md#c).\n")
    assert draft.edges == (Link("b.md", "c", "that", "markdown"),)


@pytest.mark.parametrize("href", ["javascript:alert(1)", "#top", "data:text/html,x", "", "a b", "a)b"])
def test_what_leads_nowhere_is_its_text_only(href):
    assert html_page(f'<a href="{href}">text</a>').content == "text\n"


@pytest.mark.parametrize(
    "page", ["", "<p> </p>", "<script>x</script>", "<script>x", "<!-- x", "<html><head></head></html>"]
)
def test_without_text_it_is_none(page):
    assert html_page(page) is None


def test_nested_50_000_deep_and_5_mb_long():
    words = "word " * 900_000
    assert html_page("<div>" * 50_000 + words + "</div>" * 50_000).content == words.strip() + "\n"
    assert html_page("<ul><li>" * 50_000 + "x").content.strip() == "- x"
    assert html_page("<table><tr><td>" * 50_000 + "x").content == "x\n"


HOSTILE = [
    "<!--",
    "<",
    "<a ",
    "</",
    "&",
    "<!",
    "<?",
    "<![CDATA[",
    '<p a="',
    "<script>",
    "<title>",
    "<pre>",
    "<svg>",
    "</p",
    "&#",
]


@pytest.mark.slow
@pytest.mark.parametrize("bit", HOSTILE)
@pytest.mark.parametrize("end", ["", ">"])
def test_time_grows_with_length_only(bit, end):
    """Eight times the text may take eight times as long, or 64 times were it quadratic; the limit lies between."""

    def seconds(size):
        page = bit * (size // len(bit)) + end
        started = time.process_time()
        html_page(page)
        return time.process_time() - started

    seconds(1000)
    assert seconds(320_000) < 28 * max(seconds(40_000), 0.005)


def test_a_long_cell_is_scrubbed_before_it_is_cut_short():
    """Of a secret that is cut off the rest would not be known any more; its quotes were written as entities."""
    page = f"<table><tr><th>a<th>b<tr><td>1<td>{'x ' * 95}key=&quot;{'k' * 40}&quot;</table>"
    content = html_page(page, lambda cell: cell.replace(f'key="{"k" * 40}"', "key=[REDACTED:x]")).content
    assert "key=[R" in content
    assert "kk" not in content
