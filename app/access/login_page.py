"""The login page: own HTML without scripts, light and dark, in the colours of the interface."""

from html import escape

LOGIN_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2429; --soft: #4a555d; --paper: #ffffff; --ground: #f7f8f8; --edge: #858f97;
  --accent: #14606f; --on-accent: #ffffff; --bad: #8c2424; --bad-paper: #fdf1f0; --bad-line: #e3b4b0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecee; --soft: #aab5bc; --paper: #171d21; --ground: #0f1417;
  --edge: #6b7781; --accent: #7dc3cf; --on-accent: #082127; --bad: #f2b8b5; --bad-paper: #2e1a1a; --bad-line: #63302f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--ground);
  color: var(--ink); font: 16px/1.5 "IBM Plex Sans", system-ui, sans-serif; }
main { width: 100%; max-width: 360px; }
h1 { margin: 0; font-size: 24px; font-weight: 600; letter-spacing: -0.01em; color: var(--accent); }
.tagline { margin: 0 0 24px; color: var(--soft); font-size: 14px; }
label { display: block; margin: 16px 0 4px; font-weight: 600; font-size: 14px; }
input { width: 100%; padding: 10px 12px; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge);
  border-radius: 4px; }
button { width: 100%; margin-top: 24px; padding: 10px 12px; font: inherit; font-weight: 600; border: 0; border-radius: 4px;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.problem { margin: 0 0 8px; padding: 10px 12px; border: 1px solid var(--bad-line); border-radius: 4px; color: var(--bad);
  background: var(--bad-paper); }
.hint { margin-top: 24px; color: var(--soft); font-size: 14px; }
"""


def login_page(problem: str = "", name: str = "") -> str:
    """The page; `problem` is why the last attempt failed, `name` what was typed then. The password is never repeated."""
    shown = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    focus_name, focus_password = ("", " autofocus") if name else (" autofocus", "")
    return f"""<!doctype html>
<html lang="de">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Anmelden – pv-agent</title>
<link rel="icon" href="data:,">
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>pv-agent</h1>
<p class="tagline">Personalverrechnung Österreich – Antworten mit Beleg</p>
{shown}
<form method="post" action="/login">
<label for="name">Name</label>
<input id="name" name="name" value="{escape(name)}" autocomplete="username" autocapitalize="none" spellcheck="false"
 maxlength="60" required{focus_name}>
<label for="password">Passwort</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="256" required{focus_password}>
<button type="submit">Anmelden</button>
</form>
<p class="hint">Kein Konto oder Passwort vergessen? Ihre Administration hilft weiter.</p>
</main>
</body>
</html>
"""
