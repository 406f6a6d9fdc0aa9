"""A PostgreSQL server of our own: in a folder that goes with it, on a free port, to be cut off and brought back."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.serve.shared.process import free_port

__all__ = ["Postgres", "programs", "server"]

SERVER = "postgres"  # the account that packages make; a server refuses to run as root


def programs() -> Path | None:
    """Return the folder of initdb and pg_ctl; None where no server is installed."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    kept = [*Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(kept, key=lambda path: float(path.parts[-3])).parent if kept else None


class Postgres:
    """A server, running until it is stopped.

    Parameters
    ----------
    folder : Path, optional
        Where its folder is made.
    """

    def __init__(self, folder: Path | None = None) -> None:
        found = programs()
        if found is None:
            raise OSError("no PostgreSQL server is installed here.")
        self._bin, self.folder = found, Path(tempfile.mkdtemp(prefix="adaptive-postgres-", dir=folder))
        self.port, self._n = free_port(), 0
        if os.getuid() == 0:
            os.chown(self.folder, pwd.getpwnam(SERVER).pw_uid, -1)
        self._run("initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()

    def _run(self, program: str, *arguments: Any) -> None:
        options: dict[str, Any] = {}
        if os.getuid() == 0:
            owner = pwd.getpwnam(SERVER)
            options = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [str(self._bin / program), *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False, **options,
        )  # fmt: skip
        if done.returncode:
            raise OSError(f"{program} ends with {done.returncode}: {done.stdout[-2000:]}")

    def start(self) -> None:
        """Start it, or start it again."""
        settings = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-o", settings, "-w", "start")

    def stop(self) -> None:
        """Stop it, and cut all connections."""
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def address(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://tester@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """Return the address of an empty database."""
        self._n += 1
        self.run(f"CREATE DATABASE n{self._n}")
        return self.address(f"n{self._n}")

    def run(self, statement: str) -> list[Any]:
        """Run a statement as its owner."""
        import psycopg

        with psycopg.connect(self.address(), autocommit=True) as connection:
            found = connection.execute(statement)  # type: ignore[call-overload]
            return found.fetchall() if found.description else []

    def cut(self) -> None:
        """Cut the connections of everybody else."""
        self.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> 'postgres'")

    def close(self) -> None:
        """Stop it and remove its folder."""
        with contextlib.suppress(OSError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def server() -> Iterator[Postgres]:
    """Run a server meanwhile."""
    running = Postgres()
    try:
        yield running
    finally:
        running.close()
