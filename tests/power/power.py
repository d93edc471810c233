"""perch on a disk whose power is cut at every write. A scene does something several times, while
recorder.c writes down what becomes of its files; then perch is started on each state that a disk may
be in by then (disk.py), and has to find what was there before or what was to be, without help.

CHAOS=long: every state, and more of them by chance. CHAOS_SEED plays that again."""
import os
import random
import shutil
import subprocess
import sys
import time

from disk import Disk, differences, digest, image, load, put
from files_plugin import write  # noqa: F401, for the scenes

BUILD = os.environ["PERCH_BUILD"]
WORK = os.environ["WORK"]
ROOT = os.path.realpath(WORK) + "/disk"
LONG = os.environ.get("CHAOS") == "long"
SEED = int(os.environ.get("CHAOS_SEED", random.randrange(1 << 30)))
REPORT = os.environ.get("CHAOS_REPORT")
PLACES = {name: f"{ROOT}/{below}" for name, below in (
    ("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data"),
    ("XDG_CACHE_HOME", "cache"))}
PERCH = f"{BUILD}/perch"
RECORDED = f"{BUILD}/tests/shared/perch"
RECORDER = f"{BUILD}/tests/libpower-recorder.so"


class Damaged(AssertionError):
    pass


def environment(**more):
    return {**os.environ, **PLACES, **more}


def recorded(**more):
    return environment(LD_PRELOAD=RECORDER, POWER_ROOT=ROOT, POWER_LOG=f"{WORK}/log", **more)


def perch(*words, **more):
    """After a power cut: what it prints. It must go well."""
    found = subprocess.run([PERCH, *words], env=environment(), cwd=WORK, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, **more)
    if found.returncode != 0:
        raise Damaged(f"perch {' '.join(words)}: {found.returncode}, {found.stderr.decode().strip()}")
    return found.stdout.decode()


class Scene:
    """`act` does it for the n-th time, `value` tells how often it was done by what is on disk."""
    acts = 4
    looks = 0
    is_durable = True  # what was told to be done stays done

    def prepare(self):
        pass

    def act(self, number):
        raise NotImplementedError

    def finish(self):
        pass

    def value(self):
        raise NotImplementedError

    def effort(self, count, steps):
        """For a cut: how many changes are dropped and kept singly, and how many lots of them by chance. None: it
        is not looked at."""
        return (len(steps), 8) if LONG else (len(steps), 0)

    # ---- recording ----------------------------------------------------------------------

    def do(self, *words, **more):
        found = subprocess.run([RECORDED, *words], env=recorded(), cwd=WORK, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        assert found.returncode == 0, (words, found.returncode, found.stderr.decode())
        return found.stdout.decode()

    @staticmethod
    def mark(text):
        with open(f"{WORK}/log", "ab", buffering=0) as log:
            log.write(f"mark 0 {len(text)} 0\n{text}".encode())

    def record(self):
        shutil.rmtree(ROOT, ignore_errors=True)
        for place in PLACES.values():
            os.makedirs(place)
        self.prepare()
        base = load(ROOT)
        open(f"{WORK}/log", "wb").close()
        for number in range(1, self.acts + 1):
            self.act(number)
            self.mark(str(number))
        self.finish()
        disk = Disk(ROOT, f"{WORK}/log", base)
        changes = [step for step in disk.steps if hasattr(step, "entries") and hasattr(step, "waits_for")]
        unseen = differences(disk.image(changes), image(load(ROOT)))
        assert not unseen, f"the recorder has missed something: {unseen[:8]}"
        return disk

    # ---- cutting ----------------------------------------------------------------------------

    def judge(self, found, marks, how, count):
        put(ROOT, found)
        least = len(marks) if self.is_durable else 0
        try:
            value = self.value()
            if not least <= value <= len(marks) + 1:
                raise Damaged(f"{len(marks)} were done, {value} are there")
        except Damaged as wrong:
            keep = f"{WORK}/damaged"
            put(keep, found)
            raise Damaged(f"{type(self).__name__}, cut behind step {count} ({how}), {len(marks)} acts were "
                          f"over, seed {SEED}: {wrong}") from None

    def play(self):
        began = time.monotonic()
        disk = self.record()
        chance = random.Random(SEED)
        seen = set()
        cuts = states = 0
        for count, marks, done, loose in disk.cuts():
            effort = self.effort(count, disk.steps)
            if effort is None:
                continue
            cuts += 1
            for how, changes in disk.choices(done, loose, chance, *effort):
                states += 1
                found = disk.image(changes)
                key = (digest(found), len(marks))
                if key not in seen:
                    seen.add(key)
                    self.judge(found, marks, how, count)
        line = (f"{type(self).__name__.lower()}: {len(disk.steps)} steps, {cuts} cuts, {states} states, "
                f"{len(seen)} of them different, none damaged; seed {SEED}; {time.monotonic() - began:.1f} s")
        print(line)
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                file.write(line + "\n")


def run():
    """The scene that the command line names."""
    scenes, found = [Scene], {}
    while scenes:
        one = scenes.pop()
        scenes += one.__subclasses__()
        found[one.__name__.lower()] = one
    found[sys.argv[1]]().play()
