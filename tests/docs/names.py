"""What the pages name exists: links, files, commands, options, tests, messages, folders.

Each check is a generator of (line, what is wrong)."""
import functools
import glob
import os
import re
import subprocess

# Options of other programs that the pages speak of.
FOREIGN_OPTIONS = {"--porcelain", "--oneline"}

# Names that work and are not offered.
ALIASES = {"plugin": "plugins"}

# Where names of functions and tests are looked for.
CODE = ("tests", "src", "include", "sdk", "bench")

# A word in capitals is a place holder: tests/unit/NAME.c.
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|…|\*")


class Tree:
    """The source tree, and the words that the built perch knows."""

    def __init__(self, source, perch, environment):
        self.source = source
        self.perch = perch
        self.environment = environment

    def has(self, *places):
        return any(glob.glob(os.path.join(self.source, PLACEHOLDER.sub("*", place)))
                   for place in places)

    def folders(self, place):
        with os.scandir(os.path.join(self.source, place)) as entries:
            return {entry.name for entry in entries if entry.is_dir() and entry.name[0] != "."}

    @functools.cache
    def read(self, place):
        with open(os.path.join(self.source, place), errors="replace") as file:
            return file.read()

    @functools.cache
    def text_of(self, *folders):
        """All C files and tests below these folders, as one text."""
        return "\n".join(
            self.read(os.path.relpath(path, self.source)) for folder in folders
            for path in glob.glob(os.path.join(self.source, folder, "**"), recursive=True)
            if path.endswith((".c", ".h", ".bats", ".sh", ".py")))

    def _ask(self, *arguments, name=None):
        return subprocess.run([name or self.perch, *arguments], executable=self.perch,
                              env=self.environment, stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, text=True).stdout

    @functools.cache
    def words(self, *path):
        """The commands that may stand behind `perch PATH…`."""
        lines = self._ask("__complete", *path, "").splitlines()
        return {line.split("\t")[0] for line in lines}

    @functools.cache
    def options(self, *path):
        lines = self._ask("__complete", *path, "--").splitlines()
        return {line.split("\t")[0] for line in lines}

    @functools.cache
    def all_options(self):
        """Of every command, and of perch by its other names."""
        known = self.options() | FOREIGN_OPTIONS
        for command in self.words():
            known |= self.options(command)
            for word in self.words(command):
                known |= self.options(command, word)
        helps = [self._ask("--help", name=name) for name in ("fledge", "agentproc")]
        helps += [self._ask("help", "plugins"), self.read("dev")]
        return known | set(re.findall(r"--[a-z][a-z-]+", "\n".join(helps)))


