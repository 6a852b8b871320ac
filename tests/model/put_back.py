#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts faults into the library, one at a time, and tells whether wye-model finds them.

Each fault breaks one rule of runtime/exec/device/ORDER.md. A fault is an edit of the sources in a copy of the tree, so the product
has no trace of it. An edit whose old text is not in its file exactly once is an error; --check looks only for such errors.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POOL = 'runtime/exec/device/queue_pool.cpp'
SESSION = 'runtime/exec/device/session.cpp'
COMPILE = 'runtime/exec/device/compile_job.cpp'
LIST = 'runtime/exec/device/pending_list.cpp'
PENDING = 'runtime/exec/dispatch/pending.cpp'
LATER = 'runtime/exec/dispatch/pending_later.cpp'
WORK = 'runtime/exec/prepared/work_run.cpp'
DEVICE = 'registry/open/device.cpp'

# A queue keeps its previous native queue, which may still run work, so that one watermark serves two native queues. The new members
# are in a map, since an edit of the header would have the whole library compiled again.
TWO_NATIVES = [
    (POOL, 'namespace wye::exec {\n\nstd::uint32_t QueuePool::shortest',
     '#include <map>\n'
     'namespace wye::exec {\n'
     'struct Before {\n'
     '    std::shared_ptr<registry::NativeQueue> native;\n'
     '    std::uint64_t newest = 0;\n'
     '};\n'
     'static std::map<const void*, Before>& befores() {\n'
     '    static auto& map = *new std::map<const void*, Before>;\n'
     '    return map;\n'
     '}\n'
     '// The native queue of a value.\n'
     'static const std::shared_ptr<registry::NativeQueue>& of(\n'
     '    const void* queue, const std::shared_ptr<registry::NativeQueue>& now, std::uint64_t value) {\n'
     '    const auto found = befores().find(queue);\n'
     '    return found != befores().end() && value <= found->second.newest ? found->second.native : now;\n'
     '}\n'
     'std::uint32_t QueuePool::shortest'),
    (POOL, 'if (runs(i, value)) return {queues_[i].native, i, value};',
     'if (runs(i, value)) return {of(&queues_[i], queues_[i].native, value), i, value};'),
    (POOL, 'if (!queue.native || value > newest_sent(index)) return true;\n'
           '    const auto reached = queue.native->reached(value);',
     'const auto on = of(&queue, queue.native, value);\n'
     '    if (!on || value > newest_sent(index)) return true;\n'
     '    const auto reached = on->reached(value);'),
    (POOL, 'if (i == index) continue;\n',
     'if (i == index && of(&queues_[i], queues_[i].native, after[i]) == queues_[i].native) continue;\n'),
    (POOL, 'queues_[i].native->order_event(after[i])',
     'of(&queues_[i], queues_[i].native, after[i])->order_event(after[i])'),
    # A flush and a close also wait for the native queues that were kept.
    (POOL, '    take_unused(unused);\n    std::array<Ticket, kAllQueues> out;',
     '    take_unused(unused);\n'
     '    for (std::uint32_t i = 0; i < kAllQueues; ++i) {\n'
     '        const auto found = befores().find(&queues_[i]);\n'
     '        if (found == befores().end()) continue;\n'
     '        (void)found->second.native->wait(found->second.newest);\n'
     '        ended(i, found->second.newest);\n'
     '        befores().erase(found);\n'
     '    }\n'
     '    std::array<Ticket, kAllQueues> out;'),
]
# The code that the faults `index` and `replaced` insert: it moves a queue's native queue to `befores` while its work may still run.
DROP = ('befores()[&queue] = {std::move(queue.native), queue.newest};')

