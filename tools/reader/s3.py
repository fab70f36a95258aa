"""Reads an S3 bucket with signed plain HTTP requests: what checks a run must not use Lakestream.

Signature version 4 for GET requests without a body, by Python's standard library alone.
"""

import datetime
import hashlib
import hmac
import http.client
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

EMPTY = hashlib.sha256(b"").hexdigest()


class S3:
    def __init__(self, endpoint, bucket, access, secret, region="us-east-1"):
        self.host = urlsplit(endpoint).netloc
        self.connection = http.client.HTTPConnection(self.host, timeout=60)
        self.bucket, self.access, self.secret, self.region = bucket, access, secret, region

    def get(self, key, query=None):
        path = "/" + quote(f"{self.bucket}/{key}", safe="/-_.~")
        text = "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in sorted((query or {}).items()))
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        headers = {"host": self.host, "x-amz-content-sha256": EMPTY, "x-amz-date": now}
        names = ";".join(headers)
        lines = "".join(f"{k}:{v}\n" for k, v in headers.items())
        request = f"GET\n{path}\n{text}\n{lines}\n{names}\n{EMPTY}"
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key_bytes = ("AWS4" + self.secret).encode()
        for part in scope.split("/"):
            key_bytes = hmac.digest(key_bytes, part.encode(), "sha256")
        signature = hmac.digest(key_bytes, to_sign.encode(), "sha256").hex()
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access}/{scope},SignedHeaders={names},Signature={signature}"
        )
        self.connection.request("GET", path + ("?" + text if text else ""), headers=headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status == 404 and key:
            raise FileNotFoundError(f"GET {path}: 404")
        if response.status != 200:
            raise OSError(f"GET {path}: {response.status} {body[:200]!r}")
        return body

    def keys(self, prefix):
        token = None
        while True:
            query = {"list-type": "2", "prefix": prefix}
            if token:
                query["continuation-token"] = token
            page = self.get("", query).decode()
            for key in re.findall(r"<Key>(.*?)</Key>", page):
                yield key  # a stream's keys need no unescaping
            token = re.search(r"<NextContinuationToken>(.*?)</NextContinuationToken>", page)
            if not token:
                return
            token = token[1]


def mirror(s3, prefix, folder):
    """Returns the number of bytes copied."""
    total = 0
    for key in list(s3.keys(prefix + "/")):
        target = Path(folder) / key[len(prefix) + 1 :]
        target.parent.mkdir(parents=True, exist_ok=True)
        body = s3.get(key)
        target.write_bytes(body)
        total += len(body)
    return total
