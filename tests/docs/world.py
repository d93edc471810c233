"""Runs the blocks of a page as its reader would: in one directory, one after the other.

    sh        /bin/sh -eu; it must end with 0. Where it goes (`cd`) the next one is
    console   lines `$ COMMAND` (continued by `> `), each with what it prints; `...` in a
              line stands for anything, and on a line of its own for any lines. Where
              nothing else is expected the command must end with 0
    c         without a file marker: compiled, and linked if it has a main
"""
import os
import re
import shutil
import signal
import subprocess

BLOCK_SECONDS = 60
# What a machine lacks is not the page's subject.
MACHINE = re.compile(r"^warning: not enforced here: .*\n", re.M)
MARK = "-- the next command of the page --"


class World:
    """A home, a working directory and an environment that belong to one page."""

    def __init__(self, directory, source, environment):
        self.work = os.path.join(directory, "work")
        self.home = os.path.join(directory, "home")
        self.output = os.path.join(directory, "output")
        self.place = os.path.join(directory, "place")
        self.script = os.path.join(directory, "script")
        for name in ("work", "home", "tmp", "runtime"):
            os.makedirs(os.path.join(directory, name), mode=0o700)
        shutil.copytree(os.path.join(source, "examples"), os.path.join(self.work, "examples"))
        self._write(self.place, self.work + "\n")
        self.environment = {
            **environment,
            "HOME": self.home,
            "TMPDIR": os.path.join(directory, "tmp"),
            "XDG_RUNTIME_DIR": os.path.join(directory, "runtime"),
        }

    @staticmethod
    def _write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def run(self, block):
        """None, or what went wrong."""
        if block.kind == "not-run":
            return None
        if block.kind == "file":
            return self._write(os.path.join(self.work, block.note), block.text)
        runners = {"sh": self._run_sh, "console": self._run_console, "c": self._compile}
        runner = runners.get(block.language)
        if not runner:
            return ("nobody runs a block of '%s': give it a language that is run, "
                    "a file marker, or not-run with its reason" % block.language)
        return runner(block)

    def _shell(self, options, text):
        """The exit code, or None when it took too long; and what was printed."""
        self._write(self.script, "cd \"$(cat '%s')\"\ntrap 'pwd >\"%s\"' EXIT\n%s"
                    % (self.place, self.place, text))
        with open(self.output, "wb") as output:
            process = subprocess.Popen(
                ["/bin/sh", *options, self.script], cwd=self.work, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
            try:
                code = process.wait(BLOCK_SECONDS)
            except subprocess.TimeoutExpired:
                code = None
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        with open(self.output, errors="replace") as output:
            return code, output.read()

    def _run_sh(self, block):
        code, output = self._shell(["-eu"], block.text)
        if code == 0:
            return None
        ending = "no end after %d s" % BLOCK_SECONDS if code is None else "exit code %d" % code
        return output + ending

    def _run_console(self, block):
        try:
            commands = split_console(block.lines)
        except ValueError as error:
            return str(error)
        script = "mark() { code=$?; echo \"%s $code\"; return $code; }\n" % MARK
        script += "".join("%s\nmark\n" % command for command, _ in commands)
        code, output = self._shell([], script)
        if code is None:
            return output + "no end after %d s" % BLOCK_SECONDS
        results = re.split(MARK + r" (\d+)\n", MACHINE.sub("", output))
        outputs, codes = results[:-1:2], results[1::2]
        if len(outputs) != len(commands):
            return output + "the block ended before its last command"
        for (command, expected), printed, code in zip(commands, outputs, codes):
            if not looks_like(expected, printed.rstrip().split("\n")):
                return "$ %s\nprinted:\n%s\nexpected:\n%s" % (command, printed, "\n".join(expected))
            if expected == ["..."] and code != "0":
                return "$ %s\nprinted:\n%s\nexit code %s" % (command, printed, code)
        return None

    def _compile(self, block):
        source = os.path.join(os.path.dirname(self.script), "block-%d.c" % block.line)
        self._write(source, block.text)
        kits = re.search(r"perch/(plugin|toolkit|agentkit)\.h", block.text)
        package = "perch-sdk" if kits else "perch"
        target = "-o '%s.out'" % source if re.search(r"\bmain\(", block.text) else "-fsyntax-only"
        code, output = self._shell(["-eu"], "cc -std=c17 -Wall -Wextra -Werror '%s' %s "
                                   "$(pkg-config --cflags --libs %s)\n" % (source, target, package))
        return None if code == 0 else output + "does not compile"


def split_console(lines):
    """[(command, the lines it prints)]"""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif not commands:
            raise ValueError("a console block begins with a line `$ COMMAND`")
        elif line.startswith("> ") and not commands[-1][1]:
            commands[-1] = (commands[-1][0] + "\n" + line[2:], [])
        else:
            commands[-1][1].append(line)
    if not commands:
        raise ValueError("the block is empty")
    return commands


def looks_like(expected, printed):
    expected = "\n".join(line.rstrip() for line in expected).rstrip("\n")
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in expected.split("\n"))
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed) + "\n") is not None