# Name, the scope that finds the fault, what the fault is, and the edits: file, old text, new text.
FAULTS = [
    ('index', 'queues', 'the index of a freed queue serves a new one while its work runs', TWO_NATIVES + [
        (POOL, 'if (is_quiet(i)) out[i] = std::move(queue.native);\n',
         'if (is_quiet(i)) {\n out[i] = std::move(queue.native);\n} else {\n' + DROP + '\n}\n')]),
    ('replaced', 'failing_queues', 'the native queue of failed work is replaced while later work runs on it', TWO_NATIVES + [
        (POOL, '|| !is_quiet(failed.index)) return false;\n    dropped = std::move(queue.native);',
         '|| is_sending(failed.index)) return false;\n' + DROP)]),
    ('follower', 'queues', 'a native queue is dropped while work of another waits for its work', [
        (POOL, 'if (runs(i, std::min(queue.followers[i], queues_[i].newest))) return false;', ';')]),
    ('after_recovery', 'two_late', 'a submit that began before a recovery goes on after it', [
        (POOL, 'closed_ = true;', ''),
        (DEVICE, 'if (stay.flags == 0) return {};', 'if (stay.flags != 1) return {};')]),
    ('open_door', 'two_lost', 'a recovery does not wait for submits in progress', [
        (POOL, 'while (sending_ != 0) await_sends();', '')]),
    ('lock', 'two_compiles', 'a recovery waits for a compile with a lock that the compile needs', [
        (COMPILE, '        WYE_TRY(alive());\n        auto made = try_twice',
         '        const sdk::Lock alone(recovering_);\n        WYE_TRY(alive());\n        auto made = try_twice')]),
    ('kept', 'plain', 'no failure is ever forgotten', [
        (SESSION, '(void)ticket.queue->retire(ticket.value);', '')]),
    ('forgotten', 'plain', 'who looks whether work has ended lets its failure be forgotten', [
        (POOL, '    ended(index, value);\n    return false;',
         '    if (!reached.ok()) (void)queue.native->retire(value);\n    ended(index, value);\n    return false;')]),
    ('value', 'refused', 'a submit that was refused keeps its value', [
        (POOL, '    --queues_[index].newest;\n', '')]),
    ('history', 'refused', 'a submit that was refused stays in the histories of its buffers', [
        (POOL, 'known == value) --known;', 'known == value) known = value;')]),
    ('stale', 'two_dropped', 'a submit keeps what it chose to wait for before its native queue was made', [
        (POOL, '        out.wait_count = 0;  // the next `begin`, which may take the fast path, starts anew\n        out.follows = false;\n', '')]),
    ('spread', 'plain', 'work that only runs after other work fails with it', [
        (POOL, 'native->order_event(after[i])', 'native->event(after[i])')]),
    ('no_room', 'two_room', 'a submit times out at once while all room is taken by submits in progress', [
        (LIST, 'first ? !first->wait(deadline) : !await_change(bytes, deadline)', '!first || !first->wait(deadline)')]),
    ('spins', 'two_room', 'a submit spins while all room is taken by submits in progress', [
        (LIST, 'if (first && first->poll()) continue;', 'if (!first || first->poll()) continue;')]),
    ('unused', 'limits', 'a time limit is used up though a native queue was not made yet', [
        (POOL, 'if (!queues_[i].native || !runs(i, newest_sent(i))) return {};',
         'if (queues_[i].native && !runs(i, newest_sent(i))) return {};')]),
    ('overtakes', 'line_calls', 'a submit does not wait for work in the line that it must follow', [
        (POOL, 'holds_.concern(uses, options.queue)) return false;', 'false) return false;')]),
    ('ahead', 'line', 'an asynchronous submit does not ask whether it belongs in the line', [
        (PENDING, 'if (!session.queues().is_held({uses.data(), uses.size()}, flow.queue.number()))\n', '')]),
    ('meanwhile', 'two_line_lost', 'a repeated request waits for work that another thread put in the line meanwhile', [
        (WORK, 'if (at_once || deadline || kept) options', 'if (at_once || deadline) options')]),
    ('withdrawn', 'line', 'work in the line is submitted although it was cancelled', [
        (LATER, '    if (has_ended()) return {};\n    begun_submit_ = true;', '    begun_submit_ = true;')]),
    ('left', 'line_queues', 'work leaves its place in the order before it is submitted', [
        (LATER, 'void PendingLater::take_turn() noexcept {\n', 'void PendingLater::take_turn() noexcept {\n    leave();\n')]),
    ('idle', 'queues', 'a fresh native queue is asked for a value of the one before it', [
        (POOL, 'if (is_sending(i) || runs(i, queues_[i].newest)) return false;',
         'if (queues_[i].native)\n'
         '            if (auto r = queues_[i].native->reached(queues_[i].newest); r.ok() && !*r) return false;')]),
]


def edited(edits, root):
    """The files after the edits, by name."""
    out = {}
    for name, old, new in edits:
        text = out.get(name) or (root / name).read_text()
        if text.count(old) != 1:
            raise ValueError(f'{name} has {text.count(old)} times, and not once:\n{old}')
        out[name] = text.replace(old, new)
    return out


