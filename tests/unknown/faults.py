"""What can go wrong at a point. A fault takes the place of the usual course of a request, or of an event of a watch."""

from store import Refusal

SLOW = 0.25
LONG = 0.5
DOWN = 0.1
# Versions between a backup and the time when it is needed.
BACKUP_AGE = 100000
FORBIDDEN = 0.15

STATUSES = {
    "503": (503, "ServiceUnavailable", "the server is currently unable to handle the request", (("Retry-After", "1"),)),
    "504": (504, "Timeout", "request did not complete within the allotted timeout", ()),
    "403": (403, "Forbidden", "no RBAC policy matched", ()),
    "429": (429, "TooManyRequests", "the server has received too many requests", (("Retry-After", "1"),)),
}


def refuse(name):
    def fault(_server, connection, _request):
        connection.refuse(Refusal(*STATUSES[name]))
    return fault


def refuse_after(name):
    """The write is done, and the answer says otherwise."""
    def fault(server, connection, request):
        server.perform(request)
        connection.refuse(Refusal(*STATUSES[name]))
    return fault


def cut_before(_server, connection, _request):
    connection.cut()


def cut_after(server, connection, request):
    server.perform(request)
    connection.cut()


def cut_within(server, connection, request):
    server.serve(connection, request, part=0.5)


def forbid(server, request):
    """For a moment other tries are refused, as by a server that has not loaded its roles yet."""
    server.forbidden_until, server.forbidden_path = server.loop.time() + FORBIDDEN, request.path
    server.later(FORBIDDEN, server.busy)


def stall(server, plural):
    """Watches are open and silent."""
    for watcher in list(server.watchers):
        if watcher.plural == plural:
            watcher.stall(LONG)


def late(server, connection, request):
    """The connection ends, other tries are refused, and the server does it all the same, when nobody expects it."""
    connection.cut()
    forbid(server, request)
    server.later(SLOW, server.perform, request)


def lost(server, connection, request):
    """It is done, but neither the answer nor, for a while, an event says so."""
    stall(server, request.plural)
    server.perform(request)
    connection.cut()


def forbidden(server, connection, request):
    """The same, and other tries are refused."""
    forbid(server, request)
    lost(server, connection, request)


def twice(server, connection, request):
    """Somebody in between has made the request again."""
    server.perform(request)
    server.serve(connection, request)


def slow_before(server, connection, request):
    server.later(SLOW, server.serve, connection, request)


def slow_answer(server, connection, request):
    status, body, headers = server.perform(request)
    server.later(SLOW, connection.answer, status, body, headers)


def slow_event(server, connection, request):
    """The answer is there long before the watch."""
    stall(server, request.plural)
    server.serve(connection, request)


def unseen(server, connection, request):
    """The watches are cut before the write, so that its event comes with the next ones."""
    server.cut_watches(request.plural)
    server.serve(connection, request)


def expired(server, connection, request):
    """The watches are cut, and their versions are too old to go on from."""
    server.serve(connection, request)
    server.cut_watches(request.plural)
    server.store.compact()


def stale(server, connection, request):
    """The same, and a list by another server that does not know of the write yet."""
    version = server.store.version
    server.serve(connection, request)
    server.cut_watches(request.plural, request.client)
    server.store.oldest = version
    server.stale[request.client, request.plural] = version


def restart_before(server, _connection, _request):
    server.restart(DOWN, FORBIDDEN)


def restart_after(server, _connection, request):
    server.perform(request)
    server.restart(DOWN, FORBIDDEN)


def put_back(server, connection, request):
    """The write was answered and seen, and then the store is restored from a backup that does not have it, nor much else
    that others have written since."""
    version = server.store.version
    server.store.version += BACKUP_AGE
    server.serve(connection, request)
    server.later(0.02, server.on_put_back, version)


def killed(server, _connection, request):
    """The client dies before it knows, and another one takes its place."""
    server.perform(request)
    server.on_kill(request.client)


# Leaders that another one follows while a write is under way. Each keeps what it holds until the other has taken over.

def cut_off_before(server, _connection, request):
    """The leader cannot reach the server any more, and the write has not come through."""
    server.cut_off(request.client)


def cut_off_after(server, _connection, request):
    server.perform(request)
    server.cut_off(request.client)


def cut_off_late(server, _connection, request):
    """The server does it a little later, while the lease still holds."""
    server.cut_off(request.client)
    server.later(SLOW, server.perform, request)


def stands_still(server, connection, request):
    """The leader sleeps before it has read the answer."""
    server.serve(connection, request)
    server.on_sleep(request.client)


