"""The frame of the page as HTML: header with what is served, and the first screen."""

from app.access.person import LOCAL_PERSON, Person
from app.ui import strings
from app.ui.html import attributes, button, escape
from app.ui.service import Overview


def header(overview: Overview | None, person: Person | None = None) -> str:
    """Name, purpose, what is served, what answers, and who is logged in.

    Without an overview the reason is said by the first screen; without accounts there is nobody to log out.
    """
    served = (_facts(overview) if overview else "") + _who(person)
    return f'<div class="pv-brand"><h1>{strings.PRODUCT}</h1><p>{strings.TAGLINE}</p></div><div class="pv-served">{served}</div>'


def _who(person: Person | None) -> str:
    if person is None or person == LOCAL_PERSON or not person.name:
        return ""
    return f'<p class="pv-who">{escape(person.name)} · <a href="{strings.LOGOUT_PATH}">{strings.LOGOUT}</a></p>'


def _facts(overview: Overview) -> str:
    entries = strings.counted(overview.entries, "Eintrag", "Einträge")
    topics = strings.counted(len(overview.topics), "Thema", "Themen")
    knows = f"{entries} · {topics} · neuester Stand {overview.newest_stand}"
    broken = overview.model_unavailable is not None
    css = "pv-mode pv-mode-broken" if broken else "pv-mode"
    reason = overview.model_unavailable or overview.model_reason
    model = "Zitatmodus" if overview.mode == "extractive" else overview.model
    degraded = "".join(
        f'<span class="pv-mode pv-mode-broken">⚠ {strings.CHANNEL_TEXT[channel]} ausgefallen</span>'
        for channel in overview.degraded
    )
    return (
        f'<p class="pv-knows">{escape(knows)}</p><p class="pv-answers"><span class="{css}">{escape(model)}</span>{degraded}'
        f'<span class="pv-reason"{attributes(title=reason)}>{escape(reason)}</span></p>'
    )


def welcome(overview: Overview | None, *, problem: str = "") -> str:
    """The first screen: what this is and six real questions; or why nothing can be asked.

    Without an overview and without a problem the first index is being built; the page's script then asks again.
    """
    parts = [f"<h2>{strings.WELCOME_TITLE}</h2><p>{strings.WELCOME_TEXT}</p>"]
    if overview is None and not problem:
        parts.append(
            f'<div class="pv-banner pv-starting" role="status"><p class="pv-banner-title"><span class="pv-pulse"></span>'
            f"{strings.STARTING_TITLE}</p><p>{strings.STARTING_TEXT}</p></div>"
        )
    if problem:
        parts.append(f'<div class="pv-banner pv-error" role="alert"><p>{escape(problem)}</p></div>')
    if overview:
        parts += [f'<p class="pv-banner pv-stopped">{escape(notice)}</p>' for notice in overview.notices]
    cards = "".join(button(question, "example", css="pv-example", question=question) for question in strings.EXAMPLES)
    parts.append(f'<h3 class="pv-small-title">{strings.EXAMPLES_TITLE}</h3><div class="pv-examples">{cards}</div>')
    if overview:
        parts.append(_topics(overview))
    return f'<div class="pv-welcome">{"".join(parts)}</div>'


def _topics(overview: Overview) -> str:
    listed = " · ".join(f"{escape(topic.name)}\N{NO-BREAK SPACE}({topic.entries})" for topic in overview.topics)
    count = strings.counted(len(overview.topics), "Thema", "Themen")
    summary = f"{strings.TOPICS_TITLE}: {count}, {strings.counted(overview.sections, 'Abschnitt', 'Abschnitte')}"
    return f'<details class="pv-details pv-topics"><summary>{summary}</summary><p>{listed}</p></details>'
