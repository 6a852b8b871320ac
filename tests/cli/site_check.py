#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation site, reads it strictly, and makes it again from headers with an undescribed function.

usage: site_check.py SOURCE THEME PAGE.md...

Each PAGE is the page of a verb in Markdown. Every link must lead to an existing page or anchor, and nothing may be loaded from
the network. chromium shows the start page, if it is installed. Without doxygen, which tools/setup installs, the test fails.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

source, theme, *verbs = sys.argv[1:]
source = pathlib.Path(source)
failures = []


class Page(html.parser.HTMLParser):
    """Links, anchors (`places`) and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.loads = set(), set(), set()
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.places |= {attributes[key] for key in ('id', 'name') if attributes.get(key)}
        if tag == 'a' and attributes.get('href'):
            self.links.add(attributes['href'])
        self.loads |= {attributes[key] for key in ('src', 'href') if tag != 'a' and attributes.get(key)}


def make(tree, output):
    themed = ['--theme', theme] if os.path.isdir(theme) else []
    return subprocess.run([sys.executable, source / 'tools/docs/make_site.py', tree, output, '0', *themed, *verbs],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)


def check_pages(folder):
    pages = {path.name: Page(path) for path in folder.glob('*.html')}
    count = 0
    for name, page in pages.items():
        for target in page.links | page.loads:
            place = urllib.parse.urlparse(target)
            count += 1
            if place.scheme in ('http', 'https', 'ftp', '') and (place.netloc or place.scheme):
                failures.append(f'{name} leads to {target}, which is not in the site')
            elif place.scheme == '' and place.path and not (folder / urllib.parse.unquote(place.path)).exists():
                failures.append(f'{name}: there is no {place.path}')
            elif place.fragment == 'nested-classes' or name.endswith('-members.html'):
                continue  # Doxygen 1.9.4 links to sections of private classes and unions that it leaves out
            elif place.scheme == '' and place.fragment and place.path.endswith(('.html', '')) and \
                    place.path in ('', *pages) and place.fragment not in pages[place.path or name].places:
                failures.append(f'{name}: there is no {target}')
    return len(pages), count


def check_start(folder, work):
    browser = shutil.which('chromium')
    if not browser:
        if os.path.exists('/etc/debian_version') and 'ID=debian' in pathlib.Path('/etc/os-release').read_text(encoding='utf-8'):
            failures.append('chromium is not installed. Fix: run tools/setup')
        return 'no browser was tried'
    dom = subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={work}/profile',
                          '--host-resolver-rules=MAP * ~NOTFOUND', '--dump-dom', f'file://{folder}/index.html'],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, timeout=600).stdout
    for part in ('Where to begin', 'Writing plugins', 'C API'):  # in the menu, which a script makes
        if part not in dom:
            failures.append(f'chromium does not show `{part}` on the start page')
    return 'in chromium too'


def check_gate(work):
    """A function without a comment, or a link that leads nowhere, is an error, and the site stays as it was."""
    tree, output = work / 'tree', work / 'kept'
    for folder in ('runtime/include', 'plugin-abi/include'):
        shutil.copytree(source / folder, tree / folder)
    output.mkdir()
    (output / 'mark').write_text('', encoding='utf-8')
    (tree / 'README.md').write_text('# Wye\n', encoding='utf-8')
    header = tree / 'runtime/include/wye/buffer.h'
    text = header.read_text(encoding='utf-8')
    header.write_text(text.replace('#ifdef __cplusplus\n}', 'WYE_API int wye_undescribed(int number);\n\n#ifdef __cplusplus\n}'), encoding='utf-8')
    done = make(tree, output)
    if done.returncode != 1 or 'wye_undescribed' not in done.stdout or 'Fix: ' not in done.stdout:
        failures.append(f'a function without a comment: status {done.returncode}\n{done.stdout}')
    if not (output / 'mark').exists():
        failures.append('a site that could not be made replaced the one before')


def main():
    if not shutil.which('doxygen'):
        print('doxygen is not installed. Fix: run tools/setup')
        return 1
    with tempfile.TemporaryDirectory(prefix='wye-site.') as name:
        work = pathlib.Path(name)
        done = make(source, work / 'html')
        if done.returncode != 0:
            print(done.stdout)
            return 1
        pages, links = check_pages(work / 'html')
        browser = check_start(work / 'html', work)
        check_gate(work)
        for verb in verbs:
            if not list((work / 'html').glob(f'{pathlib.Path(verb).stem}.html')):
                failures.append(f'there is no page of {verb}')
    print('\n'.join(failures[:40]) or f'{pages} pages, {links} links, {browser}')
    return 1 if failures or pages < 50 else 0


if __name__ == '__main__':
    sys.exit(main())
