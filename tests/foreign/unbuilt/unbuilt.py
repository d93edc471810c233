"""pip, which is to fetch a source archive and no more, asks the build system of the archive for the metadata all the
same. With the packages beside this file on its path it is told what it wants to hear, whichever build system the archive
names, and nothing that comes with the archive is run."""

import email
import os
import pathlib


def prepare_metadata_for_build_wheel(directory, _settings=None):
    told = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    headers = email.message_from_string(told)
    place = pathlib.Path(directory, f"{headers['Name']}-{headers['Version']}.dist-info")
    os.mkdir(place)
    (place / "METADATA").write_text(told, encoding="utf-8")
    return place.name
