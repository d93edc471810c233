"""The files that perch keeps, on a disk whose power is cut: state.json, plugins.toml, grants.toml, the
files of plugins, tokens, bindings, profiles; and those of MCP clients that it changes."""
import json
import os
import shutil
import subprocess
import tomllib

from files_plugin import plugin
from power import BUILD, LONG, PLACES, WORK, Damaged, Scene, perch, run, write


class Store(Scene):
    """state.json."""

    def prepare(self):
        plugin(f"{WORK}/counter", 1)
        perch("plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust")

    def act(self, number):
        self.do("run", "counter", str(number))

    def value(self):
        return int(perch("run", "counter", "get").strip() or 0)


class Plugins(Scene):
    """plugins.toml, grants.toml, the files of a plugin and its links."""
    acts = 3 if LONG else 2

    def effort(self, count, steps):
        return (len(steps), 8) if LONG else (1, 0) if count % 2 == 0 else None

    def act(self, number):
        plugin(f"{WORK}/counter", number)
        self.do("plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust", "--force")

    def value(self):
        listed = json.loads(perch("plugins", "list", "--json"))["plugins"]
        if not listed:
            return 0
        version = int(listed[0]["version"].split(".")[0])
        ran = perch("run", "counter", "version").strip()
        if ran != str(version):
            raise Damaged(f"version {version} is listed, {ran!r} runs")
        self.looks += 1
        if LONG or self.looks % 10 == 0:
            perch("run", "counter", "7")
            if perch("run", "counter", "get").strip() != "7":
                raise Damaged("the plugin may not store")
        return version


class Removal(Scene):
    """A plugin that goes."""
    acts = 1

    def effort(self, count, steps):
        return (len(steps), 8) if LONG else (1, 0)

    def prepare(self):
        plugin(f"{WORK}/counter", 1)
        perch("plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust")

    def act(self, number):
        self.do("plugins", "remove", "counter", "--yes")

    def value(self):
        listed = json.loads(perch("plugins", "list", "--json"))["plugins"]
        if listed and perch("run", "counter", "version").strip() != "1":
            raise Damaged("it is listed, and does not run")
        perch("plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust", "--force")
        return 0 if listed else 1


class Grants(Scene):
    """grants.toml."""

    def prepare(self):
        plugin(f"{WORK}/counter", 1)
        perch("plugins", "install", f"{WORK}/counter", "--copy", "--yes", "--trust")

    def act(self, number):
        self.do("plugins", "allow", "counter", "--env", f"NAME_{number}")

    def value(self):
        audit = perch("plugins", "audit", "--json")
        return max([n for n in range(1, 9) if f"NAME_{n}" in audit], default=0)


class Tokens(Scene):
    """tokens.toml, in a home that has nothing yet."""

    def act(self, number):
        self.do("token", "create", f"name{number}")

    def value(self):
        listed = perch("token", "list")
        return max([n for n in range(1, 9) if f"name{n}" in listed], default=0)


class Bindings(Scene):
    """The bindings of tools."""

    def prepare(self):
        shutil.copy(f"{BUILD}/examples/tool-count", f"{WORK}/count")

    def act(self, number):
        self.do("tool", "add", f"{WORK}/count", "--name", f"t.n{number}", "--yes", stdin=subprocess.DEVNULL)

    def value(self):
        names = [one["name"] for one in json.loads(perch("tool", "list", "--json"))["bindings"]]
        return max([n for n in range(1, 9) if f"t.n{n}" in names], default=0)


class Profiles(Scene):
    """Profiles of agents, in a home that has nothing yet."""
    names = ("codex", "ollama", "gemini", "opencode")

    def act(self, number):
        self.do("agent", "add", self.names[number - 1])

    def value(self):
        done = 0
        for number, name in enumerate(self.names, 1):
            path = f"{PLACES['XDG_CONFIG_HOME']}/perch/agents/{name}.yaml"
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    if file.read() != self.catalogue(name):
                        raise Damaged(f"{path} is half a file")
                done = number
        return done

    @staticmethod
    def catalogue(name):
        with open(f"{os.environ['PERCH_SOURCE']}/catalogue/{name}.yaml", encoding="utf-8") as file:
            return file.read()


class Clients(Scene):
    """The files of MCP clients: config.toml, which is there, and others in directories that are not."""
    files = (("codex", ".codex/config.toml"), ("cursor", ".cursor/mcp.json"), ("gemini", ".gemini/settings.json"),
             ("windsurf", ".codeium/windsurf/mcp_config.json"))

    def prepare(self):
        write(f"{PLACES['HOME']}/.codex/config.toml", '# mine\nmodel = "m"\n')

    def act(self, number):
        self.do("mcp", "connect", self.files[number - 1][0], "--yes", stdin=subprocess.DEVNULL)

    def value(self):
        done = 0
        for number, (_, name) in enumerate(self.files, 1):
            path = f"{PLACES['HOME']}/{name}"
            text = ""
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            if name.endswith(".toml") and (not text.startswith("# mine\n") or tomllib.loads(text)["model"] != "m"):
                raise Damaged(f"{path} has lost what was in it: {text!r}")
            if "perch" in text:
                if not name.endswith(".toml"):
                    json.loads(text)
                done = number
            elif text and not name.endswith(".toml"):
                raise Damaged(f"{path} is half a file: {text!r}")
        return done


run()
