"""Reference solutions of the test problems, by SciPy from formulas written anew in NumPy.

    python3 -m venv venv && venv/bin/pip install numpy scipy && venv/bin/python reference.py

writes NAME.txt for each problem beside this file: a line with the number of points and the time, then the components of
the solution in their order in memory. DOP853 with tolerances of 1e-13; steps end where the right-hand side jumps. A second
solution with another method (Radau, or DOP853 with other tolerances for many components) tells how far the first can be
trusted; the difference is printed.
"""

import pathlib

import numpy as np
from scipy.integrate import solve_ivp


def mirrored(u):
    """Five-point sum of neighbours minus 4 u; a neighbour outside is the one the same way inside."""
    w = np.pad(u, 1, mode="reflect")
    return w[1:-1, :-2] + w[1:-1, 2:] + w[:-2, 1:-1] + w[2:, 1:-1] - 4 * u


def periodic(u):
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def pair(u, v):
    """Two fields, those of a point together."""
    return np.stack([np.ravel(u), np.ravel(v)], 1).ravel()


def bruss2d_mix(n):
    def f(t, y):
        u, v = y.reshape(n, n, 2).transpose(2, 0, 1)
        d = 0.002 * (n - 1) ** 2
        return pair(1 + u * u * v - 4.4 * u + d * mirrored(u), 3.4 * u - u * u * v + d * mirrored(v))

    s = np.linspace(0, 1, n)
    x, y = np.meshgrid(s, s)
    return f, pair(0.5 + x, 1 + 5 * y), [1.0]


def bruss2d_periodic(n, s, d, power):
    x, y = np.meshgrid(s, s)
    disc = (x - 0.3) ** 2 + (y - 0.6) ** 2 <= 0.01

    def f(t, state, late):
        u, v = state.reshape(n, n, 2).transpose(2, 0, 1)
        return pair(
            1 + u * u * v - 4.4 * u + d * periodic(u) + (5.0 * disc if late else 0),
            3.4 * u - u * u * v + d * periodic(v),
        )

    return f, pair(22 * power(y), 27 * power(x))


def bruss2d_hairer(n):
    f, y0 = bruss2d_periodic(n, np.arange(n) / n, 0.1 * n * n, lambda s: s * (1 - s) ** 1.5)
    return f, y0, [1.1, 11.5]


def bruss2d_sciml(n):
    f, y0 = bruss2d_periodic(n, np.linspace(0, 1, n), 10.0 * (n - 1) ** 2, lambda s: (s * (1 - s)) ** 1.5)
    return f, y0, [1.1, 2.0]


def heat2d(n):
    x, _ = np.meshgrid(np.linspace(0, 1, n), np.zeros(n))
    return lambda t, y: ((n - 1) ** 2 * mirrored(y.reshape(n, n))).ravel(), (0.5 + x).ravel(), [0.1]


def heat3d(n):
    def f(t, y):
        u = y.reshape(n, n, n)
        w = np.pad(u, 1, mode="reflect")
        i = slice(1, -1)
        around = w[:-2, i, i] + w[2:, i, i] + w[i, :-2, i] + w[i, 2:, i] + w[i, i, :-2] + w[i, i, 2:]
        return ((n - 1) ** 2 * (around - 6 * u)).ravel()

    return f, np.broadcast_to(0.5 + np.linspace(0, 1, n), (n, n, n)).ravel(), [0.1]


def wave1d(n):
    h = 500 / n
    c = [4 / 5, -1 / 5, 4 / 105, -1 / 280]

    def f(t, u):
        return -sum(c[k] * (np.roll(u, -k - 1) - np.roll(u, k + 1)) for k in range(4)) / h

    x = -50 + h * np.arange(n)
    return f, 0.5 * np.exp(-x * x / 9), [40.0]


def cusp(n):
    def f(t, state):
        y, a, b = state.reshape(n, 3).T
        second = lambda w: n * n / 144 * (np.roll(w, 1) - 2 * w + np.roll(w, -1))
        u = (y - 0.7) * (y - 1.3)
        v = u / (u + 0.1)
        return np.stack(
            [
                -1e4 * (b + y * (a + y * y)) + second(y),
                b + 0.07 * v + second(a),
                (1 - a * a) * b - a - 0.4 * y + 0.035 * v + second(b),
            ],
            1,
        ).ravel()

    angle = 2 * np.pi * np.arange(n) / n
    return f, np.stack([0 * angle, -2 * np.cos(angle), 2 * np.sin(angle)], 1).ravel(), [1.1]


