#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Reads the trace of WYE_TRACE with Python's own JSON reader. Checks that the trace is well-formed,
# that events nest, that device work lies between the host's submit and the end of its wait, that
# work on two queues is on two tracks, that hostile labels are kept, and that a file appears
# complete or not at all.
#     trace_check.py TRACE_WORK SELECTOR FOLDER QUEUES TIMES
# QUEUES: `one` or `several`, the number of the device's queues. TIMES: the work for which the
# driver measures times, `all` or `launches`.
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

program, selector, folder, queues, times = sys.argv[1:]
SLACK_US = 2000.0  # tolerance between the clocks of host and device
HOSTILE = 'say "hi" \\ \n\t\x01\x7f '


def check(good, what):
    if not good:
        sys.exit(f"trace_check: {selector}: {what}")


def run(place, what, name="trace.json", **more):
    environment = {**os.environ, "WYE_TRACE": os.path.join(place, name), "WYE_LOG": "warning", **more}
    return subprocess.run([program, selector, folder, what], env=environment, timeout=600,
                          capture_output=True, text=True)


def read(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        return json.load(file)


def tracks(document):
    """Names of tracks, and complete events by track."""
    names, events = {}, defaultdict(list)
    for event in document["traceEvents"]:
        track = (event["pid"], event["tid"])
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[track] = event["args"]["name"]
        elif event["ph"] == "X":
            check(event["dur"] >= 0, f"a negative duration: {event}")
            events[track].append(event)
    return names, events


def end(event):
    return event["ts"] + event["dur"]


def nests(events):
    open_ones = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_ones and end(open_ones[-1]) <= event["ts"] + 0.0005:
            open_ones.pop()
        if open_ones and end(event) > end(open_ones[-1]) + 0.0005:
            return False
        open_ones.append(event)
    return True


def timed(event):
    # With `launches`, the host itself copies to and from mapped memory, so the device has no times of copies.
    return event["cat"] == "device" or times != "all" and event["name"] != "mix"


with tempfile.TemporaryDirectory() as place:
    # On a busy machine the first reading of the device's clock may take too long, or one asynchronous
    # dispatch may end before the next is submitted, so that both use one queue. Then the work runs again.
    until = time.monotonic() + 120
    while True:
        ran = run(place, "all")
        check(ran.returncode == 0, f"the work failed: {ran.stderr}")
        check(os.listdir(place) == ["trace.json"], f"the folder has {os.listdir(place)}")
        document = read(os.path.join(place, "trace.json"))
        work = [e for e in document["traceEvents"] if e["ph"] == "X" and e["cat"] != "host"]
        used = {e["args"]["queue"] for e in work if e["name"] == "mix"}
        good = all(timed(e) for e in work) and (queues == "one" or len(used) >= 2)
        if good or time.monotonic() > until:
            break
    check(document["otherData"]["dropped_events"] == 0, "events were dropped")
    check(document["otherData"]["unended_submits"] == 0, "submits have no end")
    names, events = tracks(document)
    host = [e for track in events.values() for e in track if e["cat"] == "host"]
    device = [e for track in events.values() for e in track if e["cat"] != "host"]
    for track, list_of in events.items():
        check(track in names, f"track {track} has no name")
        check(nests(list_of), f"the events of {names[track]} do not nest")
        check(len({e["cat"] for e in list_of}) == 1, f"{names[track]} has host and device events")

    # The events of host and device have the same submits.
    submits = {(e["args"]["queue"], e["args"]["submit"]): e for e in host if e["name"] == "submit"}
    ends = {(e["args"]["queue"], e["args"]["submit"]): e for e in device}
    check(len(device) == len(ends), "a submit has two device events")
    check(submits.keys() == ends.keys(), f"submits {submits.keys()}, device events {ends.keys()}")
    check(len(submits) >= 8, f"only {len(submits)} submits")
    arrows = defaultdict(set)
    for event in document["traceEvents"]:
        if event["ph"] in "sf":
            arrows[event["id"]].add(event["ph"])
    check(len(arrows) == len(submits) and all(a == {"s", "f"} for a in arrows.values()),
          f"arrows {dict(arrows)}")

    # The host's waits, by submit. The wait of a repeated request is inside its dispatch.
    waits = {(e["args"]["queue"], e["args"]["submit"]): e
             for e in host if e["name"] == "wait" and "submit" in e["args"]}
    whole = [e for e in host if e["name"] == "dispatch mix"]
    check(len(whole) == 4, f"{len(whole)} blocking dispatches")
    check(sum(e["name"] == "submit dispatch mix" for e in host) == 2, "two asynchronous dispatches")
    for key, event in ends.items():
        check(timed(event), f"{event} has no times of the driver")
        begin = submits[key]["ts"]
        outer = [e for e in whole if e["ts"] <= begin and end(submits[key]) <= end(e) + 0.001]
        last = end(waits[key]) if key in waits else end(outer[0]) if outer else None
        check(event["ts"] >= begin - SLACK_US, f"{event} begins before its submit at {begin}")
        if last is not None:
            check(end(event) <= last + SLACK_US, f"{event} ends after its wait, at {last}")
    for (process, thread), list_of in events.items():
        if list_of[0]["cat"] == "host":
            continue
        ordered = sorted(list_of, key=lambda e: e["ts"])
        for one, next_one in zip(ordered, ordered[1:]):
            check(end(one) <= next_one["ts"] + 0.001, f"{one} and {next_one} overlap")
        name = names[process, thread]
        check(("no driver times" in name) == (list_of[0]["cat"] == "seen"),
              f"a track is named `{name}`")

    # Names, bytes and labels.
    labels = [e["args"]["label"] for e in whole if "label" in e["args"]]
    check(len(labels) == 1 and labels[0].startswith(HOSTILE) and labels[0].endswith(" </script>"),
          f"labels {labels}")
    check(any(e["name"] == "mix" and e["args"]["bytes_uploaded"] == 16384 for e in device),
          "no device event has the bytes of the first dispatch")
    check({"upload", "download", "copy"} <= {e["name"] for e in host}, "transfers")
    check({"decide", "compile mix", "wait"} <= {e["name"] for e in host}, "steps")

    # Two dispatches that share no written buffer, on two queues.
    mixes = [e for e in device if e["name"] == "mix"]
    check(len(mixes) >= 6, f"{len(mixes)} launches have the name of their program")
    used = {(e["pid"], e["tid"]) for e in mixes}
    if queues == "several":
        check(len({e["args"]["queue"] for e in mixes}) >= 2, "all work ran on one queue")
        check(len(used) >= 2, "the work of two queues is on one track")

    # A killed process leaves the earlier file in place.
    before = os.stat(os.path.join(place, "trace.json")).st_mtime_ns
    check(run(place, "killed").returncode == -signal.SIGKILL, "the process was not killed")
    check(os.stat(os.path.join(place, "trace.json")).st_mtime_ns == before, "the file has changed")
    check(run(place, "killed", "new.json").returncode == -signal.SIGKILL, "it was not killed")
    check(not os.path.exists(os.path.join(place, "new.json")), "a killed process left a file")

    # Two contexts have two files; %p is the process id.
    check(run(place, "twice", "of-%p.json").returncode == 0, "two contexts")
    made = sorted(f for f in os.listdir(place) if f.startswith("of-"))
    check(len(made) == 2, f"two contexts made {made}")
    number = made[0].split("-")[1].split(".")[0]
    check(number.isdigit() and made == [f"of-{number}.2.json", f"of-{number}.json"], f"{made}")
    for name in made:
        check(len(read(os.path.join(place, name))["traceEvents"]) > 10, f"{name} is short")

    # If there are too many events, the oldest are dropped.
    check(run(place, "many", "many.json").returncode == 0, "many events")
    document = read(os.path.join(place, "many.json"))
    kept = [e for e in document["traceEvents"] if e["ph"] == "X"]
    check(len(kept) == 40, f"{len(kept)} events were kept")
    check(document["otherData"]["dropped_events"] > 200, "events were not counted")

    check(run(place, "ignored", "ignored.json").returncode == 0, "an ignored environment")
    check(not os.path.exists(os.path.join(place, "ignored.json")), "WYE_TRACE was not ignored")

    # A trace that cannot be written is reported, and changes nothing else.
    os.mkdir(os.path.join(place, "folder"))
    for name, why in (("missing/trace.json", "No such file"), ("folder", "regular file")):
        ran = run(place, "many", name)
        check(ran.returncode == 0, f"{name}: {ran.stderr}")
        check("wye: warning: trace: " in ran.stderr and why in ran.stderr and "Fix: " in ran.stderr,
              f"{name}: the log says {ran.stderr}")
    check("trace" not in run(place, "many", WYE_TRACE="").stderr, "an empty WYE_TRACE says something")

print(f"{selector}: {len(host)} host and {len(device)} device events")
