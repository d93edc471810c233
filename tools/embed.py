#!/usr/bin/env python3
"""Writes files as one C table of their texts: embed.py TABLE OUTPUT FILE…

A file is known by the last two parts of its path, as bash/program."""

import sys

table, output, files = sys.argv[1], sys.argv[2], sys.argv[3:]


def literal(line):
    text = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
    return '\t  "%s"' % "".join(c if c < "\x7f" else "".join("\\%03o" % b for b in c.encode()) for c in text)


with open(output, "w", encoding="ascii") as out:
    out.write('/* Made by tools/embed.py. */\n#include "base/embedded.h"\n\n')
    out.write("extern const struct embedded %s[];\nconst struct embedded %s[] = {\n" % (table, table))
    for path in files:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        out.write('\t{ "%s",\n%s },\n' % ("/".join(path.split("/")[-2:]), "\n".join(map(literal, lines))))
    out.write("\t{ 0 },\n};\n")
