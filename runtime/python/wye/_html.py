# SPDX-License-Identifier: Apache-2.0
"""HTML tables that notebooks show for devices and reports."""
from __future__ import annotations

import html
from typing import Any, Iterable, Mapping


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return html.escape("" if value is None else str(value))


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows of values below a head."""
    lines = "".join("<tr>" + "".join(f"<td>{_cell(one)}</td>" for one in row) + "</tr>" for row in rows)
    names = "".join(f"<th>{_cell(name)}</th>" for name in head)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>"


def pairs(title: str, values: Mapping[str, Any]) -> str:
    """Names with their values. Those that are unknown or empty are left out."""
    return table((title, ""), ((name, value) for name, value in values.items()
                               if value is not None and value != ""))
