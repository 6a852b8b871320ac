#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation site: the public headers and the Markdown documents as HTML that needs no network.

usage: make_site.py SOURCE OUTPUT VERSION [--theme FOLDER] [PAGE.md...]

SOURCE is the root of the source tree. OUTPUT is the folder to write, which is replaced as a whole. Each PAGE is the page of a
verb, as `wye help --markdown` prints it. FOLDER has the style sheets of doxygen-awesome-css; without it Doxygen's own style is used.
Every warning of Doxygen is an error, and so is a file, type, enumeration, function or macro that no comment describes. Exit
status: 0 done, 1 error, 2 wrong usage.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


# Documents, by the name of their page, in the order of the menu.
GUIDES = {
    'readme': ('README.md', 'Overview'),
    'using': ('runtime/USING.md', 'Using Wye'),
    'install': ('tools/INSTALL.md', 'Installing'),
    'language': ('runtime/program/LANGUAGE.md', 'Language reference'),
    'examples': ('runtime/examples/README.md', 'Examples'),
    'errors': ('runtime/ERRORS.md', 'Errors'),
    'configuration': ('runtime/CONFIGURATION.md', 'Configuration'),
    'python': ('runtime/python/README.md', 'Python'),
    'selectors': ('registry/README.md', 'Plugins and selectors'),
    'versions': ('runtime/VERSIONS.md', 'Versions'),
    'changes': ('runtime/CHANGELOG.md', 'Changes'),
}
WORKING = {
    'contributing': ('.github/CONTRIBUTING.md', 'Contributing'),
    'library': ('runtime/README.md', 'Inside the library'),
    'requests': ('runtime/REQUESTS.md', 'Requests in detail'),
    'tests': ('tests/README.md', 'Tests'),
    'security': ('.github/SECURITY.md', 'Security'),
}
PLUGINS = {
    'contract': ('plugin-abi/README.md', 'The contract'),
    'tutorial': ('plugin-abi/TUTORIAL.md', 'Tutorial'),
    'formats': ('plugin-abi/FORMATS.md', 'Artifact formats'),
}
DOCUMENTS = {**GUIDES, **PLUGINS, **WORKING}
HEADERS = ('runtime/include/wye', 'plugin-abi/include/wye')
C_API = ('wye', 'device', 'buffer', 'graph', 'pipeline', 'profile', 'report', 'native', 'capture')
PLUGIN_ABI = ('abi', 'abi_native', 'abi_compiler', 'abi_layouts', 'abi_loss', 'abi_layer', 'program_format')
# Fields, enumerators and constants need no comment if their names say enough.
UNDESCRIBED = re.compile(r'warning: Member .*\((variable|enumvalue)\) of .* is not documented')

# The page of a header begins with the header's description.
FILE_LAYOUT = '''<file><detaileddescription title=""/><includes visible="no"/><memberdecl>
<classes visible="yes" title="Structures and classes"/><namespaces visible="yes" title=""/><enums title=""/><functions title=""/>
<typedefs title=""/><defines title=""/><variables title=""/><membergroups visible="yes"/></memberdecl>
<memberdef><functions title=""/><enums title=""/><typedefs title=""/><defines title=""/>
<variables title=""/></memberdef></file>'''


def page_of(text, name, title, links):
    """A document for Doxygen: with a name, links to other pages, and without signs that Doxygen would interpret."""
    out, code = [], False

    def link(match):
        words, target = match.groups()
        place, _, part = target.partition('#')
        page = links.get(os.path.normpath(place))
        return words if page is None else f'[{words}](@ref {page})'

    for number, line in enumerate(text.split('\n')):
        if line.startswith('```'):
            code = not code
            out.append('```{.unparsed}' if code and line == '```' else re.sub(r'^```(\w+)$', r'```{.\1}', line) if code else line)
        elif code or line.startswith('    '):
            out.append(line)
        elif picture := re.fullmatch(r'!\[(.*)\]\((.*)\)', line):
            out.append(f'<img src="{os.path.basename(picture[2])}" alt="{picture[1]}"/>')
        elif number == 0 and line.startswith('# '):
            out.append(f'# {title} {{#{name}}}')
        else:
            parts = re.split(r'(`[^`]*`)', line)
            # For Doxygen, a single quote ends a code span of one backtick. Such a span gets two backticks.
            plain = [f'`{part}`' if part.startswith('`') and "'" in part else part if part.startswith('`') else re.sub(r'([\\@<>&])', r'\\\1', part) for part in parts]
            out.append(re.sub(r'\[([^\]]+)\]\(([^):]+)\)', link, ''.join(plain)))
    return '\n'.join(out) + '\n'


