"""Two servers on one PostgreSQL database behind nginx: one is killed, the database is dumped and restored."""

from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from adaptive.cli import run as adaptive
from experiments.script import Script, command
from experiments.serve.shared.crowd import Crowd
from experiments.serve.shared.killing import questionnaire
from experiments.serve.shared.postgres import Postgres, programs, server
from experiments.serve.shared.process import Server, free_port

N_ITEMS = 12
NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error warn; worker_processes 1;
events {{ }}
http {{
    access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    upstream adaptive {{ server 127.0.0.1:{one}; server 127.0.0.1:{other}; }}
    server {{
        listen 127.0.0.1:{port} ssl; server_name localhost;
        ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
        location / {{
            proxy_pass http://adaptive; proxy_set_header Host $host; proxy_next_upstream error timeout;
        }}
    }}
}}
"""


def proxy(folder: Path, port: int, one: int, other: int) -> subprocess.Popen[bytes]:
    """Start nginx, with a certificate of its own."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")], check=True, capture_output=True,
    )  # fmt: skip
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, one=one, other=other))
    found = shutil.which("nginx") or "/usr/sbin/nginx"
    return subprocess.Popen([found, "-p", str(folder), "-c", str(folder / "nginx.conf")])


def answers(path: Path) -> list[dict[str, str]]:
    """Return the answers of an export."""
    with (path / "answers.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def tried(folder: Path, database: Postgres, people: int) -> dict[str, Any]:
    """Let people answer by https, kill a server meanwhile, dump and restore; return what came of it."""
    file, address = questionnaire(folder / "test.toml", N_ITEMS), database.new()
    options = ("--store", address, "--behind-proxy", "--name", "localhost")
    with Server(file, *options, port=free_port()) as one, Server(file, *options, port=free_port()) as other:
        port = free_port()
        nginx = proxy(folder, port, one.port, other.port)
        try:
            time.sleep(1.0)
            crowd = Crowd(f"https://localhost:{port}", people, lambda rng: rng.uniform(0.2, 0.8), verify=False)
            answering = threading.Thread(target=crowd.run, args=(60.0,))
            answering.start()
            while len(crowd.posts) < 2 * people:
                time.sleep(0.05)
            one.kill()
            answering.join()
        finally:
            nginx.terminate()
            nginx.wait(10)
        assert adaptive(["export", address, "--out", str(folder / "before")]) == 0
    restored = database.new()
    bin_ = programs()
    assert bin_ is not None
    dump = subprocess.run([str(bin_ / "pg_dump"), "--format=custom", address], check=True, capture_output=True).stdout
    subprocess.run([str(bin_ / "pg_restore"), f"--dbname={restored}"], input=dump, check=True)
    assert adaptive(["export", restored, "--out", str(folder / "after")]) == 0
    before, after = answers(folder / "before"), answers(folder / "after")
    sessions = {row["session"] for row in before}
    return {
        "answers": len(before), "acknowledged": crowd.acknowledged, "faults": crowd.faults,
        "whole": len(before) == N_ITEMS * people == len({(row["session"], row["item"]) for row in before}),
        "sessions": len(sessions), "same": before == after,
    }  # fmt: skip


def run(script: Script) -> None:
    """Try what the guide says."""
    people = 3 if script.quick else 20
    with tempfile.TemporaryDirectory() as folder, server() as database:
        Path(folder).chmod(0o755)
        found = tried(Path(folder), database, people)
    script.judge(
        "ours-serve-two-hosts", found["whole"] and found["same"] and found["acknowledged"] <= found["answers"],
        claim="Two servers on one PostgreSQL database behind nginx: when one is killed the other goes on with every "
        "session, and a dump restored elsewhere exports the same answers.",
        target=f"{people} people answer {N_ITEMS} items each by https, none lost, none doubled",
        value=f"{found['answers']} answers of {found['sessions']} people kept, {found['faults']} requests cut off by "
        f"the kill and made again, exports {'equal' if found['same'] else 'different'}",
        reason="Both servers run on one machine here, with addresses as on two machines.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
