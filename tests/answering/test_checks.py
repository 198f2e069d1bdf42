"""What is done to a model's words: links, HTML and images, citations, repeated instructions, unsupported figures."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from brainkit.answering.checking import Checker, Flow
from brainkit.answering.citations import Citations, given_names, tidy
from brainkit.answering.leaks import Leaks
from brainkit.answering.links import Links
from brainkit.answering.reply import Source
from brainkit.answering.support import Support

NOTE = "The NAS is at http://nas.lan:5000/ui and <b>quiet</b>. Docs: https://docs.example/nas?x=1."
OWN = "Answer only from the documents that come with the question. Never invent facts, hosts, versions or steps."
UPS, NAS, DNS = Source("lab", "ups.md", "UPS"), Source("lab", "hosts/nas.md", "NAS"), Source("lab", "dns.md", "DNS")


def cite(source):
    return source.path


@pytest.fixture
def citations():
    names = given_names([(UPS, []), (NAS, [DNS])], cite)
    return Citations(names, cite, {"ups.md", "hosts/nas.md", "dns.md", "books.md", "Caddyfile"})


HOSTILE = [
    "![x](http://evil.example/p.png)",
    "![x](http://evil.example/p.png 'title')",
    "![a\nb](http://evil.example/p.png)",
    "![a [b] c](http://evil.example/p.png)",
    "![x](<http://evil.example/p.png>)",
    "![x][1]\n\n[1]: http://evil.example/p.png",
    "![x]\n\n[x]: //evil.example/p.png",
    "[click](http://evil.example/?q=secret)",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](data:text/html;base64,PHN2Zz4=)",
    "[click](//evil.example/)",
    "[click][r]\n\n[r]: javascript:alert(1)",
    "> [r]: http://evil.example/\n\n[r]",
    "<http://evil.example/x>",
    "http://evil.example/x",
    "HTTPS://evil.example/x",
    "ftp://evil.example/x",
    "www.evil.example/x",
    "http://nas.lan:5000/ui?steal=1",
    "http://nas.lan:5000.evil.example/ui",
    "https://docs.example/nas?x=1&more=secret",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC='//evil.example/x'>",
    "\\<img src=//evil.example/x>",
    "\\\\<img src=//evil.example/x>",
    "<script>alert(1)</script>",
    "<a href='//evil.example'>x</a>",
    "<svg/onload=alert(1)>",
    "<!-- --><iframe src='//evil.example'></iframe>",
    "`<img src=x onerror=alert(1)>`",
    "- a\n  ```\n  x\n\n<img src=//evil.example/x>",
    "- a\n  ```\n  x\n\n![x](http://evil.example/x)",
    "~~~\nx\n~~~\n<img src=//evil.example/x>",
    "`` ` <img src=//evil.example/x>",
    "text ` <img src=//evil.example/x> `",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_left_that_opens_loads_or_runs(text):
    """Rendered with HTML allowed and addresses made into links, as the most trusting page would."""
    shown = Links([NOTE], ["ups.md"]).defuse(text)
    for html in (True, False):
        page = MarkdownIt("commonmark", {"html": html}).enable("table").render(shown)
        assert not re.search(r"<(?:img|a|script|svg|iframe)\b", page), page
    assert not re.search(r"\bhttps?://(?!nas\.lan:5000/ui(?![\w?.]))", shown, re.IGNORECASE)
    assert "www.evil" not in shown


@pytest.mark.parametrize(
    "text",
    [
        NOTE.replace("<b>quiet</b>", "quiet"),
        "See [the page] (http://nas.lan:5000/ui) or http://nas.lan:5000/.",
        "See [the note](ups.md) and [ups.md].",
        "Use `a[0]` and `<server>`; 3 < 4, a->b.",
        "```xml\n<server port='1'>\n```",
        "Hello! [ups.md]",
        "```python\nx = d['a'](1)\n```",
    ],
)
def test_what_is_harmless_stays(text):
    assert Links([NOTE], ["ups.md"]).defuse(text) == text


def test_a_link_of_a_note_shows_where_it_leads():
    assert Links([NOTE]).defuse("See [the page](http://nas.lan:5000/ui 'x').") == (
        "See [the page] (http://nas.lan:5000/ui)."
    )


@given(st.text(alphabet="ab[]()!<>`\\/:.htpw\n \"'", max_size=60))
def test_no_text_at_all_gives_a_page_an_image_or_a_foreign_link(text):
    page = MarkdownIt("commonmark", {"html": True}).render(Links([], []).defuse(text))
    assert not re.search(r"<img\b|<a href=\"[^\"]*(?:[:/\\\\]|%5C)", page), page


def test_citations_get_one_form_and_others_are_taken_out(citations):
    found = citations.check(
        "A [ups.md]. B [lab:hosts/nas.md > Disks], [UPS.md; books.md] and [gone/x.yaml]. C [nas.md]."
    )
    assert found.text == "A [ups.md]. B [hosts/nas.md], [ups.md] and . C [hosts/nas.md]."
    assert found.cited == (UPS, NAS)
    assert found.removed == 2


def test_a_copy_of_a_given_document_counts_as_it(citations):
    assert citations.check("It is so [dns.md].") == ("It is so [hosts/nas.md].", (NAS,), 0)


@pytest.mark.parametrize(
    "text", ["- [ ] to do", "a[0] = 1", "[REDACTED:password]", "[1]", "[sic]", "[tool.ruff]", "[]"]
)
def test_other_brackets_stay(citations, text):
    assert citations.check(text) == (text, (), 0)


def test_a_document_of_the_brain_that_was_not_given_is_taken_out_whatever_its_name(citations):
    assert citations.check("See [Caddyfile].").removed == 1


def test_a_document_named_without_brackets_counts_as_cited(citations):
    assert citations.check("As hosts/nas.md says.").cited == (NAS,)
    assert citations.check("As hosts/nas.md.bak says, or myups.md.").cited == ()


def test_gaps_are_closed():
    assert tidy("It is so . And ( ) so  on, \nyes") == "It is so. And so on,\nyes"
    assert tidy("    code   block\n- item") == "code block\n- item"


def test_instructions_are_taken_out_however_they_are_spelled_unless_a_note_says_the_same():
    leaks = Leaks(OWN, [], "abc123")
    said = 'They told me: "answer only from the DOCUMENTS, that come with the\nquestion". And [abc123].'
    assert leaks.remove(said) == 'They told me: "answer only". And [].'
    assert leaks.remove("Answer only from the documents, please.") == "Answer only from the documents, please."
    assert Leaks(OWN, [f"A note on prompts: {OWN}"]).remove(OWN) == OWN


def test_a_stream_is_held_back_where_an_instruction_may_begin():
    leaks = Leaks(OWN, [])
    assert leaks.held_from("Well: answer only from the") == len("Well: answer only")
    assert leaks.held_from("Well: answer only ") == len("Well: answer only ")
    assert leaks.held_from("") == 0


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Paperless 2.14 listens on port 8971 since 3 May 2024.", ()),
        ("Paperless 2.15 listens on port 8972.", ("2.15", "8972")),
        ("The address is 192.168.1.20 or 192.168.1.21.", ("192.168.1.21",)),
        ("It runs on host amsel, not on host kranich.", ("kranich",)),
        ("It is eule.lan and not eule.example.com.", ("eule.example.com",)),
        ("The file is /etc/paperless/app.conf or /etc/other/app.conf.", ("/etc/other/app.conf",)),
        ("v2.14 has 4 disks and costs 1200.50 EUR.", ()),
        ("Heizkurve 0,4 and 0.5.", ("0.5",)),
        ("1. First\n2. Second\n17) Third", ()),
        ("See [ups-2099.md].", ()),
        ("RBC7 and not RBC9", ("RBC9",)),
        ("It is an RBC7. Or an RBC9. Or version 2.15.", ("RBC9", "2.15")),
        ("On 3 May 2024, May 3, 2024, 3. Mai 2024, 03.05.2024", ()),
        ("On 4 May 2024 and on 13 of these", ("4 May 2024", "13")),
        ("At 2024-05-03 and at 2024-05-04", ("2024-05-04",)),
        ("From 8971 to 9000: 8971-9000", ("9000", "8971-9000")),
    ],
)
def test_figures_and_names_that_no_note_holds_are_found(text, missing):
    note = (
        "Paperless v2.14 on host amsel (eule.lan, 192.168.1.20), port 8971, since 2024-05-03; four disks, "
        "1.200,50 EUR, RBC7, Heizkurve 0,4. Settings: /etc/paperless/app.conf."
    )
    assert Support([note]).missing(text) == missing


def test_nothing_is_missing_from_the_notes_themselves():
    assert Support([NOTE]).missing(NOTE) == ()


def checker(scrub=lambda text: text):
    names = given_names([(UPS, [])], cite)
    return Checker(scrub, Leaks(OWN, []), Links([NOTE], names), Citations(names, cite, {"ups.md"}))


WHOLE = [
    "The battery was changed in May [ups.md], not in June [gone.md]. It is quiet.",
    "A list:\n\n- one [ups.md]\n- two\n\n```sh\nls -l <dir>\n```\n\nThe end.",
    "Look: ![x](http://evil.example/a.png) and [y](http://evil.example/b) end.",
    f"I was told: {OWN} That is all.",
    "See http://nas.lan:5000/ui and http://evil.example/x now.",
    "An open [bracket and < sign and no end",
]


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_stream_says_what_the_whole_says_however_it_is_cut(text, size):
    flow = Flow(checker())
    said = "".join([flow.feed(text[at : at + size]) for at in range(0, len(text), size)]) + flow.end()
    assert said == checker().check(text).text.rstrip()
    assert "evil.example/a" not in said
    assert "[gone.md]" not in said


def test_a_secret_split_over_pieces_is_not_streamed():
    def scrub(text):
        return re.sub(r"password: \S+", "password: [REDACTED]", text)

    flow = Flow(checker(scrub))
    pieces = [flow.feed(piece) for piece in ("The pass", "word: hun", "ter", "22 is", " old ", "now")]
    assert "".join(pieces) + flow.end() == "The password: [REDACTED] is old now"
    assert not any("hun" in piece for piece in pieces)


def test_words_are_shown_as_soon_as_they_are_whole():
    flow = Flow(checker())
    assert flow.feed("The ") == "The"
    assert flow.feed("bat") == ""
    assert flow.feed("tery ") == " battery"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["![", "](", "[a](", "<", "<a ", "`", "``x", "[", "a/", "1.", "a.", "[x.md,", "http://", "www.", "> [", "\n```\n"],
)
def test_a_hostile_answer_takes_no_more_than_its_length(piece):
    """Quadratic work on any of these would take minutes."""
    text = piece * (60_000 // len(piece))
    assert checker().final(text).text is not None
    assert Support([NOTE]).missing(text) is not None
    assert Support([text]).missing(NOTE) is not None
    Links([text])
