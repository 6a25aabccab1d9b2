"""The gallery's order of the litmus suite: by what a programmer builds, each with the program whose run is shown."""

from __future__ import annotations

from sitegen.litmus_index import Shelf

PATTERNS = (
    Shelf(
        "Locks",
        "Locks of a server, tickets, queues of waiting threads: what the holder wrote has to be there before the next one "
        "is let in.",
        "mcs-handoff-plain",
        "lock lockserver mcs handoff",
    ),
    Shelf(
        "Mutual exclusion by reads and writes",
        "The classic algorithms, spread over nodes: which of them need a word of each thread in one memory, and which can "
        "do with copies.",
        "peterson-mirrored",
        "dekker peterson bakery kessels lamport szymanski",
    ),
    Shelf(
        "Barriers",
        "Threads that wait for each other, by flags, by a coordinator, and by giving up: what was done before the barrier "
        "has to be seen behind it.",
        "barrier-coordinator-data",
        "barrier rendezvous spin",
    ),
    Shelf(
        "Mailboxes",
        "A value and the news that it is there, from one thread to another, copied by puts and fetched by gets.",
        "mailbox-plain",
        "mailbox mp forward",
    ),
    Shelf(
        "Rings and queues",
        "Slots that are used again: the producer needs to know that a slot is empty, and its NIC that a word may change.",
        "ring-two-slots-plain",
        "ring queue credit",
    ),
    Shelf(
        "Remote calls",
        "A request, an answer, and a slot for the next one.",
        "rpc-fetch-result",
        "rpc pingpong abp",
    ),
    Shelf(
        "Registers and replicas",
        "One value in several places: written to all, read from any, with a leader that may change.",
        "register-replicas-plain",
        "register mu",
    ),
    Shelf(
        "Key-value stores",
        "Objects that are read while they are written: versions before and behind, sequence locks, pointers that are "
        "published and taken back, nodes of a tree that are split.",
        "versioned-read-plain",
        "versioned seqlock publish btree",
    ),
    Shelf(
        "Completions",
        "How many polls are enough.",
        "polls-two-puts-one-poll",
        "polls",
    ),
    Shelf(
        "Shapes of weak memory",
        "The shapes that every memory model is asked about, with puts and gets for remote stores and loads.",
        "sb-put-plain",
        "sb lb 2plus2w r s wrc iriw corr corw cowr coww loopback nfo",
    ),
    Shelf(
        "The order table",
        "A program for each cell: two events of a thread, and another thread that looks at the later one first.",
        "order-nrw-cpu",
        "order",
    ),
    Shelf("What is read", "`&&` and `||` stop as soon as they can.", "short-circuit-and-read", "short"),
    Shelf("Families that grow", "For benchmarks and limits.", "scale-slots-n3-plain", "scale"),
    Shelf("Families for any number", "Written once, with `[i in 0..N - 1]`.", "family-mail-plain", "family"),
)
