#!/usr/bin/env python3
"""Writes the files of the page as one C table: embed_page.py OUTPUT FILE…

Each is packed by gzip, which every browser unpacks, and has a strong ETag: the hash of what is sent.
A page of more than PAGE_MOST bytes, as they are embedded and sent, is refused: it is to stay small."""

import gzip
import hashlib
import os
import sys

PAGE_MOST = 150 * 1000
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

output, files = sys.argv[1], sys.argv[2:]
total, arrays, rows = 0, [], []
for number, path in enumerate(files):
    with open(path, "rb") as file:
        text = file.read()
    packed = gzip.compress(text, 9, mtime=0)
    total += len(packed)
    tag = hashlib.sha256(packed).hexdigest()[:32]
    arrays.append("static const unsigned char page_file_%d[] = {\n%s\n};\n" % (
        number, ",".join(map(str, packed))))
    rows.append('\t{ "%s", "%s", "\\"%s\\"", page_file_%d, sizeof(page_file_%d) },\n' % (
        os.path.basename(path), TYPES[os.path.splitext(path)[1]], tag, number, number))
if total > PAGE_MOST:
    sys.exit("the page has %d bytes; it may have %d" % (total, PAGE_MOST))
with open(output, "w", encoding="ascii") as out:
    out.write('/* Made by tools/embed_page.py. */\n#include "serve/serve_page.h"\n\n')
    out.write("".join(arrays) + "\nconst struct page_file page_files[] = {\n" + "".join(rows))
    out.write("\t{ 0 },\n};\n")
