"""The diagrams of the concepts and of the flows, as data; `diagrams.py` draws them."""

from generators.diagrams import Diagram

CONCEPTS = {
    "memory": Diagram(
        title="A memory is a folder: programs reach it through one handle; the graph store holds "
        "everything, and the vectors are derived from it.",
        grid=("python cli agent", ". handle .", "curated graph vectors"),
        arrows=(
            "python > handle",
            "cli > handle",
            "agent > handle",
            "handle > graph: every write",
            "graph > vectors",
            "handle > curated",
        ),
        names={
            "python": "Python",
            "cli": "command line",
            "agent": "agent (MCP)",
            "handle": "one memory",
            "graph": "graph store:|all data",
            "vectors": "vectors, words:|derived",
            "curated": "curated files:|MEMORY.md",
        },
        stores=frozenset({"graph", "vectors", "curated"}),
    ),
    "graph": Diagram(
        title="Passages mention entities, and relations join entities. A path leads from Ada over the "
        "Billing Team and the Invoice Service to MySQL.",
        grid=("c1 c2 c3 .", "ada team service mysql"),
        arrows=(
            "c1 ~ ada",
            "c1 ~ team",
            "c2 ~ team",
            "c2 ~ service",
            "c3 ~ service",
            "c3 ~ mysql",
            "ada > team",
            "team > service",
            "service > mysql",
        ),
        names={
            "c1": "“Ada leads the|Billing Team.”",
            "c2": "“The team owns|Invoice Service.”",
            "c3": "“It uses|MySQL.”",
            "ada": "Ada",
            "team": "Billing Team",
            "service": "Invoice Service",
            "mysql": "MySQL",
        },
        stores=frozenset({"c1", "c2", "c3"}),
    ),
    "recall": Diagram(
        title="A question is searched by meaning, by words and by the graph at once. The candidates are "
        "joined, checked against the graph store, and given a relevance.",
        grid=(". meaning . .", "question words join check", ". graph . hits"),
        arrows=(
            "question > meaning",
            "question > words",
            "question > graph",
            "meaning > join",
            "words > join",
            "graph > join",
            "join > check",
            "check > hits",
        ),
        names={
            "meaning": "by meaning|(vectors)",
            "words": "by words|(full text)",
            "graph": "by the graph|(a walk)",
            "join": "join scores",
            "check": "check with the|graph store",
            "hits": "hits with|relevance",
        },
        results=frozenset({"hits"}),
    ),
    "time": Diagram(
        title="A newer fact ends an older one instead of deleting it: the older one stays readable at "
        "its time, and every change can be undone.",
        grid=("old new now", "past change undo"),
        arrows=("old > new", "new > now", "old > past", "new > change", "change > undo"),
        names={
            "old": "works for Build|2019 to 2024",
            "new": "works for Release|since 2024",
            "now": "asked today:|Release",
            "past": "asked as of|2022: Build",
            "change": "a change with|who and why",
            "undo": "undo: rows as|they were",
        },
        results=frozenset({"now", "past", "undo"}),
    ),
    "trust": Diagram(
        title="Text is screened before it is stored. A relation found in it is judged by the graph and "
        "by its text, then by a model if there is one, or by a person.",
        grid=("text screen store .", ". quarantine first accepted", ". . second rejected", ". . open ."),
        arrows=(
            "text > screen",
            "screen > store",
            "screen > quarantine: orders",
            "store > first",
            "first > accepted",
            "first > rejected",
            "first > second: unsure",
            "second > accepted",
            "second > open: no model",
        ),
        names={
            "text": "new text",
            "screen": "screen, mask|secrets",
            "store": "store with|source",
            "quarantine": "quarantine:|for a person",
            "first": "graph and text",
            "second": "a model reads",
            "open": "open: for a|person",
        },
        stores=frozenset({"store", "quarantine"}),
        results=frozenset({"accepted", "rejected", "open"}),
    ),
    "gardener": Diagram(
        title="The gardener plans changes, each with its reason, applies them in small batches, asks a "
        "person what it cannot decide, and every run can be undone.",
        grid=("memory plan apply report", ". questions . undo"),
        arrows=(
            "memory > plan",
            "plan > apply",
            "apply > report",
            "plan > questions: unsure",
            "report > undo",
        ),
        names={
            "memory": "the memory",
            "plan": "plan: what|and why",
            "apply": "apply in small|batches",
            "questions": "questions for|a person",
            "undo": "undo the run",
        },
        stores=frozenset({"memory"}),
        results=frozenset({"report", "questions", "undo"}),
    ),
    "sharing": Diagram(
        title="The first process that opens the folder owns it and serves the others over a local "
        "socket; when it ends, another one goes on.",
        grid=("desktop terminal hook", ". owner .", ". folder ."),
        arrows=("desktop > owner", "terminal > owner: socket", "hook > owner", "owner > folder: lock"),
        names={
            "desktop": "an agent",
            "terminal": "a terminal",
            "hook": "a hook",
            "owner": "the owner",
            "folder": "the folder",
        },
        stores=frozenset({"folder"}),
    ),
}

