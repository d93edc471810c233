"""A plugin that stores what it is told, in a shell: it needs nothing but itself. It says more than fits into a small pipe."""
import os

COUNTER = """#!/bin/sh
IFS= read -r init
word=${init#*'"args":["'}
word=${word%%'"'*}
case $word in
get)
    echo '{"type":"load","id":"1","key":"n"}'
    IFS= read -r line
    line=${line#*'"value":'}
    printf '{"type":"output","text":"%s"}\\n' "$(echo "$line" | tr -cd 0-9)"
    ;;
version) echo '{"type":"output","text":"VERSION"}' ;;
*)
    printf '{"type":"store","key":"n","value":"%s"}\\n' "$word"
    printf '{"type":"output","text":"%06000d"}\\n' "$word"
    ;;
esac
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def plugin(directory, version):
    write(f"{directory}/plugin.toml", f'[plugin]\nname = "fledge-counter"\nversion = "{version}.0.0"\n'
          'protocol = "fledge-v1"\n[[commands]]\nname = "counter"\nbinary = "bin/fledge-counter"\n'
          '[capabilities]\nstore = true\n')
    write(f"{directory}/bin/fledge-counter", COUNTER.replace("VERSION", str(version)), 0o755)
