"""What a disk may hold when its power is cut, by what recorder.c has written down.

A change is on disk for sure once what it was made to was synced: the contents of a file by a sync of
that file, a name by a sync of the directory it stands in. Of all other changes, any may be there
and any may be missing, in any order but that of changes to one name; a rename is one change, on
disk with either directory; a directory that is not reached from the root is lost with all that is in it."""
import collections
import hashlib
import os
import shutil

SECTOR = 512
EVERYTHING = object()


class Node:
    def __init__(self, kind, mode=0o600, data=b""):
        self.kind, self.mode, self.data = kind, mode, data  # data of a link: where it leads to
        self.entries = {}  # of a directory, as a process sees them now


class Change:
    """To the contents of a file, or to entries: (directory, name, what is there then or None)."""

    def __init__(self, file=None, at=0, data=None, entries=(), mode=None):
        self.file, self.at, self.data, self.entries, self.mode = file, at, data, entries, mode
        self.waits_for = {file} if file else {entry[0] for entry in entries}  # not synced yet

    def contents(self, before):
        if self.mode is not None:
            return before
        if self.data is None:  # a truncation
            return before[:self.at].ljust(self.at, b"\0")
        return before[:self.at].ljust(self.at, b"\0") + self.data + before[self.at + len(self.data):]

    def torn(self):
        """Its first half, where it is longer than what a disk writes at once."""
        half = len(self.data or b"") // 2 // SECTOR * SECTOR
        return Change(self.file, self.at, self.data[:half]) if half else None


def load(path):
    """A node for what is at the path, and below it."""
    status = os.lstat(path)
    if os.path.islink(path):
        return Node("link", data=os.readlink(path).encode())
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return Node("file", status.st_mode & 0o7777, file.read())
    node = Node("dir", status.st_mode & 0o7777)
    node.entries = {name: load(f"{path}/{name}") for name in os.listdir(path)}
    return node


def is_volatile(name):
    """The index of SQLite's log is made anew by who comes first; it is written through a mapping."""
    return name.endswith("-shm")


def image(root):
    """path → (kind, mode, contents) of what was loaded."""
    found = {}

    def walk(node, path):
        for name, below in node.entries.items():
            if not is_volatile(name):
                found[f"{path}/{name}"] = (below.kind, below.mode, bytes(below.data))
                walk(below, f"{path}/{name}")
    walk(root, "")
    return found