def medakzo(n):
    h = 1 / n
    z = h * np.arange(1, n + 1)
    alpha, beta = 2 * (z - 1) ** 3 / 16, (z - 1) ** 4 / 16

    def f(t, state, late):
        u, v = state.reshape(n, 2).T
        left = np.concatenate([[0.0 if late else 2.0], u[:-1]])
        right = np.append(u[1:], u[-1])
        du = alpha * (right - left) / (2 * h) + beta * (left - 2 * u + right) / h**2 - 100 * u * v
        return pair(du, -100 * u * v)

    return f, pair(np.zeros(n), np.ones(n)), [5.0, 20.0]


def inverter_chain(n):
    def f(t, u):
        before = np.concatenate([[2.5 + 2.5 * np.sin(2 * np.pi * 0.0125 * t)], u[:-1]])
        drive = np.maximum(before - 1, 0) ** 2 - np.maximum(before - u - 1, 0) ** 2
        return ((5 - u) / 5e3 - 2e-4 * drive) / 1e-3

    return f, np.where(np.arange(n) % 2 == 0, 5.0, 0.0), [80.0]


def lotka_volterra(n):
    def f(t, y):
        a, b = y.reshape(n, 2).T
        return pair(1.5 * a - a * b, a * b - 3 * b)

    x = np.linspace(0, 1, n)
    return f, pair(1 + 2 * x, 1 + x), [10.0]


def nbody(n):
    i = np.arange(n)
    m = (0.3 + 0.1 * (np.cos(i * np.pi / 2) + 1)) / n

    def f(t, y):
        p, v = y.reshape(n, 2, 3).transpose(1, 0, 2)
        d = p[None] - p[:, None]
        pull = np.einsum("j,ijk,ij->ik", m, d, ((d * d).sum(2) + 1e-4) ** -1.5)
        return np.stack([v, pull], 1).ravel()

    r, phase = 1.7 + np.cos(0.75 * i), 2 * np.pi * i / n
    speed, s, c = 0.22 * np.sqrt(r), np.sin(phase), np.cos(phase)
    return f, np.stack([r * c, r * s, 0.4 * s, -speed * s, speed * c, 0 * s], 1).ravel(), [10.0]


PROBLEMS = {
    "bruss2d-mix": (bruss2d_mix, 16),
    "bruss2d-hairer": (bruss2d_hairer, 16),
    "bruss2d-sciml": (bruss2d_sciml, 8),
    "heat2d": (heat2d, 12),
    "heat3d": (heat3d, 6),
    "wave1d": (wave1d, 250),
    "cusp": (cusp, 32),
    "medakzo": (medakzo, 40),
    "inverter-chain": (inverter_chain, 20),
    "lotka-volterra": (lotka_volterra, 7),
    "nbody": (nbody, 9),
}


def solve(f, y, times, **options):
    """From 0 through the times at which the right-hand side jumps; it is told in which part it is where there are several."""
    start = 0.0
    for part, end in enumerate(times):
        args = (part > 0,) if len(times) > 1 else ()
        done = solve_ivp(f, (start, end), y, args=args, **options)
        assert done.success, done.message
        y, start = done.y[:, -1], end
    return y


if __name__ == "__main__":
    for name, (make, n) in PROBLEMS.items():
        f, y0, times = make(n)
        y = solve(f, y0, times, method="DOP853", rtol=1e-13, atol=1e-13)
        if len(y) <= 200:
            other = solve(f, y0, times, method="Radau", rtol=1e-10, atol=1e-11)
        else:
            other = solve(f, y0, times, method="DOP853", rtol=1e-11, atol=1e-12)
        print(f"{name}: {len(y)} components, t = {times[-1]}, largest difference of the two {abs(y - other).max():.1e}", flush=True)
        lines = [f"{n} {times[-1]}"] + [repr(float(v)) for v in y]
        pathlib.Path(__file__).with_name(f"{name}.txt").write_text("\n".join(lines) + "\n")
