"""Pages that are wrong, each in one way, and what must be said about them."""
import os

import names
from page import Page
from world import World

# What, the page, and a word of the problem; None: there must be none.
BLOCKS = (
    ("sh that fails", "```sh\nfalse\n```", "exit code 1"),
    ("sh that fails in its middle", "```sh\nfalse\ntrue\n```", "exit code 1"),
    ("sh with a variable that is not set", "```sh\necho $nothing\n```", "nothing"),
    ("sh that works", "```sh\ntrue\n```", None),
    ("a directory that is left is left for the next block",
     "```sh\nmkdir a\ncd a\n```\n\n```sh\ntouch ../a/b\ntest -e b\n```", None),
    ("a file for the next block", "<!-- file: d/x.toml -->\n```toml\na = 1\n```\n\n"
     "```console\n$ cat d/x.toml\na = 1\n```", None),
    ("console with another output", "```console\n$ echo one\ntwo\n```", "printed"),
    ("console with more output", "```console\n$ printf 'a\\nb\\n'\na\n```", "printed"),
    ("console with less output", "```console\n$ true\na\n```", "printed"),
    ("console with any lines between",
     "```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n```", None),
    ("console with any word in a line", "```console\n$ echo took 12 ms\ntook ... ms\n```", None),
    ("console with an exit code", "```console\n$ false\n$ echo $?\n1\n```", None),
    ("console with a longer command", "```console\n$ cat <<X\n> a\n> X\na\n```", None),
    ("console that may print anything, but not fail",
     "```console\n$ false\n...\n```", "exit code 1"),
    ("console without a command", "```console\nhello\n```", "$ COMMAND"),
    ("console that ends itself", "```console\n$ exit 0\n$ echo a\na\n```", "before its last"),
    ("C that compiles", "```c\n#include <perch/perch.h>\nint main(void) { return 0; }\n```", None),
    ("C that does not", "```c\nint main(void) { return nothing; }\n```", "does not compile"),
    ("a fragment of C", "```c\nint twice(int a) { return 2 * a; }\n```", None),
    ("no language", "```\nhello\n```", "nobody runs"),
    ("a language that is not run", "```toml\na = 1\n```", "nobody runs"),
    ("not-run", "<!-- not-run: it needs a machine -->\n```sh\nfalse\n```", None),
    ("not-run without a reason", "<!-- not-run: no -->\n```sh\nfalse\n```", "three words"),
    ("a marker above nothing", "<!-- not-run: it needs a machine -->\nhello", "no block"),
    ("a file that no reader knows of", "<!-- file: x -->\n```toml\n```", "no reader"),
    ("a file outside", "<!-- file: ../x -->\n```toml\n```", "below the page's directory"),
    ("a block without an end", "```sh\ntrue", "no end"),
    ("an indented block", "hello\n\n    true\n", "indented"),
)

# The check, a line of a page, and whether something is wrong with it.
NAMES = (
    ("links", "[a](docs/nothing.md)", True),
    ("links", "[a](docs/fledge.md)", False),
    ("links", "[a](#nothing)", True),
    ("files", "`src/base/nothing.c`", True),
    ("files", "`src/base/buf.c` `tests/unit/NAME.c` `base/buf.h`", False),
    ("files", "`base/nothing.c`", True),
    ("commands", "`perch nothing`", True),
    ("commands", "`perch tool nothing`", True),
    ("commands", "`perch tool call --nothing`", True),
    ("commands", "`perch tool|agent allow --read P`", False),
    ("commands", "`perch tool|nothing allow`", True),
    ("commands", "`perch run deploy --nothing`", False),
    ("commands", "`perch run --nothing deploy`", True),
    ("commands", "`perch sandbox run --explain -- ls --nothing`", False),
    ("commands", "`--nothing`", True),
    ("commands", "`--explain`", False),
    ("commands", "`./dev nothing`", True),
    ("commands", "`./dev test unit/nothing`", True),
    ("commands", "`./dev test unit/base-buf escape layers`", False),
    ("commands", "`./dev bench json` `./dev fuzz 60 utf8`", False),
    ("commands", "`./dev fuzz --budget 1e6 utf8` `./dev test quick`", False),
    ("commands", "`./dev fuzz --nothing`", True),
    ("commands", "`./dev bench nothing`", True),
    ("tests", '`fledge/wire` "nothing"', True),
    ("tests", '`fledge/wire` "init: byte-exact against the golden line"', False),
    ("tests", "`unit/nothing`", True),
    ("tests", "`unit/base-buf` there_is_no_such_test", True),
    ("tests", "`fledge/wire` 1, 9999", True),
    ("tests", "`there_is_no_such_name_" + "at_all`", True),
    ("messages", "| `perch never says this` |", True),
    ("messages", "| `error: there is no command 'nothing'` |", True),
    ("messages", "| `error: there is no command '…'` |", False),
    ("folders", "```text\nsrc/base/ buf.c\n```", True),
    ("suites", "`unit/…`", True),
    ("packages", "`gcc`", True),
    ("index", "[a](another.md)", True),
    ("index", "[a](other.md)", False),
)

# Some checks are about one page alone.
PAGE_OF = {"folders": "docs/architecture.md", "suites": "docs/contributing.md",
           "packages": "docs/dependencies.md", "index": "docs/README.md"}


def block_problem(directory, source, environment, text, expected):
    page = Page("planted.md", text)
    world = World(directory, source, environment)
    problems = [text for _, text in page.problems]
    problems += [problem for problem in map(world.run, page.blocks) if problem]
    if expected is None:
        return "\n".join(problems)
    return None if any(expected in problem for problem in problems) else "not found: %s" % problems


def name_problem(tree, check, line, wrong):
    page = Page(PAGE_OF.get(check, "troubleshooting.md"), line)
    pages = {page.name: page, "docs/other.md": Page("docs/other.md", "")}
    found = list(getattr(names, check)(page, tree, pages))
    return None if bool(found) == wrong else "%s gave %s" % (line, found)


def results(directory, source, environment, tree):
    for number, (what, text, expected) in enumerate(BLOCKS):
        own = os.path.join(directory, str(number))
        yield "planted: " + what, block_problem(own, source, environment, text, expected)
    for check, line, wrong in NAMES:
        what = "planted: %s: %s, %s" % (check, line, "wrong" if wrong else "fine")
        yield what, name_problem(tree, check, line, wrong)
