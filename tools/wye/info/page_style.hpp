// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of the page of `wye info --html`. The page's content security policy
// allows no loads, and no script except the one in kPageEnd. The policy names this script by its
// SHA-256.
#pragma once

namespace wye::tool {

inline constexpr const char* kPageHead =
    R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-FXmoVcA34dByGRLmbmYaqZGt1t1NWwzM53ELSmr/4Cw='">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Devices of this machine</title>
<style>
:root{color-scheme:light dark;--ink:#1c1c1e;--soft:#55585e;--page:#f6f6f4;--card:#fff;--line:#d4d4d0;--bad:#b00020;--good:#146c2e;--mark:#e3f0e6}
*{box-sizing:border-box}
body{max-width:78rem;margin:0 auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
h1{margin:.2em 0 0;font-size:1.6rem}h2{margin:2em 0 .6em;font-size:1.25rem}h3{margin:.2em 0 0;font-size:1.05rem}
p{margin:.2em 0 .5em}ul{margin:.4em 0;padding-left:1.2em}
code,.path{font-family:ui-monospace,monospace;font-size:.95em}
time{white-space:nowrap}
.note{color:var(--soft);font-size:.92em}.path{overflow-wrap:anywhere}
.bad{color:var(--bad)}
.picked{padding:.1em .5em;border-radius:1em;font-size:.8rem;font-weight:600;color:var(--good);background:var(--mark)}
.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr))}
.card{padding:.8rem 1rem;border:1px solid var(--line);border-radius:.6rem;background:var(--card)}
.card h3+p{font-weight:500}
svg{display:block;max-width:100%;margin:.2em 0 .4em}svg rect{fill:var(--soft)}
svg path{fill:none;stroke:var(--soft);stroke-width:1.5}svg text{fill:var(--ink);font:14px ui-monospace,monospace}
details{margin:.6rem 0;padding:.4rem 1rem;border:1px solid var(--line);border-radius:.6rem;background:var(--card)}
summary{cursor:pointer;padding:.3em 0;font-weight:600}
input{width:100%;max-width:24rem;padding:.4em .6em;border:1px solid var(--line);border-radius:.4rem;font:inherit;color:inherit;background:var(--card)}
table{width:100%;border-collapse:collapse}
th,td{padding:.3em .6em .3em 0;border-top:1px solid var(--line);text-align:left;vertical-align:top;overflow-wrap:break-word}
th{width:17rem;font-weight:500;white-space:nowrap}
@media(max-width:40rem){tr:not([hidden]),th,td{display:block;width:auto}th{padding-bottom:0;color:var(--soft);white-space:normal}td{padding-top:0;border-top:0}}
@media(prefers-color-scheme:dark){:root{--ink:#ececea;--soft:#a9adb4;--page:#161618;--card:#202023;--line:#3b3b40;--bad:#ff8389;--good:#8fd6a3;--mark:#1f3a28}}
@media print{:root{--page:#fff;--soft:#333}body{padding:0;font-size:10pt}.search{display:none}.card,tr{break-inside:avoid}}
</style></head>
<body>
)";

inline constexpr const char* kPageEnd =
    R"(<script>const box=document.getElementById("search");box.closest("p").hidden=false;box.addEventListener("input",()=>{const word=box.value.toLowerCase();for(const row of document.querySelectorAll("details tr"))row.hidden=!row.textContent.toLowerCase().includes(word)})</script>
</body></html>
)";

}  // namespace wye::tool
