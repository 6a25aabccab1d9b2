"""The machine: nodes with their threads, one queue pair from the inside, what a put and a get do over time."""

from __future__ import annotations

from sitegen.figures.kit import Canvas


def nodes() -> Canvas:
    """Two nodes, three threads, and a queue pair for each thread and node that it talks to."""
    c = Canvas(820, 330, "Threads, nodes and queue pairs")
    c.group((10, 20, 300, 290), "node A")
    c.group((510, 20, 300, 290), "node B")
    c.box((30, 60, 130, 44), "thread T1", "cpu")
    c.box((30, 135, 130, 44), "thread T2", "cpu")
    c.box((30, 240, 260, 50), "memory of A: x, y", "ok")
    c.box((660, 75, 130, 44), "thread T3", "cpu")
    c.box((530, 240, 260, 50), "memory of B: z, w", "ok")
    c.box((360, 60, 100, 44), "T1 → B", "nic")
    c.box((360, 135, 100, 44), "T2 → B", "nic")
    c.box((360, 222, 100, 44), "T3 → A", "nic")
    c.arrow((160, 82), (356, 82), look="nic")
    c.arrow((160, 157), (356, 157), look="nic")
    c.arrow((460, 82), (550, 82), (550, 236), look="nic")
    c.arrow((460, 157), (580, 157), (580, 236), look="nic")
    c.arrow((725, 119), (725, 200), (480, 200), (480, 236), (464, 236), look="nic")
    c.arrow((360, 250), (294, 250), look="nic")
    c.arrow((50, 179), (50, 236), look="cpu")
    c.arrow((160, 96), (186, 96), (186, 236), look="cpu")
    c.arrow((765, 119), (765, 236), look="cpu")
    c.text(60, 215, "reads, writes, cas", "muted")
    c.text(232, 74, "puts, gets", "muted")
    c.text(410, 48, "queue pairs", "middle strong")
    c.text(410, 300, "each in its own time", "middle muted")
    return c


def queue_pair() -> Canvas:
    """One queue pair: the pipe, the two write buffers, and the events at which values move."""
    c = Canvas(920, 430, "One queue pair of the RDMA machine")
    c.group((10, 15, 670, 400), "the thread's node")
    c.group((740, 15, 170, 400), "the remote node")
    c.box((30, 95, 110, 60), "CPU", "cpu")
    c.box((30, 310, 110, 70), "memory", "ok")
    c.box((760, 175, 130, 110), "memory", "ok")
    c.box((245, 95, 240, 60), "", "nic")
    c.box((545, 185, 115, 48), "", "nic")
    c.box((265, 321, 115, 48), "", "nic")
    for x, top, bottom in ((305, 95, 155), (365, 95, 155), (425, 95, 155), (583, 185, 233), (622, 185, 233)):
        c.arrow((x, top), (x, bottom), look="nic dashed plain")
    for x in (303, 342):
        c.arrow((x, 321), (x, 369), look="nic dashed plain")
    c.text(245, 66, "pipe: puts, gets and rfences,", "nic")
    c.text(245, 84, "in the order in which they are posted", "nic")
    c.text(602, 176, "wbR", "middle code nic")
    c.text(322, 312, "wbL", "middle code nic")
    c.arrow((140, 113), (241, 113))
    c.text(190, 105, "post", "middle")
    c.arrow((241, 140), (144, 140), look="dashed")
    c.text(188, 174, "completion: poll", "middle muted")
    c.arrow((65, 155), (65, 306))
    c.arrow((100, 310), (100, 159))
    c.text(110, 212, "lR, lW, CAS", "code")
    c.arrow((140, 330), (210, 330), (275, 159))
    c.text(204, 262, "nlR", "code")
    c.arrow((485, 115), (602, 115), (602, 160))
    c.text(500, 105, "a put sends its write")
    c.arrow((660, 209), (756, 209))
    c.text(708, 201, "nrW", "middle code")
    c.arrow((760, 262), (450, 262), (450, 159))
    c.text(708, 254, "nrR", "middle code")
    c.arrow((345, 155), (345, 300))
    c.text(354, 218, "a get sends")
    c.text(354, 235, "its write")
    c.arrow((265, 352), (144, 352))
    c.text(206, 372, "nlW", "middle code")
    return c


def put_and_get() -> Canvas:
    """The life of a put and of a get, and the moment from which on a poll can take the completion."""
    c = Canvas(860, 330, "What a put and a get do, and what a poll waits for")
    for top, name, stages in (
        (30, "put B.y = x", ("posted", "reads x (nlR)", "sent to wbR", "B.y written (nrW)")),
        (190, "get x = B.y", ("posted", "reads B.y (nrR)", "sent to wbL", "x written (nlW)")),
    ):
        c.text(20, top + 14, name, "code strong")
        for place, stage in enumerate(stages):
            x = 20 + place * 215
            look = "cpu" if place == 0 else "nic dashed" if place == 2 else "nic"
            c.box((x, top + 30, 160, 40), stage, look)
            if place:
                c.arrow((x - 55, top + 50), (x - 4, top + 50), look="nic thick" if place == 3 else "nic")
        c.text(20 + 160 + 27, top + 90, "in the pipe", "middle muted")
        c.text(20 + 590 + 27, top + 90, "in a write buffer", "middle muted")
    c.arrow((530, 122), (530, 104), look="ok")
    c.text(530, 138, "poll: x may be overwritten,", "middle ok")
    c.text(530, 155, "but B.y is not written yet", "middle ok")
    c.arrow((745, 282), (745, 264), look="ok")
    c.text(745, 298, "poll: the value is in x", "middle ok")
    return c
