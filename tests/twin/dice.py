"""Chance with a seed: the same seed gives the same requests."""

import random


class Dice(random.Random):
    """Small choices that makers of objects and requests are written in."""

    def chance(self, percent):
        return self.random() * 100 < percent

    def pick(self, *values):
        return self.choice(values)

    def some(self, values, most=None):
        """A few of the values, in their order."""
        count = self.randint(0, min(len(values), most or len(values)))
        return [values[i] for i in sorted(self.sample(range(len(values)), count))]

    def maybe(self, percent, **members):
        """The members, or none of them; those that are functions are called only then."""
        if not self.chance(percent):
            return {}
        return {name: value() if callable(value) else value for name, value in members.items()}

    def labels(self, least=0):
        """A few labels; some of their values are shared by many objects, so that selectors find several."""
        names = self.sample(["app", "tier", "twin.io/zone", "n"], self.randint(least, 3))
        return {name: self.pick("a", "b", "c", "") for name in names}

    def quantity(self, resource):
        if resource == "memory":
            return self.pick("64Mi", "1Gi", "128974848", "129e6", "1500M", "0.5Gi", "1.5Gi", 1024)
        if resource == "cpu":
            return self.pick("1", "500m", "0.1", 2, "1500m", "2000m", "0.0005")
        return self.pick("1", 2, "4")
