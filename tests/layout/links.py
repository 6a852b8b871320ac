#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a link of a Markdown document leads to no file or heading of the source tree, if the table of files in
registry/README.md does not name each file once, or if README.md has become long: more than 900 words, or runtime/README.md more
than 1,200."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_WORDS = {'README.md': 900, 'runtime/README.md': 1200}


def without_code(text):
    return re.sub(r'`[^`\n]*`', '', re.sub(r'^```.*?^```', '', text, flags=re.M | re.S))


def headings(path):
    """The names that GitHub gives to the headings of a document."""
    text = re.sub(r'^```.*?^```', '', path.read_text(encoding='utf-8'), flags=re.M | re.S)
    for title in re.findall(r'^#+ (.*)', text, re.M):
        yield re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')


def unlisted(readme):
    """A message for each file that the table of files does not name once, and for each name in the table without a file."""
    room, listed = '', []
    for place, names in re.findall(r'^\| *(?:`([a-z]+/)`)? *\| ((?:`\w+`(?:, )?)+) \|', readme.read_text(encoding='utf-8'), re.M):
        room = place or room
        listed += [room + name for name in re.findall(r'`(\w+)`', names)]
    files = {str(path.relative_to(readme.parent).with_suffix('')).replace(f'include/{readme.parent.name}/', '')
             for path in readme.parent.rglob('*.[ch]pp')}
    for name in sorted(files.symmetric_difference(listed) | {name for name in listed if listed.count(name) > 1}):
        yield f'{readme.relative_to(ROOT)}: its table of files has {name} {listed.count(name)} times. Fix: name each file once'


def main():
    faults, count = [], 0
    for page in sorted(path for path in ROOT.rglob('*.md') if not path.relative_to(ROOT).parts[0].startswith('build')):
        for target in re.findall(r'\]\(([^)\s]+)\)', without_code(page.read_text(encoding='utf-8'))):
            name, _, part = target.partition('#')
            if re.match(r'[a-z]+:|@ref', target):
                continue
            count += 1
            place = (page.parent / name).resolve() if name else page
            if not place.exists():
                faults.append(f'{page.relative_to(ROOT)}: there is no {target}')
            elif part and place.suffix == '.md' and part not in headings(place):
                faults.append(f'{page.relative_to(ROOT)}: {name or "it"} has no heading #{part}')
    faults += unlisted(ROOT / 'registry/README.md')
    for name, most in MOST_WORDS.items():
        words = len((ROOT / name).read_text(encoding='utf-8').split())
        if words > most:
            faults.append(f'{name} has {words} words, above {most}. Fix: move what a first reader does not need to a page of its own')
    print('\n'.join(faults) or f'{count} links')
    return 1 if faults or count < 30 else 0


if __name__ == '__main__':
    sys.exit(main())
