#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a page of this project as HTML or as a manual page.

usage: pages.py html FILE.md OUTPUT
       pages.py man FILE.md OUTPUT NAME SECTION ABOUT
       pages.py verb FILE.md OUTPUT

Reads the part of Markdown that the page uses: headings, paragraphs, lists, tables, blocks of code
between ``` marks or after four blanks, `code`, *emphasis* and **strong**. A list is a list of terms
if each item begins with `code`, a word in capitals, or both, and ": ". `man` gets NAME, SECTION and
ABOUT of the manual page as arguments. `verb` makes the manual page of a verb from the Markdown of
`wye help`: the title is NAME, the first paragraph is ABOUT. Exit status: 0 done, 2 wrong usage.
"""
import html
import re
import sys

TERM = re.compile(r'((?:`[^`]+`(?:, )?)*(?: ?[A-Z][A-Z=,.\[\]]*)?): (.*)', re.S)
INLINE = re.compile(r'`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*')


def blocks(text):
    """Yields (kind, value): heading levels h1 to h3, p, list, terms (pairs), table, code."""
    lines = text.split('\n')
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith('```'):
            end = lines.index('```', at + 1)
            yield 'code', '\n'.join(lines[at + 1:end])
            at = end + 1
        elif line.startswith('    '):
            begin = at
            while at < len(lines) and lines[at].startswith('    '):
                at += 1
            yield 'code', '\n'.join(line[4:] for line in lines[begin:at])
        elif re.match(r'#{1,3} ', line):
            marks, title = line.split(' ', 1)
            yield f'h{len(marks)}', title
            at += 1
        else:
            begin = at
            while at < len(lines) and lines[at].strip() and not re.match(r'```|#{1,3} ', lines[at]):
                at += 1
            part = lines[begin:at]
            if line.startswith('|'):
                rows = [[cell.strip() for cell in row.strip('|').split('|')] for row in part]
                yield 'table', [rows[0]] + rows[2:]
            elif line.startswith('- '):
                items = re.split(r'^- ', '\n'.join(part), flags=re.M)[1:]
                items = [' '.join(item.split()) for item in items]
                terms = [TERM.fullmatch(item) for item in items]
                yield ('terms', [term.groups() for term in terms]) if all(terms) else ('list', items)
            else:
                yield 'p', ' '.join(part)


# ---- HTML ---------------------------------------------------------------------------------------

STYLE = '''body{max-width:50em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#222;background:#fff}
pre{background:#f4f4f4;padding:.6em .8em;overflow-x:auto;line-height:1.35}code{font-size:.95em}
table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top}
h3{margin-top:2em;border-top:1px solid #ddd;padding-top:.6em}nav{columns:2}a{color:#0b57a4}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}pre{background:#282828}a{color:#7ab8f5}td,th{border-color:#555}}'''


def html_inline(text):
    def one(match):
        code, strong, emphasis = match.groups()
        if code:
            return f'<code>{html.escape(code)}</code>'
        return f'<b>{html.escape(strong)}</b>' if strong else f'<i>{html.escape(emphasis)}</i>'

    out, at = '', 0
    for match in INLINE.finditer(text):
        out += html.escape(text[at:match.start()]) + one(match)
        at = match.end()
    return out + html.escape(text[at:])


def anchor(title, used):
    words = [re.sub(r'[^a-z0-9_]', lambda m: f'-{ord(m[0]):x}', word) for word in title.lower().split()]
    name = '_'.join(words)
    assert name not in used, f'two headings {title}'
    used.add(name)
    return name


def html_page(text):
    body, contents, used, title = [], [], set(), ''
    for kind, value in blocks(text):
        if kind == 'h1':
            title = value
            body += [f'<h1>{html_inline(value)}</h1>', None]
        elif kind in ('h2', 'h3'):
            name = anchor(value, used)
            body.append(f'<{kind} id="{name}">{html_inline(value)}</{kind}>')
            if kind == 'h2':
                contents.append(f'<li><a href="#{name}">{html_inline(value)}</a></li>')
        elif kind == 'p':
            body.append(f'<p>{html_inline(value)}</p>')
        elif kind == 'list':
            body.append('<ul>' + ''.join(f'<li>{html_inline(item)}</li>' for item in value) + '</ul>')
        elif kind == 'terms':
            body.append('<dl>' + ''.join(f'<dt>{html_inline(term)}</dt><dd>{html_inline(about)}</dd>'
                                         for term, about in value) + '</dl>')
        elif kind == 'table':
            rows = [''.join(f'<{tag}>{html_inline(cell)}</{tag}>' for cell in row)
                    for tag, row in zip(['th'] + ['td'] * len(value), value)]
            body.append('<table>' + ''.join(f'<tr>{row}</tr>' for row in rows) + '</table>')
        else:
            body.append(f'<pre><code>{html.escape(value)}</code></pre>')
    menu = '<nav><ul>' + ''.join(contents) + '</ul></nav>'
    lines = [menu if line is None else line for line in body]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>\n'
            f'<style>{STYLE}</style></head>\n<body>\n' + '\n'.join(lines) + '\n</body></html>\n')