def tab(kind, title, url=None, inner=()):
    attributes = f'type="{kind}" visible="yes" title="{title}"' + (f' url="{url}"' if url else '')
    return f'<tab {attributes}>' + ''.join(inner) + '</tab>' if inner else f'<tab {attributes}/>'


def layout(pages, headers, verbs):
    """The menu."""
    def guides(table):
        return [tab('user', title, f'@ref {name}') for name, (_, title) in table.items() if name in pages]

    def files(names):
        return [tab('user', f'wye/{name}.h', f'@ref {name}.h') for name in names if f'{name}.h' in headers]

    menu = [tab('mainpage', 'Start'), tab('usergroup', 'Guides', None, guides(GUIDES)),
            tab('usergroup', 'Commands', None, [tab('user', name.replace('-', ' '), f'@ref {name}') for name in verbs]),
            tab('usergroup', 'C API', None, files(C_API)),
            tab('usergroup', 'C++ API', None, [tab('user', 'Namespace wye', 'namespacewye.html'),
                                               tab('user', 'Namespace wye::builder', 'namespacewye_1_1builder.html'),
                                               tab('classlist', 'Classes')]),
            tab('usergroup', 'Writing plugins', None, guides(PLUGINS) + files(PLUGIN_ABI)),
            tab('usergroup', 'Working on Wye', None, guides(WORKING))]
    return '<doxygenlayout version="1.0"><navindex>' + ''.join(menu) + '</navindex>' + FILE_LAYOUT + '</doxygenlayout>\n'


def start_page(pages):
    with open(os.path.join(HERE, 'start.md'), encoding='utf-8') as file:
        text = file.read()
    return '\n'.join(line for line in text.split('\n')  # leaves out lines about documents that have no page
                     if all(name in pages for name in re.findall(r'@ref ([a-z]+)\)', line))) + '\n'


def quoted(paths):
    """A list of paths for Doxygen. The quotes keep paths with blanks whole."""
    return ' '.join(f'"{path}"' for path in paths)


