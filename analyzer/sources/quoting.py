"""Text on its way into SQL."""


def sql_text(value: str) -> str:
    """A text as a literal of SQL, whatever it holds."""
    return "'" + value.replace("'", "''") + "'"
