"""See unbuilt.py."""

from unbuilt import prepare_metadata_for_build_wheel  # noqa: F401
