#!/usr/bin/env python3
"""Draws docs/pictures/load.svg from what `bench-queue load` has printed: load.py <FIGURES >load.svg"""
import math
import re
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 50, 30, 150
SERIES = {"p50": ("half of the jobs", "#2563eb"), "p99": ("99 of 100", "#d97706")}
LEAST, MOST = 100, 1000000  # microseconds, on a scale of powers of ten

figures = {}
for line in sys.stdin:
    found = re.match(r"queue/load (p\d+)-at-(\d+) (\d+) us", line)
    if found:
        figures.setdefault(found.group(1), []).append((int(found.group(2)), int(found.group(3))))
fastest = max(rate for points in figures.values() for rate, _ in points)


def x(rate):
    return LEFT + rate * (WIDTH - LEFT - RIGHT) / fastest


def y(us):
    part = (math.log10(us) - math.log10(LEAST)) / (math.log10(MOST) - math.log10(LEAST))
    return HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP)


print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
      'font-size="12">\n<title>How long a job waits for a worker, against the jobs that come</title>\n'
      f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>')
for us, words in ((100, "0.1 ms"), (1000, "1 ms"), (10000, "10 ms"), (100000, "100 ms"), (1000000, "1 s")):
    print(f'<path d="M{LEFT} {y(us):.0f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>'
          f'<text x="{LEFT - 8}" y="{y(us) + 4:.0f}" text-anchor="end">{words}</text>')
for rate in range(0, fastest + 1, 2000):
    print(f'<text x="{x(rate):.0f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{rate}</text>')
print(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">jobs that come in a second</text>'
      f'<text x="{LEFT - 50}" y="18">from acceptance to its worker</text>')
for row, (name, points) in enumerate(figures.items()):
    words, colour = SERIES[name]
    path = "L".join(f"{x(rate):.0f} {y(us):.0f}" for rate, us in points)
    print(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for rate, us in points:
        print(f'<circle cx="{x(rate):.0f}" cy="{y(us):.0f}" r="3" fill="{colour}"/>')
    print(f'<text x="{WIDTH - RIGHT + 14}" y="{TOP + 20 + row * 20}" fill="{colour}">{words}</text>')
print("</svg>")