class Disk:
    """The changes behind an image, with how far each of them is on disk."""

    def __init__(self, path, log, base):
        self.path, self.root = path, base
        self.base = {}  # directory → its entries at the beginning
        self.remember(base)
        self.needs = {}
        self.steps = []  # a Change, a Node that was synced, or a mark
        with open(log, "rb") as file:
            self.read(file)

    def remember(self, node):
        self.base[node] = dict(node.entries)
        for below in node.entries.values():
            self.remember(below)

    def place(self, path):
        names = [name for name in path[len(self.path):].split("/") if name]
        above = self.root
        for name in names[:-1]:
            above = above.entries[name]
        return above, names[-1] if names else None

    def find(self, path):
        above, name = self.place(path)
        return above.entries[name] if name else above

    def read(self, file):
        while head := file.readline():
            operation, at, first, second = head.decode().split()
            path, data = file.read(int(first)).decode(), file.read(int(second))
            getattr(self, f"do_{operation}")(path, int(at), data)

    def name(self, *entries):
        for directory, name, node in entries:
            directory.entries[name] = node
            if node is None:
                del directory.entries[name]
        self.steps.append(Change(entries=entries))

    def new(self, path, node):
        self.base.setdefault(node, {})
        self.name((*self.place(path), node))

    def do_create(self, path, mode, _):
        self.new(path, Node("file", mode))

    def do_mkdir(self, path, mode, _):
        self.new(path, Node("dir", mode))

    def do_symlink(self, path, _, data):
        self.new(path, Node("link", data=data))

    def do_write(self, path, at, data):
        self.steps.append(Change(self.find(path), at, data))

    def do_truncate(self, path, at, _):
        self.steps.append(Change(self.find(path), at))

    def do_rename(self, path, flags, data):
        above, name = self.place(path)
        target, other = self.place(data.decode())
        assert not flags & 2, "an exchange is not known"
        self.name((above, name, None), (target, other, above.entries[name]))

    def do_link(self, path, _, data):
        self.name((*self.place(data.decode()), self.find(path)))

    def do_unlink(self, path, _at, _data):
        self.name((*self.place(path), None))

    def do_sync(self, path, _at, _data):
        self.steps.append(self.find(path))

    def do_syncfs(self, _path, _at, _data):
        self.steps.append(EVERYTHING)

    def do_chmod(self, path, mode, _):
        self.steps.append(Change(self.find(path), mode=mode))

    def do_mark(self, path, _at, _data):
        self.steps.append(path)

    # ---- states -----------------------------------------------------------------------

    def image(self, changes):
        """What is there when these changes are, in this order."""
        entries, contents, modes = {}, {}, {}
        for change in changes:
            if change.mode is not None:
                modes[change.file] = change.mode
            elif change.file:
                contents[change.file] = change.contents(contents.get(change.file, change.file.data))
            for directory, name, node in change.entries:
                if directory not in entries:
                    entries[directory] = dict(self.base[directory])
                if node is None:
                    entries[directory].pop(name, None)
                else:
                    entries[directory][name] = node
        found = {}

        def walk(node, path):
            for name, below in entries.get(node, self.base[node]).items():
                if not is_volatile(name):
                    data = contents.get(below, below.data)
                    found[f"{path}/{name}"] = (below.kind, modes.get(below, below.mode), bytes(data))
                    walk(below, f"{path}/{name}")
        walk(self.root, "")
        return found

    def cuts(self):
        """(how many steps were done, the marks, the changes of them, those that are not on disk for sure)."""
        done, loose, marks = [], [], []
        yield 0, tuple(marks), done, loose
        for count, step in enumerate(self.steps, 1):
            if isinstance(step, Change):
                done.append(step)
                loose.append(step)
            elif step is EVERYTHING:
                for change in loose:
                    change.waits_for.clear()
                loose = []
            elif isinstance(step, Node):
                for change in loose:
                    if step in change.waits_for:
                        change.waits_for.clear()
                loose = [change for change in loose if change.waits_for]
            else:
                marks.append(step)
            yield count, tuple(marks), done, loose

    def below(self, change):
        """The changes that this one needs: earlier ones of the same name in the same directory,
        and what those need."""
        if change in self.needs:
            return self.needs[change]
        found = set()
        if change.entries:
            mine = {(directory, name) for directory, name, _ in change.entries}
            for earlier in self.steps:
                if earlier is change:
                    break
                if isinstance(earlier, Change) and any((entry[0], entry[1]) in mine for entry in earlier.entries):
                    found |= {earlier} | self.below(earlier)
        self.needs[change] = found
        return found

    def choices(self, done, loose, chance, singly, more):
        """Lists of changes that a disk may hold at this cut: all; those that are sure; all but one and one alone,
        of so many of the loose; the last one torn; and `more` that are left to chance."""
        sure = [change for change in done if change.waits_for == set()]
        yield "all", done
        yield "synced", sure
        for one in loose if len(loose) <= singly else chance.sample(loose, singly):
            dropped = {change for change in loose if one in self.below(change)} | {one}
            yield "without one", [change for change in done if change not in dropped]
            kept = set(sure) | self.below(one) | {one}
            yield "one alone", [change for change in done if change in kept]
        if loose and loose[-1] is done[-1] and (torn := done[-1].torn()):
            yield "torn", [*done[:-1], torn]
            yield "torn alone", [*sure, torn]
        for _ in range(more if len(loose) > 2 else 0):
            dropped = {change for change in loose if chance.random() < 0.5}
            dropped |= {change for change in loose if self.below(change) & dropped}
            yield "by chance", [change for change in done if change not in dropped]


def digest(found):
    text = hashlib.sha256()
    for path in sorted(found):
        kind, mode, data = found[path]
        text.update(f"{path}\0{kind}\0{mode}\0{len(data)}\0".encode() + data)
    return text.digest()


def put(path, found):
    """Makes the tree at the path that image."""
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    for name in sorted(found):
        kind, mode, data = found[name]
        if kind == "dir":
            os.mkdir(path + name)
            os.chmod(path + name, mode | 0o700)
        elif kind == "link":
            os.symlink(data.decode(), path + name)
        else:
            with open(path + name, "wb") as file:
                file.write(data)
            os.chmod(path + name, mode)


def differences(found, wanted):
    return [f"{path}: {found.get(path, ('-',))[0]} {wanted.get(path, ('-',))[0]}"
            for path in sorted(set(found) | set(wanted)) if found.get(path) != wanted.get(path)]
