#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of README.md from the source tree.

usage: pictures.py [--check]

Writes .github/parts.svg (the parts, with an arrow to each part whose headers a part includes or that it links) and
.github/dispatch.svg (the steps of a dispatch, in the order in which the sources call them). With --check writes nothing, and
fails if a picture differs from the sources. Exit status: 0 done, 1 a picture differs or a step is missing, 2 wrong usage.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 940

# Parts: name, folders, words below the name. A part that includes no other part stands in the lowest row.
PARTS = [
    ('applications', ['tools/wye', 'tools/bench', 'runtime/examples'], 'wye, wye bench, examples'),
    ('API', ['runtime/include'], 'wye.h, wye.hpp'),
    ('exec', ['runtime/exec', 'runtime/probe'], 'the library: runs requests'),
    ('route', ['runtime/route'], 'which device, which format'),
    ('plan', ['runtime/plan'], 'sizes, grids, bindings'),
    ('lower', ['runtime/lower'], 'OpenCL C, CUDA C, SPIR-V'),
    ('program', ['runtime/program'], 'text, checks, analysis'),
    ('cache', ['runtime/cache'], 'compiled programs kept'),
    ('registry', ['registry'], 'finds and opens plugins'),
    ('plugins', ['plugins'], 'cpu, cuda, vulkan, opencl'),
    ('sdk', ['plugin-abi/sdk'], 'helpers for plugins'),
    ('plugin ABI', ['plugin-abi/include'], 'wye/abi.h'),
]
# Applications include the API's headers and link the library.
LINKS = {'applications': {'exec'}}
# The steps: name, the file and the function that calls it, the call, the file that implements it, and what it decides.
DECIDE = ('runtime/exec/dispatch/decide.cpp', 'decide')
WHOLE = ('runtime/exec/dispatch/dispatch.cpp', 'dispatch_in_full')
STEPS = [
    ('resolve', DECIDE, r'\.resolve\(', 'runtime/exec/dispatch/resolve.cpp', 'live handles'),
    ('admit', DECIDE, r'\badmit\(', 'runtime/plan/admit.cpp', 'arguments, sizes, grid'),
    ('own', DECIDE, r'\bown\(', 'runtime/exec/dispatch/own.cpp', 'buffers of this device'),
    ('route', DECIDE, r'\broute\(', 'runtime/route/route.cpp', 'capabilities, format'),
    ('lower', DECIDE, r'\blower\(', 'runtime/exec/dispatch/lower.cpp', 'kernels and forms'),
    ('bind', DECIDE, r'\bbind\(', 'runtime/exec/dispatch/bind.cpp', 'list of operations'),
    ('submit', WHOLE, r'\bsubmit\(', 'runtime/exec/dispatch/submit.cpp', 'compile, run, wait'),
    ('report', WHOLE, r'\bmake_report\(', 'runtime/exec/dispatch/report.cpp', 'counts and times'),
]

STYLE = '''<style>
text{font:14px sans-serif;fill:#1f2328}.note{font-size:11.5px;fill:#59636e}.mono{font:11px monospace;fill:#59636e}
rect{fill:#f6f8fa;stroke:#8c959f}.driver{fill:#fff1e5;stroke:#bc4c00}path{fill:none;stroke:#8c959f;stroke-width:1.2}marker path{fill:#8c959f;stroke:none}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.note,.mono{fill:#9198a1}rect{fill:#151b23;stroke:#656c76}.driver{fill:#3d1300;stroke:#db6d28}
path{stroke:#656c76}marker path{fill:#656c76}}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
'''


def escape(text):
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')


def sources(folder):
    for path in sorted((ROOT / folder).rglob('*')):
        if path.suffix in ('.c', '.cpp', '.h', '.hpp'):
            yield path


def owner(include):
    """The part to which a header that an #include names belongs; None: the header is not Wye's."""
    first, _, rest = include.partition('/')
    if first == 'wye':
        if rest.startswith('sdk/'):
            return 'sdk'
        return 'API' if (ROOT / 'runtime/include/wye' / rest).exists() else 'plugin ABI'
    return {'exec': 'exec', 'route': 'route', 'plan': 'plan', 'lower': 'lower', 'program': 'program', 'cache': 'cache',
            'registry': 'registry', 'probe': 'registry', 'cpu': 'plugins'}.get(first)


def uses():
    """part -> the parts whose headers its sources include, or that it links."""
    out = {}
    for name, folders, _ in PARTS:
        found = set()
        for folder in folders:
            for path in sources(folder):
                for include in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(encoding='utf-8'), re.M):
                    found.add(owner(include))
        out[name] = (found - {None, name}) | LINKS.get(name, set())
    return out


def shortest(edges):
    """Removes each edge whose target can also be reached through other edges."""
    def reached(start, without):
        seen, open_ = set(), [to for to in edges[start] if to != without]
        while open_:
            part = open_.pop()
            if part not in seen:
                seen.add(part)
                open_ += edges[part]
        return seen
    return {part: {to for to in targets if to not in reached(part, to)} for part, targets in edges.items()}


