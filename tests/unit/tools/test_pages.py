#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages made by tools/pages.py against their source.

usage: test_pages.py FILE.md PAGE.html PAGE.7 tools/pages.py
The HTML must be well formed, and both pages must have every heading and every line of code, in order.
The last line is "N passed, N failed". The exit status is 1 if something failed.
"""
import html.parser
import re
import subprocess
import sys
import tempfile

VOID = {'meta'}
REQUESTS = {'TH', 'SH', 'SS', 'PP', 'IP', 'RS', 'RE', 'nf', 'fi', 'TS', 'TE', 'BR'}
passed = failed = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f'FAILED {what}')


def source_parts(text):
    """Headings and lines of code, in order."""
    parts, code = [], False
    for line in text.split('\n'):
        if line.startswith('```'):
            code = not code
        elif code:
            parts.append(line)
        elif line.startswith('    '):
            parts.append(line[4:])
        elif re.match('##', line):
            parts.append(line.lstrip('#').strip().replace('`', ''))
    return parts


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.parts, self.text = [], [], [], [], ''

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attrs if name == 'id']
        self.links += [value for name, value in attrs if name == 'href']
        if tag in ('h2', 'h3', 'pre'):
            self.text = ''

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f'</{tag}> closes its tag')
        if tag in ('h2', 'h3', 'pre'):
            self.parts += self.text.split('\n')


def plain(line):
    """The printed text of a line of roff."""
    line = re.sub(r'\\f[BIR]', '', line)
    for escape, text in (('\\&', ''), ('\\-', '-'), ('\\(ha', '^'), ('\\(ti', '~'), ('\\(ga', '`'),
                         ('\\(aq', "'"), ('\\e', '\\')):
        line = line.replace(escape, text)
    return line


def in_order(parts, page, what):
    at = 0
    for part in parts:
        while at < len(page) and page[at] != part:
            at += 1
        check(at < len(page), f'{what} has, in its place: {part}')
        if at == len(page):
            return
        at += 1


source, html_file, man_file = (open(name, encoding='utf-8').read() for name in sys.argv[1:4])
wanted = source_parts(source)
check(len(wanted) > 500, 'the source has headings and code')

page = Page()
page.feed(html_file)
check(not page.open, 'all tags are closed')
check(len(page.ids) == len(set(page.ids)), 'no id is there twice')
check(all(link[1:] in page.ids for link in page.links), 'links lead to headings')
in_order(wanted, page.parts, 'the HTML page')

lines = man_file.split('\n')
for line in lines:
    if line.startswith(('.', "'")) and not line.startswith(('.\\"', "'\\\"")):
        check(line[1:].split(' ')[0] in REQUESTS, f'known request: {line}')
printed = [plain(re.sub(r'^\.S[HS] ', '', line)) for line in lines]
folded = [part.lower() for part in wanted]
in_order(folded, [line.lower() for line in printed], 'the manual page')

# Wrong usage is refused, and writes nothing.
tool = sys.argv[4]
with tempfile.TemporaryDirectory() as folder:
    for words in ([], ['html'], ['pdf', sys.argv[1], folder + '/x'], ['man', sys.argv[1], folder + '/x']):
        done = subprocess.run([sys.executable, tool, *words], capture_output=True, text=True, check=False)
        check(done.returncode == 2 and done.stderr.startswith('usage:'), f'wrong usage: {words}')

print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
