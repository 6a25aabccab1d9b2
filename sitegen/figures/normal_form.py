"""The theory: a cycle that no sequential order can have, the normal form, the orders of its proof, the search."""

from __future__ import annotations

from sitegen.figures.kit import Canvas


def violation() -> Canvas:
    """Store buffering with puts: the trace of litmus/sb-put-plain.rdma that is no trace of sequential consistency."""
    c = Canvas(780, 400, "A violating trace and its cycle")
    c.group((20, 20, 330, 360), "T1 on A")
    c.group((430, 20, 330, 360), "T2 on B")
    for x, put, target, seen in ((40, "put B.y = 1", "B.y", "A.x"), (450, "put A.x = 1", "A.x", "B.y")):
        c.text(x, 64, put, "code")
        c.text(x, 264, f"r = {seen[2:]}", "code")
        c.box((x + 110, 46, 180, 34), "nlR const 1", "nic code")
        c.box((x + 110, 126, 180, 34), f"nrW {target} = 1", "cycle filled code")
        c.box((x + 110, 246, 180, 34), f"lR {seen} = 0", "cycle filled code")
        c.box((x + 110, 326, 180, 34), f"init {seen} = 0", "dashed code")
        c.arrow((x + 170, 80), (x + 170, 122), look="po")
        c.text(x + 162, 106, "po", "end muted")
        c.arrow((x + 170, 160), (x + 170, 242), look="po thick dashed")
        c.text(x + 162, 206, "po", "end muted")
        c.arrow((x + 200, 326), (x + 200, 284), look="rf")
        c.text(x + 208, 310, "rf", "rf")
    c.arrow((330, 258), (556, 150), look="rb thick")
    c.arrow((560, 254), (334, 146), look="rb thick")
    c.text(372, 158, "rb", "middle rb")
    c.text(372, 252, "rb", "middle rb")
    return c


def normal_form() -> Canvas:
    """alpha, pivot, beta of litmus/nfo-normal-form-example.rdma."""
    c = Canvas(860, 340, "The normal form: alpha, pivot, beta")
    c.group((20, 60, 320, 140), "α: before the pivot")
    c.group((360, 60, 140, 140), "pivot m")
    c.group((520, 60, 320, 140), "β: later than the pivot")
    for x, label, look in (
        (35, "nrR B.z = 0", "nic code"),
        (190, "nlW x = 0", "nic code"),
        (370, "lW y = 1", "cycle filled code"),
        (535, "nlR y = 1", "cycle filled code"),
        (690, "nrW B.w = 1", "nic code"),
    ):
        c.box((x, 122, 120 if x == 370 else 135, 40), label, look)
    c.arrow((430, 122), (602, 118), look="rf thick", curve=40)
    c.text(516, 44, "rf: β reads what the pivot writes", "middle rf")
    c.arrow((602, 162), (430, 166), look="po thick dashed", curve=40)
    c.text(516, 224, "po: the program has the put before the pivot, the hardware does not keep it", "middle muted")
    c.text(20, 44, "time →", "muted")
    c.text(20, 278, "in the program:", "strong")
    for x, width, label, look in (
        (150, 170, "get x = B.z", "nic code"),
        (340, 170, "put B.w = y", "nic code"),
        (530, 120, "y = 1", "cycle filled code"),
    ):
        c.box((x, 256, width, 34), label, look)
    c.arrow((320, 273), (336, 273), look="po")
    c.arrow((510, 273), (526, 273), look="po")
    c.text(20, 322, "α and β without m are an execution under sequential consistency.", "muted")
    return c


