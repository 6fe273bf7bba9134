"""A page that is one file: text, tables and figures, with nothing to load from elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from samekind.reports.panels import Figure
from samekind.reports.picture import picture
from samekind.reports.style import BESIDE


@dataclass(frozen=True)
class Section:
    """A heading, a caption and a figure.

    ``figure`` is one figure, or several with a word about each, shown side by side where there is room.
    ``html`` is put into the page as it is; everything else is text, whatever characters it has. A ``folded``
    section shows its heading, and the rest when a reader opens it.
    """

    title: str
    caption: str
    figure: Figure | Mapping[str, Figure] | None = None
    html: str | None = None
    folded: bool = False


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole page as HTML."""
    style = files("samekind.reports").joinpath("page.css").read_text(encoding="utf-8")
    content = "\n".join(_section(section, f"s{number}") for number, section in enumerate(sections, start=1))
    whole = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="lead">{escape(lead)}</p>
</header>
<main>
{content}
</main>
</body>
</html>
"""
    # The name of a file may hold bytes that are no text.
    return whole.encode("utf-8", "backslashreplace").decode()


def table(heads: Sequence[str], lines: Iterable[Sequence[str]], *, strong: tuple[str, ...] = ()) -> str:
    """A table of texts; cells that begin with one of the ``strong`` words are bold."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return ruled_table(f"<tr>{head}</tr>", lines, strong=strong)


def ruled_table(head: str, lines: Iterable[Sequence[str]], *, strong: tuple[str, ...] = ()) -> str:
    """The same below rows of HTML."""

    def cell(text: str) -> str:
        return f"<td><b>{escape(text)}</b></td>" if text.startswith(strong) else f"<td>{escape(text)}</td>"

    body = "".join(f"<tr>{''.join(map(cell, line))}</tr>" for line in lines)
    inside = f"<thead>{head}</thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table class="promises">{inside}</table></div>'


def lines_table(names: Sequence[str], body: str) -> str:
    """Rows of HTML, which begin with a question and a measure, below the names of the other columns."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    return (
        f'<div class="scroll"><table class="lines"><thead><tr><td></td><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _section(section: Section, name: str) -> str:
    figures: Mapping[str, Figure] = {}
    if section.figure is not None:
        figures = section.figure if isinstance(section.figure, Mapping) else {"": section.figure}
    # A single figure that leaves room has its words beside it, and not a white field.
    narrow = len(figures) == 1 and all(figure.get_figwidth() <= BESIDE for figure in figures.values())
    css = "beside" if narrow else "below"
    heading = f"<h2>{escape(section.title)}</h2>"
    caption = f'<p class="caption">{escape(section.caption)}</p>'
    content = f"{section.html or ''}{_figures(figures, name, section.title)}"
    if section.folded:
        inside = f'<div class="{css}"><div>{caption}</div>{content}</div>'
        return f"<section><details><summary>{heading}</summary>{inside}</details></section>"
    return f'<section class="{css}"><div>{heading}{caption}</div>{content}</section>'


def _figures(figures: Mapping[str, Figure], name: str, title: str) -> str:
    shown = ""
    for number, (word, figure) in enumerate(figures.items(), start=1):
        description = f"{title}, {word}" if word else title
        drawing = picture(figure, name=f"{name}f{number}", description=description)
        label = f"<figcaption>{escape(word)}</figcaption>" if word else ""
        shown += f'<figure>{label}<div class="scroll">{drawing}</div></figure>'
    return f'<div class="figures">{shown}</div>' if shown else ""
