"""What watcher and judge read a store with: plain files, or plain HTTP. No Lakestream."""

import http.client
import os
import re
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "reader"))
import s3  # noqa: E402  the reader's

TEMPORARY = ".lakestream-tmp"


class Folder:
    """A stream in a folder."""

    def __init__(self, root):
        self.root = Path(root)

    def get(self, key):
        """The bytes; None if there is no such object."""
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            return None

    def keys(self):
        for folder, _, names in os.walk(self.root):
            for name in names:
                key = str((Path(folder) / name).relative_to(self.root))
                if not key.startswith(TEMPORARY + "/lock-"):  # 64 empty files at most
                    yield key

    def unfinished(self):
        return []  # temporary files are among the keys


class Bucket:
    """A stream below a prefix of a bucket, asked directly, not through the proxy."""

    def __init__(self, settings, prefix):
        self.settings, self.prefix = settings, prefix
        self._connect()

    def _connect(self):
        self.s3 = s3.S3(*(self.settings["RGW_" + name] for name in ("ENDPOINT", "BUCKET", "ACCESS", "SECRET")))

    def _persist(self, call):
        """The server is killed now and then: tries until it is back."""
        for attempt in range(200):
            try:
                return call()
            except FileNotFoundError:
                return None
            except (OSError, http.client.HTTPException) as problem:
                if attempt == 199:
                    raise problem
                time.sleep(0.2)
                self._connect()

    def get(self, key):
        return self._persist(lambda: self.s3.get(f"{self.prefix}/{key}"))

    def keys(self):
        found = self._persist(lambda: list(self.s3.keys(self.prefix + "/")))
        return [key[len(self.prefix) + 1 :] for key in found]

    def unfinished(self):
        """Keys of multipart uploads that were neither completed nor aborted."""
        page = self._persist(lambda: self.s3.get("", {"uploads": "", "prefix": self.prefix + "/"}))
        return re.findall(r"<Key>(.*?)</Key>", page.decode())


def open_store(spec):
    return Folder(spec["folder"]) if "folder" in spec else Bucket(spec["settings"], spec["prefix"])


def copy(store, folder):
    """All objects into `folder`."""
    for key in store.keys():
        body = store.get(key)
        if body is not None:
            target = Path(folder) / key
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(body)