def orders() -> Canvas:
    """From the order of the hardware to the order of the normal form: the two orders of Lemma 6, and what comes of them."""
    c = Canvas(880, 320, "The orders of the proof")
    rows = (
        (30, "τ", ("the hardware's order of T:", "A0 before m, B0 behind it"), "abcmdef"),
        (130, "L", ("an SC order of T without m:", "one memory goes through it"), "dabecf"),
        (230, "σ", ("A0 in the order L, m, B0 in", "the order L: violating again"), "abcmdef"),
    )
    middle = {}
    for y, name, said, events in rows:
        c.text(20, y + 22, name, "strong")
        c.prose(42, y + 14, said)
        for place, event in enumerate(events):
            x = 260 + place * 86 + (43 if len(events) == 6 else 0)
            look = "cycle filled" if event == "m" else "nic" if event in "def" else "cpu"
            c.box((x, y, 60, 34), event, f"{look} code")
            middle[y, event] = x + 30
    for event in "abcdef":
        for above, below in ((30, 130), (130, 230)):
            look = "nic dashed" if event in "def" else "cpu dashed"
            c.arrow((middle[above, event], above + 34), (middle[below, event], below - 3), look=look)
    c.text(42, 300, "blue: α", "cpu strong")
    c.text(120, 300, "purple: β", "nic strong")
    c.text(220, 300, "Conflicting events of α and β keep the order L, so one memory serves both.", "muted")
    return c


def forcing() -> Canvas:
    """The rules R1 to R3 of Lemma 3: what may not lead from B back to A."""
    c = Canvas(880, 290, "The forcing rules")
    panels = (
        (10, "R1", "b", "a", "oppo: the hardware keeps b before a", "b", "a"),
        (305, "R2", "w", "p", "pf: p polls w, and w is forcing", "NIC write w", "poll p"),
        (600, "R3", "w", "r", "f between them, all on one queue pair", "nlW w", "nlR r"),
    )
    for x, name, _, __, said, early, late in panels:
        c.group((x, 15, 270, 260), f"{name}: never")
        c.text(x + 20, 66, "A, m", "cpu strong")
        c.text(x + 250, 66, "B", "end nic strong")
        c.arrow((x + 135, 76), (x + 135, 216), look="dashed plain")
        c.box((x + 150, 92, 108, 36), early, "nic")
        c.box((x + 14, 172, 108, 36), late, "cpu")
        if name == "R3":
            c.box((x + 14, 112, 108, 36), "nF f", "cpu")
            c.arrow((x + 150, 114), (x + 126, 126), look="cycle thick")
            c.arrow((x + 68, 148), (x + 68, 168), look="cycle thick")
        else:
            c.arrow((x + 150, 124), (x + 122, 172), look="cycle thick")
        c.text(x + 135, 250, said, "middle muted")
    return c


def search() -> Canvas:
    """The pivot search along the order L: one phase before the start, one behind it, and the target."""
    c = Canvas(880, 350, "The search for a pivot")
    c.text(20, 30, "L: the program runs under sequential consistency, in any order →", "strong")
    c.group((20, 48, 300, 150), "phase 1")
    c.group((440, 48, 420, 150), "phase 2, for one class of pivots")
    for x in (45, 115, 185, 255):
        c.box((x, 90, 44, 34), "a", "cpu code")
    c.box((346, 84, 70, 46), "s", "cycle filled code")
    for x, name, look in ((460, "a", "cpu"), (530, "b", "nic"), (600, "a", "cpu"), (670, "b", "nic"), (740, "b", "nic")):
        c.box((x, 90, 44, 34), name, f"{look} code")
    c.arrow((299, 107), (342, 107))
    c.arrow((416, 107), (456, 107))
    c.prose(
        36,
        152,
        (
            "plain SC: points, registers,",
            "one memory, completions",
        ),
        "muted",
    )
    c.prose(
        456,
        152,
        ("a: α, unless forced; b: β, if forced (F1 to F4)", "taint, poison, types of events in β: a few bits"),
        "muted",
    )
    c.text(381, 152, "start", "middle strong")
    c.text(381, 170, "first of β", "middle muted")
    c.box((560, 240, 300, 76), "target: the thread of m is before m,\nm may go to α, the cycle is closed", "ok filled")
    c.arrow((762, 198), (762, 236), look="ok")
    c.box(
        (20, 240, 500, 76), "σ = the a's, m, the b's: rebuilt as a trace,\nand confirmed by the axioms before it is reported"
    )
    c.arrow((560, 278), (524, 278), look="ok")
    return c
