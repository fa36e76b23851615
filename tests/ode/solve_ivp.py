"""Writes solve_ivp.txt beside it: what SciPy's solve_ivp makes of the problems in integration.rs.

    python3 tests/ode/solve_ivp.py

A line is a name and numbers. `NAME METHOD steps`: steps taken, steps tried, both without those that find the first step.
`NAME METHOD end` and `NAME METHOD at T`: the solution at the end and, by the method's interpolant, at a time inside.
`each` has an absolute
tolerance for each component. `NAME tight`: the solution at the end by DOP853 with tolerances of 1e-12. `NAME event K`: times of an event by the same.
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp


def lotka_volterra(t, y):
    return np.array([1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3.0 * y[1]])


def van_der_pol(t, y):
    return np.array([y[1], 5.0 * (1.0 - y[0] * y[0]) * y[1] - y[0]])


def brusselator(n, alpha):
    """Hairer and Wanner's: fields interleaved, x along the fast axis, periodic, a source from t = 1.1 on."""
    x = np.arange(n) / n
    X, Y = np.meshgrid(x, x)
    disc = (X - 0.3) ** 2 + (Y - 0.6) ** 2 <= 0.01
    y0 = np.stack([22.0 * Y * (1.0 - Y) ** 1.5, 27.0 * X * (1.0 - X) ** 1.5], axis=-1).ravel()

    def f(t, y, on):
        u, v = np.moveaxis(y.reshape(n, n, 2), -1, 0)
        laplace = lambda w: np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1) - 4.0 * w
        du = 1.0 + u * u * v - 4.4 * u + alpha * n * n * laplace(u) + on * 5.0 * disc
        dv = 3.4 * u - u * u * v + alpha * n * n * laplace(v)
        return np.stack([du, dv], axis=-1).ravel()

    before = solve_ivp(lambda t, y: f(t, y, 0.0), (0.0, 1.1), y0, method="DOP853", rtol=1e-11, atol=1e-12)
    after = solve_ivp(lambda t, y: f(t, y, 1.0), (1.1, 11.5), before.y[:, -1], method="DOP853", rtol=1e-11, atol=1e-12)
    return after.y[:, -1]


lines = []


def line(name, *numbers):
    lines.append(" ".join([name, *(repr(float(v)) for v in numbers)]))


# Evaluations of f in a step that is tried; two more find the first step.
STAGES = {"RK45": 6, "RK23": 3}
cases = [
    ("lotka-volterra", lotka_volterra, [1.0, 1.0], 10.0, [0.05, 3.3, 9.99]),
    ("van-der-pol", van_der_pol, [2.0, 0.0], 20.0, [0.5, 8.2, 13.1]),
]
for name, f, y0, t_end, times in cases:
    for method, rtol, atol in [("RK45", 1e-6, 1e-9), ("RK45", 1e-9, 1e-12), ("RK23", 1e-4, 1e-6)]:
        s = solve_ivp(f, (0.0, t_end), y0, method=method, rtol=rtol, atol=atol, dense_output=True)
        key = f"{name}|{method}|{rtol:g}"
        line(f"{key}|steps", len(s.t) - 1, (s.nfev - 2) / STAGES[method])
        line(f"{key}|end", *s.y[:, -1])
        for t in times:
            line(f"{key}|at|{t:g}", *s.sol(t))
    tight = solve_ivp(f, (0.0, t_end), y0, method="DOP853", rtol=1e-12, atol=1e-13)
    line(f"{name}|tight", *tight.y[:, -1])

s = solve_ivp(van_der_pol, (0.0, 20.0), [2.0, 0.0], method="RK45", rtol=1e-5, atol=[1e-8, 1e-2])
line("van-der-pol|each|steps", len(s.t) - 1, (s.nfev - 2) / STAGES["RK45"])
line("van-der-pol|each|end", *s.y[:, -1])

rising = lambda t, y: y[0] - 2.0
rising.direction = 1
falling = lambda t, y: y[0] * y[1] - 2.0
falling.direction = -1
s = solve_ivp(lotka_volterra, (0.0, 10.0), [1.0, 1.0], method="DOP853", rtol=1e-12, atol=1e-13, events=[rising, falling])
for k, times in enumerate(s.t_events):
    line(f"lotka-volterra|event|{k}", *times)

line("bruss2d-hairer-16|tight", *brusselator(16, 0.1))
Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")
