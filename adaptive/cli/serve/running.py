"""A server from its first line to Ctrl-C: what is at fault is said in one sentence before anybody comes."""

from __future__ import annotations

import csv
import io
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adaptive.cli.errors import CommandError
from adaptive.cli.serve.workers import inherited, supervise
from adaptive.files import write_file

if TYPE_CHECKING:
    from adaptive.serve import Pool, Survey
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["bracketed", "listen", "run"]

HERE = ("localhost", "127.0.0.1", "::1")


def run(
    source: Survey | Pool, place: str, *, host: str, port: int, names: Sequence[str], behind_proxy: bool,
    invite: int, export: str, workers: int = 1,
) -> None:  # fmt: skip
    """Serve until Ctrl-C; the folder, or the database, holds everything."""
    import uvicorn

    from adaptive.loop import LogError
    from adaptive.serve import StoreError, application, open_store
    from adaptive.serve.stores.opening import is_address

    parent = inherited()  # None: this is not one of several workers
    folder = "the database" if is_address(place) else place
    try:
        with open_store(place, shared=parent is not None) as store:
            folder = store.name
            listening = listen(host, port) if parent is None else parent
            try:
                port = listening.getsockname()[1]
                base = (
                    f"https://{names[0]}" if behind_proxy else f"http://{bracketed(names[0] if names else host)}:{port}"
                )
                links = _invitations(store, 0 if parent is not None else invite, base)
                if workers > 1 and parent is None:
                    _say(source.title, base, folder, links, host, behind_proxy, export)
                    supervise(workers, listening)
                app = application(
                    source, store, hosts=_hosts(host, names), invitations=bool(links), secure=behind_proxy
                )
                if parent is None:
                    _say(source.title, base, folder, links, host, behind_proxy, export)
                settings: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False,
                                            "proxy_headers": False, "timeout_graceful_shutdown": 5,
                                            "ws": "none", "http": _connections(behind_proxy)}  # fmt: skip
                server = uvicorn.Server(uvicorn.Config(app, **settings))
                server.run(sockets=[listening])
            finally:
                listening.close()
    except (StoreError, LogError) as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise CommandError(f"{problem.strerror or problem} while writing {folder}; nothing is lost.") from None
    except KeyboardInterrupt:
        pass
    if parent is not None:
        return
    print(f"\nStopped; the answers are in {folder}. Type the command again to carry on; {export} writes them out.")


def _connections(behind_proxy: bool) -> Any:
    """The class of connections: as many as there may be files open, and of one address a share of them."""
    from adaptive.serve.gate.connections import SPARE, Limits, guarded, most_files

    limits = Limits()
    return guarded(
        Limits(
            of_address=None if behind_proxy else limits.of_address,
            in_all=max(50, min(limits.in_all, most_files() - SPARE)),
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Open an address, or say in a sentence why it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
    except OSError as problem:
        raise CommandError(f"--host {host} is no address of this machine: {problem.strerror}.") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as problem:
        listening.close()
        raise CommandError(
            f"port {port} of {host} cannot be used ({problem.strerror}); name another with --port."
        ) from None
    return listening


def bracketed(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def _hosts(host: str, names: Sequence[str]) -> list[str]:
    """Names by which browsers may call the server."""
    own = [host] if host not in ("0.0.0.0", "::") else [socket.gethostname(), socket.getfqdn()]
    return [bracketed(name) for name in (*HERE, *own, *names)]


def _invitations(store: AnyStore, wanted: int, base: str) -> list[str]:
    """Make as many links as there are to be in all; return the new ones. The store knows their hashes only."""
    from adaptive.serve.people import People

    made = int(store.facts().get("invitations", 0))
    if made == 0 and wanted == 0:
        return []
    store.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = store.folder / "invitations.csv"
    text = io.StringIO(path.read_text(encoding="utf-8") if path.exists() else "session,link\n")
    text.seek(0, io.SEEK_END)
    new = People(store).invite(max(0, wanted - made))
    csv.writer(text, lineterminator="\n").writerows((number, f"{base}/i/{secret}") for number, secret in new)
    write_file(path, text.getvalue())
    path.chmod(0o600)
    store.set_fact("invitations", str(max(made, wanted)))
    return [f"{max(made, wanted)} invitations, {len(new)} of them new, are in {path}"]


def _say(title: str, base: str, folder: str, links: list[str], host: str, behind_proxy: bool, export: str) -> None:
    print(f"{title}: {base}/" if not links else f"{title}: {links[0]}")
    print(
        f"Answers are kept in {folder}; {export} writes them out. Ctrl-C stops; type the command again to carry on.",
        flush=True,
    )
    if host not in HERE and not behind_proxy:
        print(
            f"adaptive: warning: others on the network reach {host}, and what they answer travels unencrypted; put a "
            "proxy with https in front and say --behind-proxy.", flush=True,
        )  # fmt: skip
