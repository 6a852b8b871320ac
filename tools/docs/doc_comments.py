#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a header with its plain comments as Doxygen comments. Doxygen runs this as a filter.

usage: doc_comments.py HEADER

A comment describes the declaration after it, or the declaration before it on the same line. The first
comment of the file describes the file. `/* ---- Title ---- */` begins a group of declarations. Comments
in bodies of functions and within the rows of lists stay as they are. An enumeration that is made from the
rows of a list, such as `WYE_STATUSES(WYE_STATUS_ENUM)`, is written out, with each row as a description.
Lines keep their numbers as far as Doxygen's messages need it. Exit status: 0 done, 2 wrong usage.
"""
import re
import sys

SECTION = re.compile(r'(?:/\*|//) ?-{3,} (.*?) -{3,}(?: \*/)?$')
DECLARES = re.compile(r'\b(namespace|class|struct|union|enum)\b(?!.*[=)])|extern "C"', re.S)


def escaped(text):
    """Text without the signs that Doxygen and Markdown would interpret. `code` is kept."""
    parts = re.split(r'(`[^`]*`)', text)
    return ''.join(part if part.startswith('`') and len(part) > 2 else re.sub(r'([\\@<>#&*|%])', r'\\\1', part)
                   for part in parts)


def markdown_of(lines):
    """A comment as Markdown. Paragraphs that are columns of text stay as they are."""
    out, paragraph = [], []

    def finish():
        columns = any(re.search(r'\S {2,}\S', line) or line.startswith('   ') for line in paragraph)
        listed = any(re.match(r' *(-|\d+\.) ', line) for line in paragraph)
        if columns and not listed:
            out.extend(['@verbatim', *paragraph, '@endverbatim'])
        else:
            out.extend(escaped(line[1:] if listed and line.startswith(' ') else line) for line in paragraph)
        paragraph.clear()

    for line in [*lines, '']:
        if line.strip():
            paragraph.append(line)
        else:
            finish()
            out.append('')
    return out[:-1]


def body_of(comment):
    """The lines of a comment without its marks."""
    if comment.lstrip().startswith('//'):
        return [re.sub(r'^\s*// ?', '', line) for line in comment.split('\n')]
    text = re.sub(r'^\s*/\* ?|\s*\*/\s*$', '', comment)
    return [re.sub(r'^\s*\* ?', '', line) if at else line for at, line in enumerate(text.split('\n'))]


def rows_of(source):
    """The rows of each list of the file, by its name: [arguments, comment]."""
    lists = {}
    for name, text in re.findall(r'^#define (WYE_\w+)\(X\)((?:.*\\\n)+.*)$', source, re.M):
        text = text.replace('\\\n', '\n')
        lists[name] = [(re.split(r', *(?=(?:[^"]*"[^"]*")*[^"]*$)', row), comment)
                       for row, comment in re.findall(r'\bX\(((?:[^()"]|"[^"]*")*)\)(?: *(/\*[^\n]*?\*/))?', text)]
    return lists


def with_enumerators(source):
    """Writes out the enumerations that are made from rows."""
    lists = rows_of(source)

    def enumerators(match):
        pattern = re.search(r'#define %s\(([^)]*)\) (.*)' % match['make'], source)
        if match['list'] not in lists or pattern is None:
            return match[0]
        names = [name.strip() for name in pattern[1].split(',')]
        lines = []
        for row, comment in lists[match['list']]:
            text = pattern[2]
            for name, value in zip(names, row):
                text = re.sub(r'(?:##)?\b%s\b(?:##)?' % name, lambda m, v=value: v, text)
            about = ', '.join(part.strip('"') for part in row[2:]) or row[0]
            if comment:
                about += ': ' + body_of(comment)[0]
            lines.append(f'{text.rstrip(",")}, /* {about} */')
        return '\n'.join(lines)

    return re.sub(r'(?:^#define \w+\(.*\n)?^ +(?P<list>WYE_\w+)\((?P<make>WYE_\w+)\)\n(?:#undef .*\n)?', lambda m: enumerators(m) + '\n',
                  source, flags=re.M)


TOKEN = re.compile(r'''(?P<block>/\*.*?\*/)|(?P<line>//[^\n]*(?:\n[ \t]*//[^\n]*)*)|(?P<text>R"(?P<d>\w*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')
|(?P<directive>^[ \t]*\#(?:.*\\\n)*.*$)|(?P<brace>[{};])|(?P<space>[ \t]+)|(?P<end>\n)|(?P<other>[^/"'{};\s]+|.)''', re.S | re.M | re.X)
# A directive must not match beyond its line, although '.' matches newlines in this mode.
TOKEN = re.compile(TOKEN.pattern.replace(r'(?:.*\\\n)*.*$', r'(?:[^\n]*\\\n)*[^\n]*$'), re.S | re.M | re.X)


class Filter:
    def __init__(self, source, name):
        self.source, self.name = source, name
        self.out, self.scopes, self.statement, self.line_has_code = [], [], '', False
        self.first, self.group, self.closed = True, False, False

    def bodies(self):
        return 'body' in self.scopes

    def describe(self, comment):
        if self.first:
            self.first = False
            lines = [line for line in body_of(comment) if 'SPDX-License' not in line]
            while lines and not lines[0].strip():
                lines.pop(0)
            return '\n'.join(['/** @file ' + self.name, '', *markdown_of(lines), '*/'])
        section = SECTION.match(comment.strip())
        if section:
            close = '/** @} */ ' if self.group else ''
            self.group = True
            return f'{close}/** @name {escaped(section[1])}\n@{{ */'
        if self.bodies() or self.closed:
            return comment
        if self.line_has_code:  # after a declaration
            if comment.startswith('//') and '\n' in comment:  # the lines below are another comment
                behind, below = comment.split('\n', 1)
                return f'/**< {" ".join(markdown_of(body_of(behind)))} */\n' + self.before(below)
            return f'/**< {" ".join(markdown_of(body_of(comment))).strip()} */'
        return self.before(comment)

    def before(self, comment):
        if SECTION.match(comment.strip()):
            return self.describe(comment)
        return '/** ' + '\n'.join(markdown_of(body_of(comment))) + ' */'

    def brace(self, sign):
        if sign == '{':
            self.scopes.append('open' if DECLARES.search(self.statement) and not self.bodies() else 'body')
        elif sign == '}' and self.scopes:
            self.scopes.pop()
        self.statement = ''

    def run(self):
        for token in TOKEN.finditer(self.source):
            kind, text = token.lastgroup, token[0]
            if token['block'] or token['line']:
                self.out.append(self.describe(text))
                continue
            if kind == 'd':
                kind = 'text'
            if kind == 'directive' and '\n' not in text:
                text = re.sub(r'(?<=\S) +/\* (.*) \*/$', lambda m: f' /**< {escaped(m[1])} */', text)
            self.out.append(text)
            if kind != 'space':
                self.closed = text == '}' and not self.line_has_code  # a comment after a closing brace names what ends
            if kind == 'end':
                self.line_has_code = False
            elif kind == 'brace':
                self.brace(text)
                self.line_has_code = text != '{' or self.bodies()
            elif kind == 'directive':
                self.line_has_code = True
            elif kind != 'space':
                self.statement += text
                self.line_has_code = True
            else:
                self.statement += ' '
        if self.group:
            self.out.append('\n/** @} */\n')
        return ''.join(self.out)


def main(words):
    if len(words) != 1:
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    with open(words[0], encoding='utf-8') as file:
        source = file.read()
    name = re.sub(r'.*/(wye/)', r'\1', words[0])
    sys.stdout.write(Filter(with_enumerators(source), name).run())
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
