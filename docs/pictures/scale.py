#!/usr/bin/env python3
"""Draws docs/pictures/scale.svg from what bench-queue has printed: scale.py <FIGURES >scale.svg"""
import re
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 70, 50, 30, 190
SERIES = {"queue/claim-finish": ("claim, finish", "#2563eb"),
          "queue/claim-begin-finish": ("claim, begin, finish", "#16a34a"),
          "queue/ten-events": ("and ten events, in one call", "#d97706"),
          "queue/ten-calls": ("and ten events, one by one", "#9333ea")}

figures = {}
for line in sys.stdin:
    found = re.match(r"(queue/\S+) workers-(\d+) (\d+) /s", line)
    if found and found.group(1) in SERIES:
        figures.setdefault(found.group(1), []).append((int(found.group(2)), int(found.group(3))))

most = max(rate for points in figures.values() for _, rate in points)
top = (most // 1000 + 1) * 1000
workers = sorted({count for points in figures.values() for count, _ in points})


def x(count):
    return LEFT + workers.index(count) * (WIDTH - LEFT - RIGHT) / (len(workers) - 1)


def y(rate):
    return HEIGHT - BOTTOM - rate * (HEIGHT - BOTTOM - TOP) / top


print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
      'font-size="12">\n<title>Jobs a second through 1 to 8 workers</title>\n'
      f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>')
for rate in range(0, top + 1, 1000):
    print(f'<path d="M{LEFT} {y(rate):.0f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>'
          f'<text x="{LEFT - 8}" y="{y(rate) + 4:.0f}" text-anchor="end">{rate}</text>')
for count in workers:
    print(f'<text x="{x(count):.0f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{count}</text>')
print(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">workers</text>'
      f'<text x="{LEFT - 50}" y="18">jobs a second</text>')
for row, (name, points) in enumerate(figures.items()):
    words, colour = SERIES[name]
    path = "L".join(f"{x(count):.0f} {y(rate):.0f}" for count, rate in points)
    print(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for count, rate in points:
        print(f'<circle cx="{x(count):.0f}" cy="{y(rate):.0f}" r="3" fill="{colour}"/>')
    print(f'<text x="{WIDTH - RIGHT + 14}" y="{TOP + 20 + row * 20}" fill="{colour}">{words}</text>')
print("</svg>")
