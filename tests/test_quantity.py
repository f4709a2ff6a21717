"""Quantities of a text: exact, with their unit; what only looks like one is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from checkpoint.extractors._quantity import change, decimal, duration, find, normalise, parse

# what holds digits and is no quantity
NONE = [
    "no digit at all",
    "v1.2.3 and 10.0.0.1 and 1.2.3-rc1",
    "2026-02-11 09:04:11, 11.02.2026",
    "3f9c2ab 0x1f a1b2c3d4e5f6",
    "client.py:12:30 and #417",
    "GPU 0-3, lines 70-100p, 9/10",
    "3px h264 mp4 utf8 x86_64",
    "http://h:8080/v1 user@10.1.2.3",
    "the 1990s",
    "awk '{print $1}'",
    "1,4d0",
]


@pytest.mark.parametrize("text", NONE)
def test_no_quantity(text: str):
    assert find(text) == []


# text -> (verbatim, value, unit, dimension, value in the base unit)
ONE = [
    ("at 94.0 tok/s.", "94.0 tok/s", "94.0", "tok/s", "rate", "94"),
    ("9,412,000 tokens/s", "9,412,000 tokens/s", "9,412,000", "tokens/s", "rate", "9412000"),
    ("9.4M tokens/s", "9.4M tokens/s", "9.4", "tokens/s", "rate", "9400000"),
    ("2.1 million ops/sec", "2.1 million ops/sec", "2.1", "ops/sec", "rate", "2100000"),
    ("did 417 docs/s", "417 docs/s", "417", "docs/s", "rate", "417"),
    (
        "90 requests per minute",
        "90 requests per minute",
        "90",
        "requests per minute",
        "rate",
        "1.5",
    ),
    ("31.0 ms per step", "31.0 ms per step", "31.0", "ms per step", "time each", "0.031"),
    ("8.5 ms/token", "8.5 ms/token", "8.5", "ms/token", "time each", "0.0085"),
    ("0.38 ns/op", "0.38 ns/op", "0.38", "ns/op", "time each", "0.00000000038"),
    ("16 B/op", "16 B/op", "16", "B/op", "bytes each", "16"),
    ("38,2 ms statt mehr", "38,2 ms", "38,2", "ms", "time", "0.0382"),
    ("0,123 s", "0,123 s", "0,123", "s", "time", "0.123"),
    ("1.234,5 ms", "1.234,5 ms", "1.234,5", "ms", "time", "1.2345"),
    ("38 000 req/s", "38 000 req/s", "38 000", "req/s", "rate", "38000"),
    ("14m32.118s", "14m32.118s", "14m32.118s", "s", "time", "872.118"),
    ("1h 5m 3s", "1h 5m 3s", "1h 5m 3s", "s", "time", "3903"),
    ("took 2 min 14 s", "2 min 14 s", "2 min 14 s", "s", "time", "134"),
    ("耗时14分32秒左右", "14分32秒", "14分32秒", "秒", "time", "872"),
    ("約32毫秒", "32毫秒", "32", "毫秒", "time", "0.032"),
    ("1.3 мс", "1.3 мс", "1.3", "мс", "time", "0.0013"),
    ("a 30-second sleep", "30-second", "30", "second", "time", "30"),
    ("600 Mbit/s", "600 Mbit/s", "600", "Mbit/s", "transfer", "75000000"),
    ("97,887 MiB", "97,887 MiB", "97,887", "MiB", "bytes", "102641958912"),
    ("547 GB", "547 GB", "547", "GB", "bytes", "547000000000"),
    ("512 B", "512 B", "512", "B", "bytes", "512"),
    ("a 7B model", "7B", "7", "B", "count", "7000000000"),
    ("fell by -4.2%", "-4.2%", "-4.2", "%", "share", "-0.042"),
    ("+5.9 %", "+5.9 %", "5.9", "%", "share", "0.059"),
    ("4.5x faster", "4.5x", "4.5", "x", "ratio", "4.5"),
    ("costs $12.50", "$12.50", "12.50", "$", "money", "12.5"),
    ("3.1 GHz", "3.1 GHz", "3.1", "GHz", "frequency", "3100000000"),
    ("12 TFLOPS", "12 TFLOPS", "12", "TFLOPS", "compute", "12000000000000"),
    ("71 °C", "71 °C", "71", "°C", "temperature", "71"),
]


@pytest.mark.parametrize(("text", "verbatim", "value", "unit", "dimension", "normal"), ONE)
def test_one(text: str, verbatim: str, value: str, unit: str, dimension: str, normal: str):
    (found,) = find(text)
    assert (found.text, found.value, found.unit) == (verbatim, value, unit)
    assert text[found.start : found.end] == verbatim
    known = normalise(found)
    assert known is not None
    assert known[0] == dimension
    assert known[1] == pytest.approx(Decimal(normal))


def test_ranges_and_spreads_are_one_quantity():
    (span,) = find("takes 5-10 minutes")
    assert (span.text, span.value, span.upper, span.unit) == ("5-10 minutes", "5", "10", "minutes")
    (before,) = find("25.2 ± 6.9 ms")
    (after,) = find("25.2 ms ± 6.9 ms")
    assert (before.value, before.spread, after.value, after.spread) == (
        "25.2", "6.9", "25.2", "6.9 ms")  # fmt: skip


def test_several_in_order():
    found = find("841327.00 requests per second, p50=0.879 msec (99.2%)")
    assert [q.text for q in found] == ["841327.00 requests per second", "0.879 msec", "99.2%"]
    assert [q.text for q in find("from 14m32s to 6m03s")] == ["14m32s", "6m03s"]


@pytest.mark.parametrize("text", ["", "fast", "5 of 6", "94 tok/s and more", "1.2.3", "12:99:1x"])
def test_a_text_that_is_not_one_quantity(text: str):
    assert parse(text) is None


@pytest.mark.parametrize(("text", "seconds"), [("6:03", "363"), ("1:02:03.5", "3723.5"),
                                               ("0:01.23", "1.23"), ("2h", "7200")])  # fmt: skip
def test_durations(text: str, seconds: str):
    known = parse(text)
    assert known is not None
    assert known.normal() == duration(text) == Decimal(seconds)


@pytest.mark.parametrize(
    ("value", "number"),
    [("1,234", "1234"), ("12,34", "12.34"), ("1 234.5", "1234.5"), ("1.234.567", "1234567"),
     ("1,234,567.8", "1234567.8"), ("1e-5", "0.00001"), ("-4.2", "-4.2")],
)  # fmt: skip
def test_decimals(value: str, number: str):
    assert decimal(value) == Decimal(number)


@pytest.mark.parametrize("value", ["", "n/a", "1.2.x"])
def test_no_decimal(value: str):
    assert decimal(value) is None


def test_changes():
    assert change(Decimal("88.8"), Decimal("94.0")) == "+5.9 %"
    assert change(Decimal("88.8"), Decimal("61.2")) == "-31.1 %"
    assert change(Decimal(5), Decimal(5)) == "±0 %"
    assert change(Decimal(0), Decimal(5)) == ""