def put(tree, files):
    """Writes the files, and undoes earlier edits. A file that stays the same is not written, so that it is not compiled again."""
    for path in {name for _, _, _, edits in FAULTS for name, _, _ in edits}:
        text = files.get(path) or (ROOT / path).read_text()
        if (tree / path).read_text() != text:
            (tree / path).write_text(text)


def copy_tree(tree):
    """Copies the files that differ."""
    for folder, folders, files in os.walk(ROOT):
        here = Path(folder)
        if here == ROOT:
            folders[:] = [one for one in folders if one == '.github' or not one.startswith(('build', '.'))]
        there = tree / here.relative_to(ROOT)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            source, target = here / name, there / name
            if not target.exists() or source.read_bytes() != target.read_bytes():
                shutil.copy(source, target)


def build(tree, jobs):
    """Builds the model so that calls can stop at locks. The other options are those of builds that the compiler cache may have."""
    folder = tree / 'build'
    if not (folder / 'build.ninja').exists():
        subprocess.run(['meson', 'setup', folder, tree, '--buildtype=debugoptimized', '-Dwerror=true',
                        '-Ddefault_library=both', '-Dc_args=-g1', '-Dcpp_args=-g1', '-Dunity=on', '-Dunity_size=100',
                        '-Dtogether=true', '-Dscheduler=true', '-Dcpu_kernels=baseline'], check=True, stdout=subprocess.DEVNULL)
    made = subprocess.run(['ninja', '-C', folder, '-j', str(jobs), 'tests/model/wye-model', 'tests/model/scripted.so'],
                          stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        sys.exit(made.stdout)
    return folder / 'tests/model/wye-model'


def explore(model, scope):
    """Explores a scope: returns the sequence and the fault that were found, the number of sequences tried, and the seconds."""
    begin = time.monotonic()
    done = subprocess.run([model, '--scope', scope, '--jobs', '1'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.monotonic() - begin
    out = done.stdout
    tried = re.search(r': (\d+) sequences with', out)
    count = int(tried[1]) if tried else 0
    if found := re.search(r': FAULT: (.*)\n(?:.*\n)*?  --replay "\w+: (.*)"', out):
        return found[2], found[1], count, seconds
    if crashed := re.search(r'(a call .*), at the end of: (.*) \(sequence (\d+)\)', out):
        return crashed[2], crashed[1], int(crashed[3]), seconds
    if done.returncode != 0:
        sys.exit(f'{model} --scope {scope}: {out}')
    return None, None, count, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--check', action='store_true', help='only tell whether all edits fit the sources')
    parser.add_argument('--folder', type=Path, default=ROOT / 'build-faults', help='for the copy and its build')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='compilers at a time')
    parser.add_argument('faults', nargs='*', help='names; none: all')
    options = parser.parse_args()
    names = [name for name, _, _, _ in FAULTS]
    for name in options.faults:
        if name not in names:
            sys.exit(f'there is no fault `{name}`; there are {", ".join(names)}')
    try:
        for _, _, _, edits in FAULTS:
            edited(edits, ROOT)
    except ValueError as wrong:
        sys.exit(f'{wrong}\nFix: update the old text of the edit in tests/model/put_back.py to the present source, so that the fault '
                 'stays the same')
    if options.check:
        return 0

    copy_tree(options.folder)
    missed = 0
    sequences = {}
    for name, scope, what, edits in FAULTS:
        if options.faults and name not in options.faults:
            continue
        put(options.folder, edited(edits, ROOT))
        model = build(options.folder, options.jobs)
        print(f'{name}: {what}')
        listed = subprocess.run([model, '--list'], stdout=subprocess.PIPE, text=True, check=True).stdout
        others = [one for one in re.findall(r'^(\w+) .* steps, --long', listed, re.M) if one != scope]
        tried = 0
        for where in [scope, *others]:
            sequence, fault, count, seconds = explore(model, where)
            tried += count
            if sequence is not None:
                break
        if sequence is None:
            missed += 1
            print(f'  NOT FOUND in {tried} sequences', flush=True)
        else:
            sequences[name] = f'{where}: {sequence}'
            print(f'  found after {tried} sequences, in {seconds:.2f} s, by "{sequences[name]}"\n    {fault}', flush=True)
    put(options.folder, {})
    model = build(options.folder, options.jobs)
    for name, sequence in sequences.items():
        if subprocess.run([model, '--replay', sequence], stdout=subprocess.DEVNULL).returncode != 0:
            missed += 1
            print(f'{name}: "{sequence}" is a fault without the edit too')
    print(f'{missed} faults were not found')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
