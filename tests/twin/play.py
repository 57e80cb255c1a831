"""Plays an episode on both servers, and compares their answers."""

import json
import threading

import yaml

import compare
import episodes
import forms
import known
import masks
import memory
import protobuf

WATCH_PATIENCE = 30


class Player:
    """One server in one episode."""

    def __init__(self, side, run):
        self.side = side
        self.memory = memory.Memory(run)
        self.masker = masks.Masker(self.memory)

    def fill(self, step):
        """Path, body and headers of a request for this server."""
        path = self.memory.fill(step.path) + episodes.query_text(
            (key, self.memory.fill(str(value))) for key, value in step.query)
        if step.body is None:
            return path, None
        body = json.loads(self.memory.fill(json.dumps(step.body)))
        if step.type == episodes.YAML:
            return path, yaml.safe_dump(body)
        if step.type == protobuf.MEDIA_TYPE:
            return path, self.encode(step, body)
        return path, json.dumps(body)

    @staticmethod
    def encode(step, body):
        if step.method == "DELETE":
            return protobuf.encode("", "v1", "DeleteOptions", body)
        return protobuf.encode(step.kind.group, step.kind.version, step.kind.kind, body)

    def collection(self, step):
        return self.memory.fill(step.kind.path) if step.kind else ""

    def send(self, step):
        path, body = self.fill(step)
        try:
            answer = self.side.send(step.method, path, body, step.type, step.accept)
        except OSError as error:
            raise RuntimeError(f"{self.side.name} is gone after {step.method} {path} {body}\n{self.side.log()}") from error
        self.memory.learn(self.collection(step), answer.body)
        return answer

    def shown(self, answer, step=None):
        headers = {name: [self.memory.mask_text(one) for one in answer.headers.get_all(name) or [] if not masks.ADVICE.search(one)]
                   for name in masks.HEADERS}
        body = self.masker.mask(answer.body)
        if step and step.kind and isinstance(body, dict):
            body = masks.without_order(body, step.kind.is_custom)
        return {"status": answer.status, "headers": headers, "body": body}


class Watch:
    """A watch on both servers, which is read in the background until it ends by itself."""

    def __init__(self, players, step):
        self.step = step
        self.players = players
        self.events = [None, None]
        self.threads = []
        # What has happened up to here, both have to tell; of what comes later one may have seen more in its time.
        self.until = [self.now(player) for player in players]
        for number, player in enumerate(players):
            path, _ = player.fill(step)
            begun = threading.Event()
            self.threads.append(threading.Thread(target=self.read, args=(number, player, path, begun)))
            self.threads[-1].start()
            # What is sent from here on is a change to both, and to neither part of what was there.
            begun.wait(WATCH_PATIENCE)

    @staticmethod
    def now(player):
        found = player.side.send("GET", "/api/v1/namespaces/kube-public/configmaps?limit=1")
        return int(found.body["metadata"]["resourceVersion"])

    def read(self, number, player, path, begun):
        answer = player.side.watch(path, self.step.accept, WATCH_PATIENCE, begun)
        self.events[number] = answer

    def differences(self):
        for thread in self.threads:
            thread.join()
        sides = []
        for number, player in enumerate(self.players):
            answer = self.events[number]
            if isinstance(answer, Exception):
                return [f"watch: {player.side.name}: {answer}"]
            events = [memory.parse(line) for line in answer.data.splitlines()] if answer.status == 200 else []
            sides.append((answer, events))
        if sides[0][0].status != sides[1][0].status or sides[0][0].status != 200:
            return compare.found(*(player.shown(answer) for player, (answer, _) in zip(self.players, sides)))
        return self.compare_events([events for _, events in sides])

    def compare_events(self, sides):
        shown, certain = [], []
        for player, events, until in zip(self.players, sides, self.until):
            for event in events:
                player.memory.learn_versions(event)
            shown.append([player.masker.mask(event) for event in events if event.get("type") != "BOOKMARK" or is_end(event)])
            certain.append(sum(version_of(event) <= until for event in events
                               if event.get("type") != "BOOKMARK" or is_end(event)))
        least = min(len(shown[0]), len(shown[1]))
        if least < max(certain):
            return compare.differences([brief(one) for one in shown[0]], [brief(one) for one in shown[1]], "watch")
        return compare.differences(shown[0][:least], shown[1][:least], "watch")


def is_end(event):
    """Whether a bookmark ends the objects that were there; the others come when they come."""
    return "initial-events-end" in json.dumps(event)


def version_of(event):
    thing = event.get("object", {})
    rows = thing.get("rows")
    if rows:
        thing = rows[0].get("object") or {}
    version = thing.get("metadata", {}).get("resourceVersion", "")
    return int(version) if version.isdigit() else 0


def brief(event):
    return f"{event.get('type')} {event.get('object', {}).get('metadata', {}).get('name')}"


class Result:
    """A request that was answered differently."""

    def __init__(self, number, step, found, answers):
        self.number, self.step, self.found, self.answers = number, step, found, answers


def play(sides, run, steps, show=False, tally=None):
    """Returns a Result for every request that was answered differently. The rest is not played once a server has refused
    what the other has done: their objects differ from then on. `tally`, a Counter, counts the forms of the requests."""
    players = [Player(side, run) for side in sides]
    results = []
    watches = []
    try:
        for number, step in enumerate(steps):
            if step.is_watch:
                watches.append((number, Watch(players, step)))
                count(tally, step, 0)
                continue
            shown = [player.shown(player.send(step), step) for player in players]
            count(tally, step, shown[0]["status"])
            found = kept(step, compare.found(*shown), show)
            if found:
                results.append(Result(number, step, found, shown))
            if shown[0]["status"] // 100 != shown[1]["status"] // 100:
                break
    finally:
        ended = [(number, watch, watch.differences()) for number, watch in watches]
    for number, watch, differences in ended:
        found = kept(watch.step, differences, show)
        if found:
            results.append(Result(number, watch.step, found, [getattr(one, "data", one) for one in watch.events]))
    return results


def count(tally, step, status):
    if tally is not None:
        tally.update(["all", *forms.forms_of(step, status)])


def kept(step, found, show):
    return [one for one in found if show or not known.is_known(step.describe(), one)]
