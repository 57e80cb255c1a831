"""Random requests to both servers, episode by episode, until as many have been sent as are wanted."""

import collections
import itertools
import json
import re
import time

import custom
import episodes
import kinds
import play
import shrink

LENGTH = 40
RANDOM_KINDS = 6
SHOWN = 4000
PATIENCE = 300


class Campaign:
    """`sides` are the two servers. Custom kinds are the same for all episodes of a seed."""

    def __init__(self, sides, seed, only=(), is_quick=False):
        self.sides, self.seed = sides, seed
        self.runs = itertools.count()
        self.requests = self.episodes = 0
        self.kinds = [*kinds.BUILT_IN]
        self.only = only
        self.is_quick = is_quick
        self.seen = collections.Counter()
        self.tally = collections.Counter()  # of the forms of requests that both servers have answered

    def define(self, wait):
        """Defines the custom kinds on both sides; `wait` returns when the real one serves a path."""
        for definition in custom.definitions(self.seed, RANDOM_KINDS):
            for side in self.sides:
                answer = side.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
                if answer.status != 201:
                    raise RuntimeError(f"{side.name} refused {definition['metadata']['name']}: {answer.data!r}")
            self.kinds += custom.kinds_of(definition)
        for kind in self.kinds:
            if kind.is_custom:
                wait(f"/apis/{kind.api_version}/{kind.plural}")

    def wait_ready(self):
        """Returns when the real server has read all kinds again after its start."""
        for kind in self.kinds:
            path = f"/apis/{kind.api_version}/{kind.plural}" if kind.group else f"/api/v1/{kind.plural}"
            for _ in range(PATIENCE):
                if self.sides[0].send("GET", path + "?limit=1&resourceVersion=0").status == 200:
                    break
                time.sleep(0.1)

    def play(self, steps, tally=None):
        """The Results of a sequence of requests."""
        return play.play(self.sides, f"x{next(self.runs):06d}", steps, tally=tally)

    def episode(self, number):
        """Plays one; returns texts about differences that are new, each with the smallest way to it."""
        wanted = [one for one in self.kinds if not self.only or one.plural in self.only]
        steps = episodes.Episode(f"{self.seed} {number}", wanted, LENGTH).steps
        self.episodes += 1
        results = self.play(steps, self.tally)
        self.requests = self.tally["all"]
        return [text for text in (self.report(number, result, steps) for result in results) if text]

    def report(self, number, result, steps):
        about = brief(result)
        self.seen[about] += 1
        if self.seen[about] > 1:
            return ""
        best, kept = (result, steps) if self.is_quick else shrink.shrink(self.play, result, steps)
        return f"episode {number} of seed {self.seed}: {about}\n" + report(best, kept)


def brief(result):
    """The kind of a difference, for counting."""
    where = re.sub(r"\d+", "N", result.found[0])[:160]
    return f"{result.step.method}: {where}"


def report(result, steps):
    lines = [f"  {one.describe()[:900]}" for one in steps[:result.number + 1]]
    lines.append(f"  then: {result.step.describe()[:1500]}")
    lines += [f"    differs: {one[:1500]}" for one in result.found[:12]]
    lines += [f"    {name}: {str(one if isinstance(one, (bytes, Exception)) else json.dumps(one))[:SHOWN]}"
              for name, one in zip(("kube-apiserver", "muster"), result.answers)]
    return "\n".join(lines)
