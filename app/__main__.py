"""`python -m app`."""

from app.cli.main import app

if __name__ == "__main__":
    app()
