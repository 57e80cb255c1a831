"""Quantities of Kubernetes, read exactly."""

import fractions
import re

SUFFIXES = {"": 1, "n": fractions.Fraction(1, 10**9), "u": fractions.Fraction(1, 10**6), "m": fractions.Fraction(1, 1000),
            "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
            **{f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}}


def amount(text):
    number, suffix = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)", str(text)).groups()
    return fractions.Fraction(number) * SUFFIXES[suffix]
