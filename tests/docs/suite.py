"""python3 suite.py SOURCE PERCH PREFIX WORK: the suite, as TAP.

One result for each block, one for each kind of name on each page, and before them
those of pages made to be wrong: a runner that finds nothing proves nothing."""
import glob
import os
import sys
import tempfile

import names
import planted
from page import Page
from world import World

# First of all the programs of the system: an interpreter below somebody's home is
# out of sight for a tool in its sandbox.
SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")

# What the runner of the tests needs, and what decides how output looks.
KEPT = ("LC_ALL", "TERM", "PERCH_TEST_RUN")

count = failures = 0


def result(name, problem):
    global count, failures
    count += 1
    failures += bool(problem)
    print("%sok %d - %s" % ("not " if problem else "", count, name))
    for line in (problem or "").splitlines():
        print("# " + line)
    sys.stdout.flush()


def read_pages(source):
    pages = {}
    for name in ["README.md", *sorted(glob.glob("docs/*.md", root_dir=source))]:
        with open(os.path.join(source, name)) as file:
            pages[name] = Page(name, file.read())
    return pages


def environment_for(perch, prefix, home):
    """What a reader has who installed perch: no XDG directories but those of the home."""
    folders = [os.path.dirname(perch), os.path.join(prefix, "bin"), *SYSTEM]
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    author = {"GIT_%s_%s" % (who, what): value for who in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "Reader"), ("EMAIL", "reader@example.org"))}
    return {
        **kept,
        **author,
        "HOME": home,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": ":".join([*folders, os.environ["PATH"]]),
        "PKG_CONFIG_PATH": os.path.join(prefix, "pkgconfig"),
        "LD_LIBRARY_PATH": os.environ.get("DOCS_LIBRARIES", ""),
    }


def run_page(page, source, environment, work):
    for line, text in page.problems:
        result("%s:%d" % (page.name, line), text)
    with tempfile.TemporaryDirectory(dir=work) as directory:
        world = World(directory, source, environment)
        for block in page.blocks:
            what = block.language if block.kind is None else "%s: %s" % (block.kind, block.note)
            result("%s:%d %s" % (page.name, block.line, what), world.run(block))


def check_names(page, tree, pages):
    for check in names.CHECKS:
        found = ["%s:%d: %s" % (page.name, *problem) for problem in check(page, tree, pages)]
        result("%s: %s" % (page.name, check.__name__), "\n".join(found))


def main(source, perch, prefix, work):
    environment = environment_for(perch, prefix, work)
    tree = names.Tree(source, perch, environment)
    with tempfile.TemporaryDirectory(dir=work) as directory:
        for name, problem in planted.results(directory, source, environment, tree):
            result(name, problem)
    pages = read_pages(source)
    wanted = os.environ.get("DOCS_PAGES", "").split()
    for name, page in pages.items():
        if not wanted or name in wanted:
            run_page(page, source, environment, work)
            check_names(page, tree, pages)
    result("every command is told of", "\n".join(names.untold(tree, pages)))
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
