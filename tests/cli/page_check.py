#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the page of `wye info --html` strictly, offline. Tags must balance, nothing may be loaded, no
script may run, and a report with hostile names must add no tag.

usage: page_check.py WYE HOSTILE_REPORT

chromium also opens the page, without a network. Without chromium the test fails on Debian, where tools/setup
installs it; elsewhere it says that no browser was tried.
"""
import html.parser
import os
import shutil
import subprocess
import sys
import tempfile

wye, hostile = sys.argv[1:]
VOID = {'meta', 'br', 'hr', 'img', 'input', 'link'}
ALLOWED = {'html', 'head', 'meta', 'title', 'style', 'body', 'h1', 'h2', 'p', 'table', 'tr', 'th', 'td', 'details', 'summary'}
failures = []


class Page(html.parser.HTMLParser):
    def __init__(self, name):
        super().__init__(convert_charrefs=True)
        self.name, self.open, self.text, self.policy = name, [], '', ''

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

browser = shutil.which('chromium')
if not browser and os.path.exists('/etc/debian_version') and 'ID=debian' in open('/etc/os-release', encoding='utf-8').read():
    failures.append('chromium is not installed. Fix: run tools/setup')
if browser:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'page.html')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(source)
        dom = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={folder}/profile',
                              '--host-resolver-rules=MAP * ~NOTFOUND', '--dump-dom', 'file://' + path],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=600).stdout.decode()
        if '<h1>Devices</h1>' not in dom:
            failures.append('chromium does not show the page')

print('\n'.join(failures) or f'ok, {"in chromium too" if browser else "no browser was tried"}')
sys.exit(1 if failures else 0)