def rows(edges):
    """Lists of parts; each part is above all that it uses."""
    height = {}

    def high(part, above=()):
        if part in above:
            raise SystemExit(f'pictures.py: {" -> ".join((*above, part))} is a circle. Fix: parts use others one way')
        if part not in height:
            height[part] = 1 + max((high(to, (*above, part)) for to in edges[part]), default=-1)
        return height[part]

    for part, _, _ in PARTS:
        high(part)
    return [[part for part, _, _ in PARTS if height[part] == level] for level in range(max(height.values()), -1, -1)]


def box(x, y, width, name, note, kind=''):
    middle = x + width / 2
    return (f'<rect x="{x:.0f}" y="{y}" width="{width}" height="46" rx="5"{kind}/>'
            f'<text x="{middle:.0f}" y="{y + 20}" text-anchor="middle">{escape(name)}</text>'
            f'<text class="note" x="{middle:.0f}" y="{y + 37}" text-anchor="middle">{escape(note)}</text>\n')


def svg(height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
            f'<title>{escape(title)}</title>\n{STYLE}{body}</svg>\n')


def parts_picture():
    edges = uses()
    levels = rows(edges)
    notes = {name: note for name, _, note in PARTS}
    wide, step, place, body = 172, 84, {}, ''
    gap = WIDTH / max(len(parts) for parts in levels)
    for level, parts in enumerate(levels):
        for number, part in enumerate(parts):  # a part that is alone in its row: above the second part of a full row, or in the middle
            column = number if len(parts) > 1 else 2 if part in ('sdk', 'plugin ABI') else 1
            place[part] = (gap * (column + 0.5), 8 + level * step)
    arrows = ''
    for part, targets in sorted(shortest(edges).items()):
        for to in sorted(targets, key=lambda name: place[name]):
            (x1, y1), (x2, y2) = place[part], place[to]
            if x1 != x2 and y2 - y1 > step:  # the arrow begins at the side of the box, and passes the rows in between
                x1 += wide / 2 if x2 > x1 else -wide / 2
                way = f'M{x1:.0f} {y1 + 23}C{x2:.0f} {y1 + 23} {x2:.0f} {y1 + 23} {x2:.0f} {y2 - 2}'
            else:
                lean = max(-80, min(80, (x2 - x1) / 4))
                way = f'M{x1 + lean:.0f} {y1 + 46}C{x1 + lean:.0f} {y1 + 76} {x2 - lean:.0f} {y2 - 30} {x2 - lean:.0f} {y2 - 2}'
            arrows += f'<path d="{way}" marker-end="url(#tip)"/>\n'
    for part, (x, y) in place.items():
        body += box(x - wide / 2, y, wide, part, notes[part], ' class="driver"' if part == 'plugins' else '')
    return svg(8 + (len(levels) - 1) * step + 54, 'The parts of Wye, and which part uses which', arrows + body)


def calls(place):
    """The body of a function, in which the steps must come in order."""
    path, function = place
    text = (ROOT / path).read_text(encoding='utf-8')
    found = re.search(rf'^Result<void> {function}\(.*?^}}', text, re.M | re.S)
    if not found:
        raise SystemExit(f'pictures.py: {path} has no function {function}. Fix: name it in STEPS')
    return found.group()


def dispatch_picture():
    at = {}
    for name, place, call, path, _ in STEPS:
        found = re.compile(call).search(calls(place), at.get(place, 0))
        if not found or not (ROOT / path).is_file():
            raise SystemExit(f'pictures.py: {place[0]} does not call {name} at this place, or {path} is missing. Fix: put STEPS in '
                             'the order of the sources')
        at[place] = found.end()
    wide, body, gap, half = 196, '', WIDTH / 4, len(STEPS) // 2
    for number, (name, _, _, path, note) in enumerate(STEPS):
        x, y = gap * (number % half) + (gap - wide) / 2, 8 + 92 * (number // half)
        body += box(x, y, wide, name, note, ' class="driver"' if name == 'submit' else '')
        body += f'<text class="mono" x="{x + wide / 2:.0f}" y="{y + 62}" text-anchor="middle">{path.removeprefix("runtime/")}</text>\n'
        if number == half:
            last = gap * (half - 0.5)
            body += (f'<path d="M{last + wide / 2:.0f} 31H{WIDTH - 6}V84H{x + wide / 2:.0f}V{y - 2}" marker-end="url(#tip)"/>\n')
        elif number:
            body += f'<path d="M{x - gap + wide:.0f} {y + 23}H{x - 1:.0f}" marker-end="url(#tip)"/>\n'
    return svg(170, 'The steps of a dispatch', body)


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    status = 0
    for name, picture in (('parts.svg', parts_picture()), ('dispatch.svg', dispatch_picture())):
        path = ROOT / '.github' / name
        if sys.argv[1:]:
            if not path.is_file() or path.read_text(encoding='utf-8') != picture:
                print(f'.github/{name} does not show the sources. Fix: run tools/docs/pictures.py')
                status = 1
        else:
            path.write_text(picture, encoding='utf-8')
    return status


if __name__ == '__main__':
    sys.exit(main())