def links(page, tree, pages):
    folder = os.path.dirname(page.name)
    for number, line in page.prose:
        for target in sum(re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", line), ()):
            if not target or re.match(r"[a-z]+://|mailto:", target):
                continue
            place, _, anchor = target.partition("#")
            place = os.path.normpath(os.path.join(folder, place)) if place else page.name
            if not os.path.exists(os.path.join(tree.source, place)):
                yield number, "a link leads nowhere: " + target
            elif anchor and place in pages and anchor not in pages[place].anchors():
                yield number, "no heading is called so: " + target


def files(page, tree, _pages):
    tops = {name for name in tree.folders("") if not name.startswith("build")}
    made = {block.note for block in page.blocks if block.kind == "file"}
    for number, span in page.spans():
        word = span.split("#")[0]
        if word in made or not re.fullmatch(r"[\w./*…-]+", word) or word.startswith((".", "/")):
            continue
        head, slash, _ = word.partition("/")
        if slash and head in tops:
            known = tree.has(word, "tests/%s.bats" % word)  # a file, or a suite
        elif re.fullmatch(r"\w+/\w+\.[ch]", word):
            known = tree.has("src/" + word, "include/" + word, "sdk/" + word)
        elif re.fullmatch(r"[\w-]+\.md", word):
            known = tree.has(word, "docs/" + word) or word == "README.md"
        else:
            known = True
        if not known:
            yield number, "no such file: " + word


def commands(page, tree, _pages):
    for number, span in page.spans():
        words = span.split()
        if words[0] == "perch" and len(words) > 1:
            for problem in command_problems(tree, words[1:]):
                yield number, "%s: %s" % (span, problem)
        elif words[0] == "./dev" and len(words) > 1 and words[1].islower():
            for problem in dev_problems(tree, *words[1:]):
                yield number, "%s: %s" % (span, problem)
        elif re.match(r"--[a-z]", span):
            for option in re.findall(r"--[a-z][a-z-]+", span):
                if option not in tree.all_options():
                    yield number, "no command has the option " + option


def dev_problems(tree, verb, *names):
    """`./dev test unit/base-buf escape`, `./dev bench json`, `./dev fuzz --budget 1e6 utf8`."""
    usage = re.search(r"^usage: .*?^END", tree.read("dev"), re.M | re.S)[0]
    if verb != "help" and not re.search(r"^  %s\b" % re.escape(verb), tree.read("dev"), re.M):
        yield "there is no verb " + verb
    places = {
        "test": ("tests/%s.sh", "tests/%s/*.bats", "tests/%s/*.c", "tests/%s.bats", "tests/%s.c"),
        "bench": ("bench/%s.c", "bench/%s.mjs"),
        "fuzz": ("fuzz/%s.c",),
    }
    for name in filter(str.islower, names):
        if re.match(r"[0-9]", name) or re.search(r"[ |]%s\b" % re.escape(name), usage):
            continue
        file = name.replace("-", "_")
        if verb in places and not tree.has(*(place % file for place in places[verb])):
            yield "there is no " + name


def command_problems(tree, words):
    """`perch plugins|tool allow --read P`: each of the ways must be known."""
    paths, free = [()], False
    for word in [ALIASES.get(words[0], words[0]), *words[1:]]:
        option = re.match(r"\[?(--[a-z][a-z-]+)", word)
        if word == "--" or (free and paths == [("run",)]):
            return
        if option:
            known = set().union(tree.options(), *(tree.options(*path) for path in paths))
            if option[1] not in known | {"--help", "--version", "--json"}:
                yield "there is no option " + option[1]
        elif not free and re.fullmatch(r"[a-z_]+(\|[a-z_]+)*", word):
            grown = [path + (way,) for path in paths for way in word.split("|")]
            missing = [way for way in grown if way[-1] not in tree.words(*way[:-1])]
            if not any(tree.words(*path) for path in paths) or paths == [("run",)]:
                free = True
            elif missing:
                yield "there is no command " + " ".join(missing[0])
                return
            else:
                paths = grown
        elif not word.startswith("-"):
            free = True


def tests(page, tree, _pages):
    """`area/file` "name", `area/file` 3, `unit/file` name, and `long_names_of_tests`."""
    for number, line in page.prose:
        for suite, rest in re.findall(r"`([a-z_]+/[\w-]+)`([^`|]*)", line):
            area, name = suite.split("/")
            unit = area in ("unit", "asan")
            if not unit and not glob.glob(os.path.join(tree.source, "tests", area, "*.bats")):
                continue
            place = "tests/unit/%s.c" % name.replace("-", "_") if unit else "tests/%s.bats" % suite
            if not tree.has(place):
                yield number, "there is no suite " + suite
                continue
            for problem in test_problems(tree.read(place), unit, rest):
                yield number, "%s: %s" % (suite, problem)
        for name in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){2,})(?:_?…)?`", line):
            if "noun" not in name and name not in tree.text_of(*CODE):
                yield number, "nothing is called " + name


def test_problems(text, unit, rest):
    named = re.match(r' "((?:[^"\\]|\\.)*)"', rest)
    if named and '@test "%s" {' % named[1] not in text:
        yield 'there is no test "%s"' % named[1]
    for name in re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", rest) if unit else ():
        if name not in text:
            yield "there is no test " + name
    for last in re.findall(r"\b\d+\b", rest) if not unit and not named else ():
        if int(last) > text.count("\n@test "):
            yield "there is no test number " + last


def literals(text):
    """The strings of a C file; those that stand side by side are one."""
    joined = re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI\w+\s*)?"(?:[^"\\\n]|\\.)*")*', text)
    for strings in joined:
        whole = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', strings))
        yield re.sub(r"%[-0-9.*]*(?:l|ll|z|j)?[a-zA-Z]", "…", whole.replace('\\"', '"'))


def messages(page, tree, _pages):
    """The first cell of each row of a table quotes a message as the source has it."""
    if os.path.basename(page.name) != "troubleshooting.md":
        return
    known = list(literals(tree.text_of("src")))
    for number, line in page.prose:
        quoted = re.match(r"\| `([^`]+)`", line)
        if not quoted:
            continue
        message = re.sub(r"^(error|warning|hint): ", "", quoted[1])
        pattern = re.compile(".*".join(re.escape(part) for part in message.split("…")))
        if not any(pattern.search(text) for text in known):
            yield number, "perch never says: " + quoted[1]


def folders(page, tree, _pages):
    """The picture of the house shows every folder of src, and no other."""
    if page.name != "docs/architecture.md":
        return
    picture = "\n".join(block.text for block in page.blocks[:1])
    shown = set(re.findall(r"\bsrc/(\w+)/", picture))
    line = page.blocks[0].line
    for name in sorted(shown - tree.folders("src")):
        yield line, "src/%s is not there" % name
    for name in sorted(tree.folders("src") - shown):
        yield line, "src/%s is not shown" % name
    for name in sorted(set(re.findall(r"\b\w+\.[ch]\b", picture))):
        if not tree.has("src/" + name, "src/*/" + name):
            yield line, "no such file: " + name
    order = re.search(r"order='\n(.*?)'", tree.read("tests/layers.sh"), re.S)[1]
    floors = [[picture.find("src/" + name) for name in floor.split()]
              for floor in order.splitlines()]
    for lower, upper in zip(floors, floors[1:]):
        if -1 < min(lower) < max(upper):
            yield line, "the order is not that of tests/layers.sh"


def suites(page, tree, _pages):
    """The table of suites has every group of tests."""
    if page.name != "docs/contributing.md":
        return
    text = page.text
    for path in glob.glob(os.path.join(tree.source, "tests", "*", "*.bats")):
        group = os.path.basename(os.path.dirname(path))
        if "`%s/…`" % group not in text:
            yield 1, "no line about " + group
    for path in glob.glob(os.path.join(tree.source, "tests", "*.sh")):
        name = os.path.basename(path)[:-len(".sh")]
        if name != "lib" and "`%s`" % name not in text:
            yield 1, "no line about " + name


def packages(page, tree, _pages):
    """Every package of the table in ./dev has its reason."""
    if page.name != "docs/dependencies.md":
        return
    table = re.search(r"^packages='\n(.*?)'", tree.read("dev"), re.M | re.S)[1]
    for name in sorted({line.split()[1] for line in table.splitlines()}):
        if "`%s`" % name not in page.text:
            yield 1, "nothing is said about " + name


def index(page, tree, pages):
    """docs/README.md leads to every page."""
    if page.name != "docs/README.md":
        return
    text = "\n".join(line for _, line in page.prose)
    for name in sorted(pages):
        link = "(%s" % name.removeprefix("docs/")
        if name.startswith("docs/") and name != page.name and link not in text:
            yield 1, "leads nowhere to " + name


def untold(tree, pages):
    """The commands, `perch COMMAND WORD`, that no page speaks of."""
    text = "\n".join(page.text for page in pages.values())
    for command in sorted(tree.words()):
        for word in sorted(tree.words(command)) or [""]:
            said = ("perch %s %s" % (command, word)).strip()
            if command != "help" and said not in text:
                yield said


CHECKS = (links, files, commands, tests, messages, folders, suites, packages, index)
