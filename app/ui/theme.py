"""How the product looks: calm, paper and petrol, light and dark. Fonts come with Gradio, nothing is loaded from outside."""

from pathlib import Path

import gradio as gr

_ASSETS = Path(__file__).resolve().parent / "assets"

PETROL = gr.themes.Color(
    name="petrol",
    c50="#eef6f7",
    c100="#d6e9ec",
    c200="#aed3d9",
    c300="#7db7c1",
    c400="#4896a4",
    c500="#1f7585",
    c600="#14606f",
    c700="#114f5c",
    c800="#113f49",
    c900="#0f333b",
    c950="#082127",
)
SLATE = gr.themes.Color(
    name="slate",
    c50="#f7f8f8",
    c100="#eef0f1",
    c200="#dde1e4",
    c300="#c3cacf",
    c400="#8b979f",
    c500="#5f6c75",
    c600="#4a555d",
    c700="#38424a",
    c800="#242c32",
    c900="#171d21",
    c950="#0f1417",
)


def theme() -> gr.themes.Base:
    """The product's own theme."""
    base = gr.themes.Base(
        primary_hue=PETROL,
        secondary_hue=PETROL,
        neutral_hue=SLATE,
        font=[gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "system-ui", "sans-serif"],
        font_mono=[gr.themes.LocalFont("IBM Plex Mono", weights=(400,)), "ui-monospace", "monospace"],
        radius_size=gr.themes.sizes.radius_sm,
    )
    return base.set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        block_border_width="0px",
        block_shadow="none",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_label_text_color="*neutral_600",
        block_label_text_color_dark="*neutral_300",
        block_title_text_color="*neutral_600",
        block_title_text_color_dark="*neutral_300",
        input_background_fill="white",
        input_background_fill_dark="*neutral_900",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_700",
        input_border_color_focus="*primary_500",
        input_border_color_focus_dark="*primary_400",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_500",
        button_primary_text_color="white",
        button_cancel_background_fill="#9b2c2c",
        button_cancel_background_fill_hover="#822727",
        button_cancel_background_fill_dark="#9b2c2c",
        button_cancel_text_color="white",
        button_cancel_text_color_dark="white",
    )


def head() -> str:
    """What the page needs before anything is drawn: its language, its style, and the script that puts messages in place.

    The style sheet is not handed to Gradio, which would add a second copy of every rule under a selector of its own.
    """
    style = "\n".join(path.read_text(encoding="utf-8") for path in sorted(_ASSETS.glob("*.css")))
    script = "\n".join(path.read_text(encoding="utf-8") for path in sorted(_ASSETS.glob("*.js")))
    return f'<meta name="referrer" content="no-referrer"><style>{style}</style><script>{script}</script>'
