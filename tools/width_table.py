#!/usr/bin/env python3
"""Writes src/base/utf8_width.c from the Unicode data that Python carries.

Run it from the top of the tree: python3 tools/width_table.py > src/base/utf8_width.c
"""
import unicodedata


def is_zero(c):
    """Combining marks, format characters and the vowels and finals of Hangul
    syllables are drawn onto their neighbour. The soft hyphen is drawn."""
    if c == 0xAD:
        return False
    if 0x1160 <= c <= 0x11FF:
        return True
    return unicodedata.category(chr(c)) in ("Mn", "Me", "Cf")


def is_wide(c):
    if is_zero(c):
        return False
    if 0x20000 <= c <= 0x2FFFD or 0x30000 <= c <= 0x3FFFD:
        return True
    return unicodedata.east_asian_width(chr(c)) in ("W", "F")


def ranges(predicate):
    first = None
    for c in range(0x300, 0x110001):
        inside = c <= 0x10FFFF and predicate(c)
        if inside and first is None:
            first = c
        if not inside and first is not None:
            yield first, c - 1
            first = None


def table(name, predicate):
    print(f"const struct width_range {name}[] = {{")
    row = []
    for first, last in ranges(predicate):
        row.append(f"{{ 0x{first:04X}, 0x{last:04X} }},")
        if len(row) == 4:
            print("\t" + " ".join(row))
            row = []
    if row:
        print("\t" + " ".join(row))
    print("};")
    print(f"const size_t {name}_count = sizeof({name}) / sizeof({name}[0]);")


print("/* Written by tools/width_table.py from Unicode " + unicodedata.unidata_version + ": do not edit. */")
print('#include "base/utf8_width.h"\n')
print("/* clang-format off */")
table("width_zero", is_zero)
print()
table("width_two", is_wide)
print("/* clang-format on */")