FLOWS = {
    "flow-documents": Diagram(
        title="Files are read, cut into chunks, extracted, resolved, verified and stored in batches; "
        "the stored version is compared with the new chunks.",
        grid=("files read chunk extract", ". stored . .", ". batch verify resolve"),
        arrows=(
            "files > read",
            "read > chunk",
            "chunk > extract",
            "extract > resolve",
            "resolve > verify",
            "verify > batch",
            "stored > chunk: compare",
        ),
        names={"stored": "stored version", "batch": "store in|batches"},
        stores=frozenset({"stored", "batch"}),
    ),
    "flow-gardener": Diagram(
        title="The phases of a run in their order. Each phase reads the memory, proposes changes, and "
        "applies them in small batches.",
        grid=(
            "distill infer verify",
            "merge . supersede",
            "reuse prune review",
            ". . maintain",
            "phase proposals apply",
        ),
        arrows=(
            "distill > infer",
            "infer > verify",
            "verify > supersede",
            "supersede > merge",
            "merge > reuse",
            "reuse > prune",
            "prune > review",
            "review > maintain",
            "phase > proposals",
            "proposals > apply",
        ),
        names={"phase": "each phase|reads", "apply": "apply in small|batches"},
        results=frozenset({"apply"}),
    ),
    "flow-recall": Diagram(
        title="A query is planned, searched by three arms, fused, checked, reranked, ordered by "
        "versions, given a relevance and packed into hits.",
        grid=("query vector . .", "plan text fuse check", ". graph . rerank", "hits pack relevance versions"),
        arrows=(
            "query > plan",
            "plan > vector",
            "plan > text",
            "plan > graph",
            "vector > fuse",
            "text > fuse",
            "graph > fuse",
            "fuse > check",
            "check > rerank",
            "rerank > versions",
            "versions > relevance",
            "relevance > pack",
            "pack > hits",
        ),
        results=frozenset({"hits"}),
    ),
    "flow-remembering": Diagram(
        title="Input is validated and screened, embedded, compared with its neighbours, consolidated by "
        "a plan that is applied, and stored; a job links it.",
        grid=("input validate embed neighbours", ". ask . plan", "link store . apply"),
        arrows=(
            "input > validate",
            "validate > embed",
            "embed > neighbours",
            "neighbours > plan",
            "ask ~ plan: if a model is configured",
            "plan > apply",
            "apply > store",
            "store > link: job",
        ),
        names={"validate": "validate and|screen", "plan": "consolidate:|plan", "ask": "ask the model"},
        stores=frozenset({"store"}),
    ),
    "flow-time-and-undo": Diagram(
        title="A write keeps a change with an image of its rows, which history shows and undo restores "
        "by a write of its own.",
        grid=("write image history", ". undo ."),
        arrows=("write > image", "image > history", "image > undo", "undo > write"),
        names={"write": "a write", "image": "Change, image|of its rows"},
        results=frozenset({"history"}),
    ),
    "flow-verification": Diagram(
        title="A claim is accepted or rejected by the first stage where that is sure; else a model "
        "reads the evidence, and without one the claim is deferred.",
        grid=("claim first . accepted", ". second . rejected", ". . . deferred"),
        arrows=(
            "claim > first",
            "first > accepted: p >= 0.7",
            "first > rejected: p < 0.3",
            "first > second: between",
            "second > accepted",
            "second > rejected",
            "second > deferred: no model, cap, failure",
        ),
        names={"first": "first stage:|graph and text", "second": "second stage:|a model reads"},
        results=frozenset({"accepted", "rejected", "deferred"}),
    ),
    "flow-writing": Diagram(
        title="An operation writes rows, a change, the outbox and jobs to the graph store in one "
        "transaction. The outbox feeds the vectors, the queue feeds jobs, and both write again.",
        grid=("operation rows graph snapshot", ". jobs . vectors"),
        arrows=(
            "operation > rows",
            "rows > graph",
            "graph > snapshot",
            "graph > vectors: outbox",
            "graph > jobs: queue",
            "jobs > rows",
        ),
        names={
            "rows": "rows, Change,|Outbox, Jobs",
            "graph": "graph store:|one transaction",
            "snapshot": "graph snapshot|in memory",
            "vectors": "vectors and|full text",
            "jobs": "embedding, links,|model calls",
        },
        stores=frozenset({"graph", "vectors"}),
    ),
}

DIAGRAMS = CONCEPTS | FLOWS
