#!/usr/bin/env python3
"""Writes src/base/utf8_width.c from the Unicode data that Python carries.

Run it from the top of the tree: python3 tools/width_table.py > src/base/utf8_width.c
"""
import unicodedata


# Format characters that are drawn all the same: the soft hyphen, and the signs
# that Arabic, Syriac and Kaithi write around a number.
DRAWN = {0xAD, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}

# Wide even where no character is assigned yet: the CJK blocks and planes.
RESERVED_WIDE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD),
                 (0x30000, 0x3FFFD))

# The vowels and finals of Hangul syllables are drawn onto the consonant before.
HANGUL_TAIL = ((0x1160, 0x11FF), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))


def is_among(c, pairs):
    return any(first <= c <= last for first, last in pairs)


def is_zero(c):
    """Drawn onto its neighbour, or not at all."""
    if c in DRAWN:
        return False
    return is_among(c, HANGUL_TAIL) or unicodedata.category(chr(c)) in ("Mn", "Me", "Cf")


def is_wide(c):
    """Python calls what is unassigned full width, so that is asked first."""
    if is_zero(c):
        return False
    if unicodedata.category(chr(c)) == "Cn":
        return is_among(c, RESERVED_WIDE)
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
print('#include "base/utf8.h"\n')
print("/* clang-format off */")
table("width_zero", is_zero)
print()
table("width_two", is_wide)
print("/* clang-format on */")
