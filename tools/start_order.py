#!/usr/bin/env python3
"""Writes src/start_order.ld: the code that the commands run through for which people wait. The
linker puts it together, so that a start touches few pages.

    tools/start_order.py [BUILD]     build-test; with valgrind, and perch linked statically

Under valgrind there are no sandboxes and no guard, and no processor has AVX-512: what those need is
taken as a whole."""
import bisect
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else TOP + '/build-test')
LIST = TOP + '/src/start_order.ld'

# What a user would have, below a home of its own.
PREPARE = r'''
mkdir -p "$XDG_CONFIG_HOME/fledge/plugins/bin" "$XDG_CONFIG_HOME/fledge/plugins/say"
printf 'command: sh\nargs: [-c, "echo hello"]\n' >agent.yaml
"$PERCH" tool add "$TOP/examples/tools/bash" --name words --sandbox off --yes
cd "$XDG_CONFIG_HOME/fledge/plugins"
printf '#!/bin/sh\nread -r init\necho "{\"type\":\"output\",\"text\":\"hello\"}"\n' >say/fledge-say
chmod +x say/fledge-say
ln -s ../say/fledge-say bin/fledge-say
printf '[plugin]\nname = "say"\nversion = "1"\nprotocol = "fledge-v1"\n' >say/plugin.toml
printf '[[plugins]]\nname = "say"\ncommands = ["say"]\n' >../plugins.toml
'''
TURN = ['agent', 'run', '--profile', 'agent.yaml', '--prompt', 'hello']
RUNS = [
    TURN + ['--no-store'],
    TURN,
    ['tool', 'call', 'words', 'hello.greet', '--input', '{"name":"you"}'],
    ['run', '--sandbox=off', 'say'],
]

HEAD = """/* The code that the commands run through for which people wait: it lies together, and a start
 * touches few pages. Written by tools/start_order.py; a name that is nowhere does no harm. */
SECTIONS
{
	.text.start :
	{
		*libc.a:*-evex*.o(.text.*)
		*libc.a:*-avx512-*.o(.text.*)
		*libc.a:clone.o(.text)
		*libc.a:dl-lookup.o(.text)
		*libc.a:dl-object.o(.text)
		*libc.a:pwritev64v2.o(.text)
"""
TAIL = """		*proc_*.c.o(.text)
		*sandbox_*.c.o(.text)
	}
}
INSERT BEFORE .text;
"""


def output_of(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def pattern(file, section):
    archive, member = re.fullmatch(r'(?:.*/)?([^/(]+)(?:\((.+)\))?', file).groups()
    return f'*{archive}:{member}({section})' if member else f'*{archive}({section})'


def link(directory):
    """The program, and the pieces it is made of: (address, pattern of the linker)."""
    command = output_of('ninja', '-C', BUILD, '-t', 'commands', 'perch').splitlines()[-1]
    command = command.replace(' -o perch ', f' -o {directory}/perch -Wl,-Map={directory}/map ')
    subprocess.run(command, shell=True, check=True, cwd=BUILD)
    with open(directory + '/map', encoding='utf-8') as file:
        found = re.findall(r'^ (\.text\S*)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+ (\S+)$', file.read(), re.M)
    return sorted((int(at, 16), pattern(file, section)) for section, at, file in found)


def prepare(directory):
    os.environ.update(HOME=directory, XDG_CONFIG_HOME=directory + '/config',
                      XDG_STATE_HOME=directory + '/state', PERCH=directory + '/perch', TOP=TOP)
    os.chdir(directory)
    subprocess.run(['cp', BUILD + '/perch-guard', '.'], check=True)
    subprocess.run(['sh', '-euc', PREPARE], check=True)


def functions(argv):
    """Those that ran, by name."""
    subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=ran', '-q', '--', *argv],
                   check=True, stderr=subprocess.DEVNULL)
    with open('ran', encoding='utf-8') as file:
        return set(re.findall(r"^c?fn=\(\d+\) ([^'\s]+)", file.read(), re.M))


# SQLite stays where it is: most of it runs.
def order(pieces, directory):
    starts = [at for at, _ in pieces]
    addresses = re.findall(r'^([0-9a-f]+) [tTwWi] (\S+)$', output_of('nm', 'perch'), re.M)
    found = {}
    for words in RUNS:
        ran = functions([directory + '/perch', *words])
        for at in sorted(int(at, 16) for at, name in addresses if name in ran):
            piece = bisect.bisect(starts, at) - 1
            if piece >= 0 and 'libsqlite3.a' not in pieces[piece][1]:
                found.setdefault(pieces[piece][1])
    return found


def main():
    with tempfile.TemporaryDirectory() as directory:
        pieces = link(directory)
        prepare(directory)
        found = order(pieces, directory)
    with open(LIST, 'w', encoding='utf-8') as file:
        file.write(HEAD + ''.join(f'\t\t{piece}\n' for piece in found) + TAIL)
    print(f'{LIST}: {len(found)} pieces')


main()
