#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages and the completions of `wye` from the table that also makes `--help`.

usage: commands.py man WYE PAGE OUTPUT
       commands.py bash|zsh|fish WYE OUTPUT

WYE is the command; its hidden option --print-options prints the table. `man` copies the manual page
PAGE, wye(1), and replaces its line `.\\" VERBS` by a list of them. Exit status: 0 done, 2 wrong usage.
"""
import json
import subprocess
import sys

IDS = """$(wye plugins --json 2>/dev/null | sed -n 's/^ *"id": "\\(.*\\)",*$/\\1/p')"""  # the ids of plugins that have a file
PATHS = {'FILE', 'FOLDER', 'PATH', 'PROGRAM', 'NAME=FILE', 'NAME=DATA'}


def verbs_of(table, words=()):
    """Yields (words, verb) for each verb. A verb comes before the verbs below it."""
    for verb in table['verbs']:
        yield (*words, verb['name']), verb
        yield from verbs_of(verb, (*words, verb['name']))


def options_of(table, words):
    """The options that a verb takes: its own, and those of the verbs above it except options for views."""
    own = []
    for count in range(1, len(words) + 1):
        options = next(verb for name, verb in verbs_of(table) if name == words[:count])['options']
        own += [option for option in options if count == len(words) or not option['view']]
    return own


def takes_ids(verb):
    return any(place['name'] == 'id' for place in verb['positionals'])


# ---- Manual page --------------------------------------------------------------------------------

def roff(text):
    return text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq').replace('`', '\\(ga')


def man_page(table, page):
    verbs = []
    for verb in table['verbs']:
        verbs += ['.TP', f'.BR wye\\-{roff(verb["name"])} (1)', roff(verb['about']) + '.']
    return page.replace('.\\" VERBS\n', '\n'.join(verbs) + '\n')


# ---- Completions --------------------------------------------------------------------------------

def bash(table):
    out = ['# SPDX-License-Identifier: Apache-2.0', '# bash completion for wye', '_wye() {',
           '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb= head= given= i',
           '    for ((i = 1; i < COMP_CWORD; i++)); do',
           '        case "$verb ${COMP_WORDS[i]}" in']
    for words, _ in verbs_of(table):
        out.append(f'            "{" ".join(words[:-1])} {words[-1]}") verb="{" ".join(words)}" ;;')
    out += ['            *" -"*) ;;', '            *) given=yes ;;', '        esac', '    done',
            '    case $previous in',
            "        -d | --device) COMPREPLY=($(compgen -W \"auto $(wye info -l 2>/dev/null | cut -f1)\" -- \"$current\")); return ;;",
            '    esac', '    local words=', '    case "$verb $previous" in']
    for words, verb in verbs_of(table):
        for option in verb['options']:
            if option['values']:
                names = ' | '.join(f'"{" ".join(words)} {flag}"' for flag in option['flags'])
                out.append(f'        {names}) words="{" ".join(option["values"])}" ;;')
    # Lists are completed behind their last comma.
    out += ['    esac', '    if [[ -n $words ]]; then', '        [[ $current == *,* ]] && head=${current%,*},',
            '        COMPREPLY=($(compgen -P "$head" -W "$words" -- "${current##*,}")); return', '    fi', '    case $verb in']
    out.append(f'        "") words="{" ".join([verb["name"] for verb in table["verbs"]] + ["--help", "--version"])}" ;;')
    for words, verb in verbs_of(table):
        known = [inner['name'] for inner in verb['verbs']]
        known += [flag for option in options_of(table, words) for flag in option['flags']] + ['--help']
        # The first word has known values; after the first word, some verbs take ids.
        first = ' '.join(value for place in verb['positionals'] for value in place['values'])
        first = f'; [[ $given ]] || words="{first} $words"' if first else ''
        later = f'; [[ ! $given ]] || words="{IDS} $words"' if takes_ids(verb) else ''
        out.append(f'        "{" ".join(words)}") words="{" ".join(known)}"{first}{later} ;;')
    out += ['    esac', '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '    [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))', '}',
            'complete -o filenames -F _wye wye']
    return '\n'.join(out) + '\n'


def quoted(text):
    return text.replace('\\', '\\\\').replace("'", "'\\''")


def zsh(table):
    def about(text):
        return quoted(text).replace('[', '\\[').replace(']', '\\]').replace(':', '\\:')

    out = ['#compdef wye', '# SPDX-License-Identifier: Apache-2.0',
           '_wye_devices() { local -a found; found=(auto ${(f)"$(wye info -l 2>/dev/null | cut -f1)"}); compadd -a found }',
           f'_wye_plugins() {{ local -a found; found=(${{(f)"{IDS}"}}); compadd -a found }}']

    def function(words, node, options):
        name = '_'.join(('_wye', *words))
        lines = [f'{name}() {{', '    local state', '    _arguments -C \\']
        for option in options:
            value = ''
            if option['value']:
                action = '_files' if option['value'] in PATHS else ' '
                action = '_wye_devices' if '--device' in option['flags'] else action
                action = f"({' '.join(option['values'])})" if option['values'] else action
                value = f':{about(option["value"])}:{action}'
            for flag in option['flags']:
                lines.append(f"        '*{flag}[{about(option['about'])}]{value}' \\")
        if node['verbs']:
            lines += ["        '1:verb:->verb' '*::argument:->rest'", '    case $state in',
                      f"        verb) local -a verbs; verbs=({' '.join(chr(39) + inner['name'] + ':' + about(inner['about']) + chr(39) for inner in node['verbs'])})",
                      '            _describe verb verbs ;;',
                      f'        rest) (( $+functions[{name}_$words[1]] )) && {name}_$words[1] ;;', '    esac']
        else:
            for place in node['positionals']:
                if place['values']:
                    lines.append(f"        '1:{about(place['name'])}:({' '.join(place['values'])})' \\")
            lines.append("        '*:id:_wye_plugins'" if takes_ids(node) else "        '*:file:_files'")
        return lines + ['}']

    for words, verb in verbs_of(table):
        out += function(words, verb, options_of(table, words))
    return '\n'.join(out + function((), table, table['options']) + ['_wye "$@"']) + '\n'


def fish(table):
    out = ['# SPDX-License-Identifier: Apache-2.0', '# fish completion for wye', 'complete -c wye -e']
    for verb in table['verbs']:
        out.append(f"complete -c wye -n __fish_use_subcommand -f -a {verb['name']} -d '{quoted(verb['about'])}'")
    for words, verb in verbs_of(table):
        seen = '; and '.join(f'__fish_seen_subcommand_from {word}' for word in words)
        for inner in verb['verbs']:
            out.append(f"complete -c wye -n '{seen}' -f -a {inner['name']} -d '{quoted(inner['about'])}'")
        for place in verb['positionals']:
            if place['values']:
                values = ' '.join(place['values'])
                out.append(f"complete -c wye -n '{seen}; and not __fish_seen_subcommand_from {values}' -f -a '{values}'")
                if takes_ids(verb):
                    ids = quoted(r"""(wye plugins --json 2>/dev/null | string match -rg '^ *"id": "(.*)"')""")
                    out.append(f"complete -c wye -n '{seen}; and __fish_seen_subcommand_from {values}' -f -a '{ids}'")
        for option in verb['options']:
            flags = ' '.join(('-l ' if flag.startswith('--') else '-s ') + flag.lstrip('-') for flag in option['flags'])
            value = ' -r' if option['value'] else ''
            if '--device' in option['flags']:
                value += " -f -a 'auto (wye info -l 2>/dev/null)'"
            if option['values']:
                value += f" -f -a '{' '.join(option['values'])}'"
            out.append(f"complete -c wye -n '{seen}' {flags}{value} -d '{quoted(option['about'])}'")
    return '\n'.join(out) + '\n'


def main(words):
    form = words[0] if words else ''
    if (form, len(words)) not in (('man', 4), ('bash', 3), ('zsh', 3), ('fish', 3)):
        sys.stderr.write(__doc__.split('\n\n')[1] + '\n')
        return 2
    table = json.loads(subprocess.run([words[1], '--print-options'], stdout=subprocess.PIPE, check=True).stdout)
    if form == 'man':
        with open(words[2], encoding='utf-8') as page:
            text = man_page(table, page.read())
    else:
        text = {'bash': bash, 'zsh': zsh, 'fish': fish}[form](table)
    with open(words[-1], 'w', encoding='utf-8') as target:
        target.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