def dies(server, _connection, request):
    server.perform(request)
    server.on_kill(request.client)
    server.on_takeover(request.client)


def leaves(server, connection, request):
    """The leader is told to stop while it waits for the answer: until it has come nobody else may act."""
    server.on_stop(request.client)
    server.later(SLOW, server.serve, connection, request)


def leaves_late(server, connection, request):
    """The same, but there is no answer, and the server does it all the same."""
    server.on_stop(request.client)
    connection.cut()
    forbid(server, request)
    server.later(SLOW, server.perform, request)


# Events.

def event_cut_before(_server, watcher, _version, _kind, _content):
    watcher.connection.cut()


def event_cut_within(_server, watcher, version, kind, content):
    watcher.tell(version, kind, content, part=0.5)
    watcher.connection.close()


def event_cut_after(_server, watcher, version, kind, content):
    """The watch ends right behind it, and a bookmark."""
    watcher.tell(version, kind, content)
    watcher.bookmark()
    watcher.connection.close()


def event_slow(_server, watcher, version, kind, content):
    watcher.waiting.appendleft((version, kind, content))
    watcher.stall(SLOW)


def event_twice(_server, watcher, version, kind, content):
    watcher.tell(version, kind, content)
    watcher.tell(version, kind, content)


def event_expired(server, watcher, _version, _kind, _content):
    """Instead of the event the stream ends: what comes next has to be listed."""
    server.store.compact()
    watcher.fail(Refusal(410, "Expired", "too old resource version"))
    server.watchers.discard(watcher)


def event_cut_off(server, watcher, _version, _kind, _content):
    server.cut_off(watcher.request.client)


def event_stands_still(server, watcher, version, kind, content):
    watcher.tell(version, kind, content)
    server.on_sleep(watcher.request.client)


# Watches that are opened.

def watch_cut(server, connection, request):
    server.watch(connection, request)
    connection.close()


def watch_expired(_server, connection, _request):
    connection.refuse(Refusal(410, "Expired", "too old resource version"))


def list_stale(server, connection, request):
    """A list of a server that is behind by a few writes."""
    versions = [change.version for change in server.store.history]
    server.stale[request.client, request.plural] = versions[-4] if len(versions) > 4 else server.store.version
    server.serve(connection, request)


READS = {
    "cut-before": cut_before, "cut-within": cut_within, "504": refuse("504"), "403": refuse("403"), "429": refuse("429"),
    "restart": restart_before,
}

TABLE = {
    "write": {
        "cut-before": cut_before, "cut-after": cut_after, "cut-within": cut_within, "late": late, "lost": lost,
        "twice": twice, "504-before": refuse("504"), "504-after": refuse_after("504"), "503": refuse("503"),
        "403": refuse("403"), "429": refuse("429"), "slow-before": slow_before, "slow-answer": slow_answer,
        "slow-event": slow_event, "unseen": unseen, "expired": expired, "stale": stale, "forbidden": forbidden,
        "restart-before": restart_before, "restart-after": restart_after, "killed": killed, "put-back": put_back,
    },
    "note": {"cut-before": cut_before, "cut-after": cut_after, "403": refuse("403"), "slow": slow_answer},
    "read": READS,
    "list": {"cut-within": cut_within, "504": refuse("504"), "403": refuse("403"), "429": refuse("429"),
             "restart": restart_before, "stale": list_stale},
    "watch": {"cut-before": cut_before, "cut-after": watch_cut, "410": watch_expired, "403": refuse("403"),
              "restart": restart_before},
    "event": {"cut-before": event_cut_before, "cut-within": event_cut_within, "cut-after": event_cut_after,
              "410": event_expired},
}

# Only in campaigns: single events that are late or come twice are rarely worse than those of all watches, which are among the
# faults of writes.
MORE = {"read": {"slow": slow_before, "503": refuse("503")}, "event": {"slow": event_slow, "twice": event_twice}}

# Where several schedulers wait for a lease. All else is tried in worlds with one.
TAKEOVERS = {
    "write": {"cut-off-before": cut_off_before, "cut-off-after": cut_off_after, "cut-off-late": cut_off_late,
              "stands-still": stands_still, "dies": dies, "leaves": leaves, "leaves-late": leaves_late},
    "event": {"cut-off": event_cut_off, "stands-still": event_stands_still},
}


def of(table, kind, is_all=False):
    """The faults of a kind of points."""
    more = MORE.get(kind, {}) if is_all and table is TABLE else {}
    return {**table.get(kind, {}), **more}
