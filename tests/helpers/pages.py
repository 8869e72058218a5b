"""A report as a browser reads it, and the check that it loads nothing and runs no input."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Browser-like parser of a page: elements with attributes, and texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.shown, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & {*self.open}:
            self.shown.append(data)

    @property
    def text(self):
        return " ".join("".join(self.shown).split())

    @property
    def kinds(self):
        """The elements of the page, with the names of their attributes."""
        return {(tag, *sorted(attributes)) for tag, attributes in self.elements}

    def find(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


def check_is_closed(text):
    """Check that the page fetches nothing, and that names in it are only text."""
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "form", "b"}
    assert len(page.find("script")) == len(page.find("style")) == 1
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src", "xlink:href", "action", "srcset"):
                assert value.startswith("#") or value == "data:,", (tag, name, value)
    without_namespace = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest", without_namespace)
    assert len({*page.ids}) == len(page.ids)
    targets = [a["href"][1:] for a in page.find("a")]
    assert {*targets} <= {*page.ids}
    assert "default-src 'none'" in page.find("meta")[2]["content"]