# ---- Manual page --------------------------------------------------------------------------------

def roff(text):
    text = text.replace('\\', '\\e').replace('-', '\\-').replace('^', '\\(ha').replace('~', '\\(ti')
    text = text.replace('`', '\\(ga').replace("'", '\\(aq')
    return '\\&' + text if text.startswith('.') else text


def roff_inline(text):
    out, at = '', 0
    for match in INLINE.finditer(text):
        code, strong, emphasis = match.groups()
        out += roff(text[at:match.start()])
        out += f'\\fB{roff(code or strong)}\\fR' if code or strong else f'\\fI{roff(emphasis)}\\fR'
        at = match.end()
    out += roff(text[at:])
    return '\\&' + out if out.startswith(('.', "'")) else out


def roff_term(term):
    """`code` in bold, words in capitals in italics."""
    return ''.join(roff_inline(part) if part.startswith('`') else
                   re.sub(r'[A-Z][^ ]*', lambda m: f'\\fI{roff(m[0])}\\fR', part)
                   for part in re.split(r'(`[^`]+`)', term))


def roff_usage(line):
    """A line of a synopsis: commands and flags in bold, values in italics."""
    return re.sub(r'[A-Z][A-Z=,]*|-{1,2}[a-z-]+|[a-z][a-z-]*',
                  lambda m: f'\\f{"I" if m[0].isupper() else "B"}{roff(m[0])}\\fR', line)


def man_header(name, section, about):
    return ['\'\\" t', '.\\" SPDX-License-Identifier: Apache-2.0', f'.TH {name.upper()} {section}', '.SH NAME',
            f'{roff(name)} \\- {roff(about)}']


def man_body(parts):
    out, heading = [], ''
    for kind, value in parts:
        if kind == 'h2':
            heading = value
            out.append(f'.SH {roff_inline(value).upper() if "`" not in value else roff_inline(value)}')
        elif kind == 'h3':
            out.append(f'.SS {roff_inline(value)}')
        elif kind == 'p':
            out += ['.PP', roff_inline(value)]
        elif kind == 'list':
            for item in value:
                out += ['.IP \\(bu 2', roff_inline(item)]
        elif kind == 'terms':
            for term, about in value:
                out += ['.TP', roff_term(term), roff_inline(about)]
        elif kind == 'table':
            out += ['.PP', '.TS', 'tab(|);', ' '.join('lx' if cell == len(value[0]) - 1 else 'l'
                                                   for cell in range(len(value[0]))) + '.']
            for row in value:
                out.append('|'.join(f'T{{\n{roff_inline(cell)}\nT}}' for cell in row))
            out.append('.TE')
        elif kind == 'code':
            usage = heading == 'Synopsis'
            out += (['.nf'] if usage else ['.PP', '.RS 4', '.nf'])
            out += [roff_usage(line) if usage else roff(line) for line in value.split('\n')]
            out += ['.fi'] if usage else ['.fi', '.RE']
    return out


def man_page(text, name, section, about):
    return '\n'.join(man_header(name, section, about) + ['.SH DESCRIPTION'] + man_body(blocks(text)) +
                     ['.SH SEE ALSO', '.BR wye (1)']) + '\n'


def verb_page(text):
    (_, name), (_, about), *rest = blocks(text)
    return '\n'.join(man_header(name, 1, about) + man_body(rest)) + '\n'


def main(words):
    if len(words) < 3 or (words[0], len(words)) not in (('html', 3), ('man', 6), ('verb', 3)):
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    with open(words[1], encoding='utf-8') as source:
        text = source.read()
    page = {'html': html_page, 'man': man_page, 'verb': verb_page}[words[0]](text, *words[3:])
    with open(words[2], 'w', encoding='utf-8') as target:
        target.write(page)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
