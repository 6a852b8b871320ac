#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the page of `wye info --html` strictly, offline. Tags must balance, nothing may be loaded, only the
page's own script may run, and a report with hostile names must add no tag. At the widths of a phone and of a desktop, nothing may
overflow the page, and a table may break a word only if the word is wider than its cell.

usage: page_check.py WYE HOSTILE_REPORT SAVED_REPORT [PICTURES]

PICTURES: a folder for chromium's pictures of the page of SAVED_REPORT.

chromium also opens the page, without a network. Without chromium the test fails on Debian, where tools/setup
installs it; elsewhere it says that no browser was tried.
"""
import base64
import hashlib
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

wye, hostile, saved, *pictures = sys.argv[1:]
VOID = {'meta', 'br', 'hr', 'img', 'input', 'link'}
ALLOWED = {'html', 'head', 'meta', 'title', 'style', 'body', 'h1', 'h2', 'h3', 'p', 'table', 'tr', 'th', 'td', 'details', 'summary', 'b',
           'code', 'div', 'input', 'label', 'li', 'path', 'rect', 'script', 'section', 'span', 'svg', 'text', 'time', 'ul'}
failures = []


class Page(html.parser.HTMLParser):
    def __init__(self, name):
        super().__init__(convert_charrefs=True)
        self.name, self.open, self.text, self.policy, self.script = name, [], '', '', ''

    def complain(self, what):
        failures.append(f'{self.name}:{self.getpos()[0]}: {what}')

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED:
            self.complain(f'tag <{tag}>')
        for key, value in attrs:
            if key in ('src', 'href', 'srcset', 'action', 'data', 'style') or key.startswith('on'):
                self.complain(f'attribute {key}={value}')
        attributes = dict(attrs)
        if attributes.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attributes['content']
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.complain(f'</{tag}> closes nothing')

    def handle_data(self, data):
        if self.open and self.open[-1] == 'style' and ('url(' in data or '@import' in data):
            self.complain('the style loads something')
        if self.open and self.open[-1] == 'script':
            self.script += data
        else:
            self.text += data


def check(name, *words):
    done = subprocess.run([wye, 'info', '--html', *words], stdout=subprocess.PIPE, check=False, timeout=600)
    source = done.stdout.decode('utf-8', errors='strict')
    page = Page(name)
    page.feed(source)
    page.close()
    if page.open:
        failures.append(f'{name}: open at the end: {page.open}')
    if not source.startswith('<!DOCTYPE html>') or "default-src 'none'" not in page.policy:
        failures.append(f'{name}: no doctype, or no policy that forbids loading')
    own = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    if f"script-src 'sha256-{own}'" not in page.policy or page.script.count('const box') != 1:
        failures.append(f'{name}: the policy allows another script than the page has')
    return source, page.text


source, shown = check('live')
listed = subprocess.run([wye, 'info', '-l'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                        timeout=600).stdout.decode()
for line in listed.splitlines():
    for part in line.split('\t'):
        if part not in shown:
            failures.append(f'the page does not show {part}')
_, text = check('hostile', '--from', hostile)
if '<script>alert(1)</script>' not in text:
    failures.append('the hostile name is not shown as text')

saved_source, saved_text = check('saved', '--from', saved)
for part in ('picked', '139 GiB', 'the same device, certain', 'Not reported: ', 'warning opencl: the plugin changes'):
    if part not in ' '.join(saved_text.split()):
        failures.append(f'the page of the saved report does not show {part}')
if '`' in saved_text or any(len(word) > 9 and word.isdigit() for word in saved_text.split()):
    failures.append('the page has backticks, or numbers without a unit')
browser = shutil.which('chromium')
if not browser and os.path.exists('/etc/debian_version') and 'ID=debian' in open('/etc/os-release', encoding='utf-8').read():
    failures.append('chromium is not installed. Fix: run tools/setup')
# Measures the page: its width and the window's, and the words of tables that are broken although they fit their cells.
MEASURE = '''<script>
const broken = [];
for (const cell of document.querySelectorAll('th, td')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node; node = walker.nextNode();)
        for (const match of node.data.matchAll(/[a-z0-9_]+/gi)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            const lines = range.getClientRects();
            const wide = [...lines].reduce((sum, line) => sum + line.width, 0);
            if (lines.length > 1 && wide < cell.clientWidth) broken.push(match[0]);
        }
}
const red = document.querySelector('.bad'), rows = () => [...document.querySelectorAll('details tr')].filter(r => !r.hidden).length;
const all = rows();
box.value = 'max_workgroup_size'; box.dispatchEvent(new Event('input'));
document.title = JSON.stringify({width: document.documentElement.scrollWidth, window: innerWidth, broken, all, found: rows(),
    red: red && getComputedStyle(red).color, reason: red && getComputedStyle(red.parentElement).color == getComputedStyle(document.body).color});
</script>'''


def browse(folder, name, page, *words):
    path = os.path.join(folder, f'{name}.html')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(page)
    return subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', f'--user-data-dir={folder}/profile',
                           '--host-resolver-rules=MAP * ~NOTFOUND', *words, 'file://' + path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=600).stdout.decode()


if browser:
    with tempfile.TemporaryDirectory() as folder:
        if '<h1>Devices</h1>' not in browse(folder, 'page', source, '--dump-dom'):
            failures.append('chromium does not show the page')
        for width in (375, 1280):
            # Chromium's windows cannot be as narrow as a phone, so the page is in a frame of that width.
            measured = re.sub(r'<meta http-equiv[^>]*>', '', saved_source).replace('</body>', MEASURE + '</body>')
            with open(os.path.join(folder, 'inner.html'), 'w', encoding='utf-8') as file:
                file.write(measured)
            frame = (f'<body style="margin:0"><iframe id="inner" src="inner.html" style="border:0;width:{width}px;height:3000px"></iframe>'
                     '<script>onload = () => document.title = inner.contentDocument.title</script>')
            dom = browse(folder, 'frame', frame, '--allow-file-access-from-files', '--virtual-time-budget=5000', '--dump-dom')
            title = re.search(r'<title>(.*?)</title>', dom)
            said = json.loads(html.unescape(title[1])) if title else {}
            if not said or said['width'] > said['window'] or said['window'] != width or said['broken'] or not 0 < said['found'] < said['all'] \
                    or said['red'] not in ('rgb(176, 0, 32)', 'rgb(255, 131, 137)') or not said['reason']:
                failures.append(f'at {width} px: {said or dom[:500]}')
            for scheme in ('light', 'dark') if pictures else ():
                with open(os.path.join(folder, 'inner.html'), 'w', encoding='utf-8') as file:
                    file.write(saved_source)
                browse(folder, 'frame', frame, f'--window-size={max(width, 500)},3000', f'--screenshot={os.path.abspath(pictures[0])}/{width}-{scheme}.png',
                       f'--blink-settings=preferredColorScheme={0 if scheme == "dark" else 1}')

print('\n'.join(failures) or f'ok, {"in chromium too" if browser else "no browser was tried"}')
sys.exit(1 if failures else 0)