def settings(work, source, version, theme):
    doc_filter = '"python3 doc_comments.py"'  # a link in Doxygen's folder, since this setting takes no path with blanks
    includes = quoted(os.path.join(source, os.path.dirname(folder)) for folder in HEADERS)
    styles = [os.path.join(theme, name) for name in ('doxygen-awesome.css', 'doxygen-awesome-sidebar-only.css')] if theme else []
    values = {
        'PROJECT_NAME': 'Wye', 'PROJECT_NUMBER': version, 'PROJECT_BRIEF': '"Portable compute programs on any device"',
        'OUTPUT_DIRECTORY': quoted([work]), 'GENERATE_LATEX': 'NO', 'QUIET': 'YES', 'HTML_TIMESTAMP': 'NO', 'HTML_OUTPUT': 'html',
        'INPUT': quoted([f'{work}/pages', f'{HERE}/namespaces.dox', *(os.path.join(source, folder) for folder in HEADERS)]), 'RECURSIVE': 'YES',
        'FILE_PATTERNS': '*.h *.hpp *.md *.dox', 'EXTENSION_MAPPING': 'h=C++', 'FILTER_PATTERNS': f'*.h={doc_filter} *.hpp={doc_filter}',
        'STRIP_FROM_PATH': includes, 'STRIP_FROM_INC_PATH': includes, 'FULL_PATH_NAMES': 'YES', 'LAYOUT_FILE': quoted([f'{work}/layout.xml']),
        'USE_MDFILE_AS_MAINPAGE': quoted([f'{work}/pages/start.md']), 'JAVADOC_AUTOBRIEF': 'YES', 'TYPEDEF_HIDES_STRUCT': 'YES',
        'EXTRACT_STATIC': 'YES', 'MACRO_EXPANSION': 'YES', 'EXPAND_ONLY_PREDEF': 'YES', 'SORT_MEMBER_DOCS': 'NO',
        'PREDEFINED': 'WYE_API= WYE_OWNED= WYE_BORROWED= WYE_STATIC= __cplusplus', 'WARN_IF_INCOMPLETE_DOC': 'NO',
        'EXCLUDE_SYMBOLS': 'wye::detail wye::detail::* wye::builder::detail wye::builder::detail::* WYE_BUILDER_* WYE_OP_ENUM* detail',
        'TOC_INCLUDE_HEADINGS': '2', 'HAVE_DOT': 'NO', 'GENERATE_TREEVIEW': 'YES', 'DISABLE_INDEX': 'NO', 'VERBATIM_HEADERS': 'NO',
        'SHOW_USED_FILES': 'NO', 'HTML_DYNAMIC_MENUS': 'YES', 'HTML_EXTRA_STYLESHEET': quoted([*styles, f'{HERE}/wye.css']),
        'HTML_EXTRA_FILES': quoted(sorted(glob.glob(os.path.join(glob.escape(source), '.github', '*.svg')))), 'HTML_COLORSTYLE_SAT': '60', 'HTML_COLORSTYLE_HUE': '209', 'HTML_COLORSTYLE_GAMMA': '113', 'HTML_FOOTER': quoted([f'{HERE}/footer.html']),
    }
    return ''.join(f'{key} = {value}\n' for key, value in values.items())


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1].removeprefix('usage: '), add_help=False)
    parser.add_argument('source')
    parser.add_argument('output')
    parser.add_argument('version')
    parser.add_argument('--theme')
    parser.add_argument('verbs', nargs='*')
    given = parser.parse_intermixed_args()
    output = os.path.abspath(given.output)
    source = os.path.abspath(given.source)
    documents = {name: path for name, (path, _) in DOCUMENTS.items() if os.path.exists(os.path.join(source, path))}
    titles = {name: title for name, (_, title) in DOCUMENTS.items()}
    verbs = {os.path.basename(path)[:-len('.md')]: path for path in sorted(given.verbs)}
    headers = {name for folder in HEADERS for name in os.listdir(os.path.join(source, folder))}
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(output), prefix='site-') as work:
        for name, path in documents.items():
            links = {os.path.relpath(other, os.path.dirname(path) or '.'): page for page, other in documents.items()}
            write(f'{work}/pages/{name}.md', page_of(read(os.path.join(source, path)), name, titles[name], links))
        for name, path in verbs.items():
            write(f'{work}/pages/{name}.md', page_of(read(path), name, name.replace('-', ' ', 1), {}))
        write(f'{work}/pages/start.md', start_page(documents))
        write(f'{work}/layout.xml', layout(documents, headers, verbs))
        write(f'{work}/Doxyfile', settings(work, source, given.version, given.theme))
        os.symlink(f'{HERE}/doc_comments.py', f'{work}/doc_comments.py')
        done = subprocess.run(['doxygen', f'{work}/Doxyfile'], stderr=subprocess.PIPE, text=True, check=False, cwd=work)
        wrong = [line.replace(work + '/', '') for line in done.stderr.splitlines() if line and not UNDESCRIBED.search(line)]
        for line in wrong:
            sys.stderr.write(line + '\n')
        if wrong or done.returncode != 0:
            sys.stderr.write('Fix: describe it in a comment, or correct the document; a page of the site stands for each\n')
            return 1
        shutil.rmtree(output, ignore_errors=True)
        os.rename(f'{work}/html', output)
    return 0


if __name__ == '__main__':
    sys.exit(main())
