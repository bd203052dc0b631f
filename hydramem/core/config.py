"""Every setting with its default, as one frozen value; `config_loading` fills it in.

A secret is never a value here: a key that ends in `_env` names the environment variable that holds it.
"""

from dataclasses import dataclass, field
from typing import Literal

from hydramem.core.row_types import Phase
from hydramem.core.settings.hooks_config import HooksConfig as HooksConfig


class _Section:
    """Part of the configuration."""

    __slots__ = ()


Parser = Literal["auto", "none", "spacy"]
"""Whether sentences are parsed, and by what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig(_Section):
    """The graph engine and the vector store.

    Attributes:
        graph: Graph engine: ladybug, kuzu, postgres (a server that several machines share; its address is in
            HYDRAMEM_STORAGE_URL), or memory (nothing is kept; for tests and trials).
        database_schema: Schema of the PostgreSQL database that holds the memory; each is a memory of its own.
        buffer_pool_mb: Initial page memory of the graph engine, in MiB; at least three times the graph file.
            It is doubled whenever it runs out.
        max_db_gb: Address space reserved for the graph file, in GiB; a power of two.
        index_rows: Rows up to which vectors are searched exactly, in memory (2 kB a row at 384 dimensions);
            above, an index on disk is used.
        compact_fragments: Number of fragments from which the vector store is compacted.
        compact_unindexed: Number of rows outside the full-text index from which it is updated.
        min_free_mb: Free space of the disk, in MiB, below which writes are refused; reads go on.
    """

    graph: Literal["ladybug", "kuzu", "postgres", "memory"] = "ladybug"
    database_schema: str = "hydramem"
    buffer_pool_mb: int = 1024
    max_db_gb: int = 16
    index_rows: int = 200_000
    compact_fragments: int = 64
    compact_unindexed: int = 512
    min_free_mb: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig(_Section):
    """The model that computes vectors.

    Attributes:
        model: auto, a model of `hydramem models list`, any fastembed name, or hash (no model; for tests).
        provider: local, ollama, or openai (any compatible endpoint).
        dimension: Length to which vectors of Matryoshka models are cut; 0 keeps the model's length.
        batch_size: Texts per model call.
        max_tokens: Most tokens of a text that the model reads.
        threads: CPU threads of the local model; 0 uses all.
        base_url: Endpoint of a remote provider; empty for the provider's default.
        api_key_env: Name of the environment variable that holds the key.
    """

    model: str = "auto"
    provider: Literal["local", "ollama", "openai"] = "local"
    dimension: int = 0
    batch_size: int = 16
    max_tokens: int = 256
    threads: int = 0
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleConfig(_Section):
    """A generator for one role; an empty field inherits from `llm`.

    Attributes:
        provider: As `llm.provider`.
        model: As `llm.model`.
        base_url: As `llm.base_url`.
        api_key_env: As `llm.api_key_env`.
    """

    provider: Literal["", "none", "auto", "ollama", "openai", "anthropic"] = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolesConfig(_Section):
    """Generators by role.

    Attributes:
        extract: Entities and relations of texts, and facts of sessions.
        classify: Scope, categories and importance of a memory.
        consolidate: What a new memory does to similar ones.
        link: Links between memories.
        infer: Relations that sessions suggest, where the phase `infer` runs.
        verify: Whether evidence supports a relation.
        rerank: The order of what recall found, where `search.rerank` is llm.
    """

    extract: RoleConfig = field(default_factory=RoleConfig)
    classify: RoleConfig = field(default_factory=RoleConfig)
    consolidate: RoleConfig = field(default_factory=RoleConfig)
    link: RoleConfig = field(default_factory=RoleConfig)
    infer: RoleConfig = field(default_factory=RoleConfig)
    verify: RoleConfig = field(default_factory=RoleConfig)
    rerank: RoleConfig = field(default_factory=RoleConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmConfig(_Section):
    """The optional generator. Nothing leaves the machine unless a provider is named here.

    Attributes:
        provider: none, ollama, openai (any compatible endpoint), anthropic, or auto (a local Ollama if it
            answers).
        model: Model name at the provider; empty takes the first that it lists.
        base_url: Endpoint; empty takes the provider's usual one.
        api_key_env: Name of the environment variable that holds the key; empty takes the provider's usual
            one, OPENAI_API_KEY or ANTHROPIC_API_KEY.
        timeout_seconds: Time for one answer.
        retries: Further tries after a failure, with back-off.
        roles: Overrides by role; an empty key inherits the one above.
    """

    provider: Literal["none", "auto", "ollama", "openai", "anthropic"] = "none"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    timeout_seconds: float = 60.0
    retries: int = 2
    roles: RolesConfig = field(default_factory=RolesConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestConfig(_Section):
    """How documents are cut into chunks and stored.

    Attributes:
        chunk_tokens: Most tokens of a chunk.
        overlap_tokens: Tokens of the chunk before that a chunk repeats, in running text.
        max_file_mb: Larger files are skipped and reported.
        batch_chunks: Chunks stored in one transaction.
        llm_chunks: Chunks sent in one extraction call, where a generator is configured.
        parser: Whether sentences of documents are parsed for relations: `auto` where the extra `nlp` is
            installed, `spacy` always (without the extra, an error), `none` never.
        learned_screening: Whether turns of conversations are judged as in `memory.learned_screening`.
    """

    chunk_tokens: int = 220
    overlap_tokens: int = 20
    max_file_mb: int = 32
    batch_chunks: int = 256
    llm_chunks: int = 8
    parser: Parser = "auto"
    learned_screening: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig(_Section):
    """How memories are stored and linked, and which are accepted.

    Attributes:
        cognitive: Whether a memory is classified, compared with similar ones and linked; otherwise it is
            stored as given, and no model reads it or a captured turn.
        consolidation_threshold: Cosine from which a memory of the same project is shown to the model that
            says what a new one does to it, besides those that name the same thing; `calibrate` can fit it to
            the embedder.
        link_threshold: Least similarity for a link: 0 for unrelated texts, whatever their cosine is in this
            embedder, 1 for equal texts. Half of it is enough for memories that share a rare name.
        link_neighbors: Most neighbours that a new memory is linked to.
        most_links: Most links of one memory; the weakest are removed first.
        shared_by: Number of distinct sources or sessions that must state a memory before it becomes `shared`.
        session_facts: Most facts that a model distills from a session at once; 0 keeps sessions as logs.
        max_chars: Longer texts are refused; ingest them as documents.
        mask_secrets: Whether keys, tokens, passwords and card numbers in a memory are masked before it is
            stored; they are reported either way.
        learned_screening: Whether weights learnt from examples judge which texts give orders to the model
            that reads them, beside the rules.
        curated_memory_chars: Most characters of the curated file `MEMORY.md`.
        curated_user_chars: Most characters of the curated file `USER.md`.
        parser: Whether memories are parsed for relations, as in `ingest.parser`.
    """

    cognitive: bool = True
    consolidation_threshold: float = 0.85
    link_threshold: float = 0.35
    link_neighbors: int = 5
    most_links: int = 20
    shared_by: int = 2
    session_facts: int = 24
    max_chars: int = 100_000
    mask_secrets: bool = True
    learned_screening: bool = True
    curated_memory_chars: int = 2200
    curated_user_chars: int = 1375
    parser: Parser = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig(_Section):
    """How recall finds and ranks chunks.

    Attributes:
        traversal: Graph arm: ppr, bfs, hybrid (both), or none.
        candidates: Candidates of the vector arm and of the text arm, each.
        vector_weight, text_weight: Relative weights of the two arms.
        graph_weight: Weight of the graph arm in the score if a query names rare entities.
        neighbor_weight: Share of the previous turn's score that a short turn gains; it gains less from other
            turns.
        speaker_weight: Share that a turn's score gains if the query names its speaker.
        asker_weight: Share that a turn's score gains if a query in the first person comes from its author.
        session_weight: Share that a turn's score gains if its session contains the most words of the query.
        date_weight: Share that a chunk's score gains if its date is in the query.
        layer_weight: Weight of the layer of trust: 1 raises shared chunks by 15 %, verified ones by 30 %.
        recency_weight: Share that a new chunk's score gains; none where the query asks for the past.
        recency_days: Days after which that share has halved.
        importance_weight: Share that a chunk's score gains or loses by its importance.
        link_weight: Share of a good match's score that a memory linked to it with weight 1 reaches; two
            fifths of this if they are linked by similarity alone.
        answered_weight: Most that a score gains, where a best score is 1, for what answered a question like
            the query before.
        damping: Probability that the walk continues rather than restarts.
        max_query_chars: Longer queries are refused.
        max_limit: Largest number of hits that can be asked for.
        min_relevance: Relevance, 0 to 1, from which a query counts as answered; below it `prime` returns
            nothing.
        rerank: none, local (the reranker that comes with the package, which reorders turns of English
            conversations), llm (the generator of the role `rerank`), or a cross-encoder that fastembed lists;
            `hydramem models get` fetches those.
        rerank_candidates: Candidates that the reranker reads.
        rerank_ms: Milliseconds after which recall continues without a generator or a fetched cross-encoder
            and reports it.
    """

    traversal: Literal["bfs", "ppr", "hybrid", "none"] = "ppr"
    candidates: int = 100
    vector_weight: float = 0.5
    text_weight: float = 0.5
    graph_weight: float = 0.9
    neighbor_weight: float = 0.4
    speaker_weight: float = 0.15
    asker_weight: float = 1.0
    session_weight: float = 0.3
    date_weight: float = 0.5
    layer_weight: float = 1.0
    recency_weight: float = 0.0
    recency_days: float = 30.0
    importance_weight: float = 0.0
    link_weight: float = 0.6
    answered_weight: float = 0.4
    damping: float = 0.7
    max_query_chars: int = 32_768
    max_limit: int = 1000
    min_relevance: float = 0.25
    rerank: str = "none"
    rerank_candidates: int = 20
    rerank_ms: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationConfig(_Section):
    """When a relation is accepted or rejected.

    Attributes:
        accept_at: Probability from which a relation is accepted without a model.
        reject_below: Probability below which it is rejected; in between, a model reads the evidence.
        vog_max_candidates: Most relations that a model reads in one call of `verify`, and at once in a night,
            which goes on as long as `garden.phase_calls` lasts; the next one continues.
        vog_sample_share: Share of the other relations that it also reads, so that thresholds can be learned.
        functional: Relation types with one object at a time, such as `capital_of`; types for
            which the store's relations show this are added.
    """

    accept_at: float = 0.7
    reject_below: float = 0.3
    vog_max_candidates: int = 30
    vog_sample_share: float = 0.05
    functional: tuple[str, ...] = ("born_in", "died_in", "capital_of", "located_in", "works_for", "led_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenConfig(_Section):
    """What a run of the gardener does, and its limits.

    Attributes:
        phases: Which phases run; their order is fixed. `infer`, which can be added, improves no recall.
        phase_seconds: Most seconds of a phase; the next run continues.
        phase_calls, phase_tokens: Most model calls and tokens of a phase.
        min_repeat_count: Number of sessions that must have recalled evidence before a relation is inferred
            from it.
        infer_limit: Most relations that the phase `infer` infers in one run.
        merge_at, review_at: Probability from which two entities or memories are merged, and from which a
            person is asked.
        reuse_ceiling: Largest increase of an importance through reuse.
        decay_after_days: Days after which isolated memories that were never recalled lose importance.
        prune_share: Largest share of a project's relations and links that is archived in one run.
        spurious_at: Probability of being wrong, by the edge scorer, from which a relation is archived if
            verification finds it improbable too.
        least_auc: Held-out AUC below which the edge scorer prunes nothing.
        review_limit: Most open questions for a person.
        backups: Number of rolling backups; 0 for none.
    """

    phases: tuple[Phase, ...] = (
        "distill",
        "verify",
        "supersede",
        "merge",
        "reuse",
        "prune",
        "review",
        "maintain",
    )
    phase_seconds: float = 600.0
    phase_calls: int = 50
    phase_tokens: int = 200_000
    min_repeat_count: int = 2
    infer_limit: int = 100
    merge_at: float = 0.9
    review_at: float = 0.5
    reuse_ceiling: float = 0.3
    decay_after_days: int = 30
    prune_share: float = 0.02
    spurious_at: float = 0.9
    least_auc: float = 0.75
    review_limit: int = 200
    backups: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsConfig(_Section):
    """How much is kept, and for how long; 0 for no limit. The gardener enforces it, `stats` shows it.

    Attributes:
        memories: Most active memories of a project; the least important and least recalled are archived
            first.
        document_mb: Most text of a project's documents, in megabytes; text out of use is removed, oldest
            first.
        archived_days: Days that archived rows are kept.
        change_days: Days that changes are kept; removed changes cannot be undone.
        session_days: Days that sessions without a memory are kept after their last turn.
    """

    memories: int = 0
    document_mb: int = 0
    archived_days: int = 0
    change_days: int = 0
    session_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig(_Section):
    """Address of the MCP server, its access checks, and what it may read.

    Attributes:
        host, port: Address for HTTP; loopback needs no token.
        token_env: Name of the environment variable that holds the bearer token.
        allowed_hosts: Further host names that a request may address.
        allowed_origins: Web origins that a request may come from.
        ingest_roots: Folders that `ingest` may read over MCP, and in which the other operations may read and
            write files; empty allows the server's working folder.
        tools: reader shows recall, prime and get, agent the everyday tools, chatgpt search and fetch, all
            every operation; or tools by name, with commas between them.
        output_schemas: Whether tools are listed with the schema of their whole value, which then is part of
            every answer. It costs a client many tokens.
        request_seconds: A connection is closed whose request is not complete after so many seconds, or whose
            body stops arriving for as long.
        requests_per_minute: Requests of one token a minute over HTTP, of which as many may come at once; one
            more is answered 429. 0 is without limit.
        concurrent_calls: Requests of one token that may run at a time, and as many streams that may be open
            beside them; 0 is without limit.
        body_mb: Largest body of a request, in MiB.
        stop_seconds: How long running calls may take when the server is asked to stop.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token_env: str = "HYDRAMEM_TOKEN"  # noqa: S105 - the name of a variable, not a token
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    ingest_roots: tuple[str, ...] = ()
    tools: str = "agent"
    output_schemas: bool = False
    request_seconds: float = 20.0
    requests_per_minute: int = 600
    concurrent_calls: int = 16
    body_mb: float = 16.0
    stop_seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingConfig(_Section):
    """How several processes use one store; `sharing: off` is short for `enabled: false`.

    Attributes:
        enabled: Whether the process that holds the store serves the others; else they are refused.
        background: Whether a command on a store that no process holds starts one in the background that
            holds it: asked does so where `serve --background` or a hook asks for it, always at every command.
        idle_minutes: When a process in the background leaves after the last call of the last client.
        wait_seconds: How long a client waits for a sign of life of the process that holds the store, and how
            long a call waits there for its turn.
    """

    enabled: bool = True
    background: Literal["asked", "always"] = "asked"
    idle_minutes: float = 10.0
    wait_seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryConfig(_Section):
    """Numbers about calls, kept in `telemetry.db` in the store's folder. They never leave the machine.

    Attributes:
        enabled: Whether calls are recorded, without any text, name, id or path.
        days: Days that single calls are kept; older ones are summed up by day.
        max_mb: Most size in MiB; beyond it the oldest calls are summed up, then the oldest days deleted.
    """

    enabled: bool = True
    days: int = 30
    max_mb: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(_Section):
    """Every setting; each layer is given its own section."""

    storage: StorageConfig = field(default_factory=StorageConfig)
    embedding: EmbeddingConfig = field(default_factory=EmbeddingConfig)
    llm: LlmConfig = field(default_factory=LlmConfig)
    ingest: IngestConfig = field(default_factory=IngestConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    verification: VerificationConfig = field(default_factory=VerificationConfig)
    garden: GardenConfig = field(default_factory=GardenConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    server: ServerConfig = field(default_factory=ServerConfig)
    sharing: SharingConfig = field(default_factory=SharingConfig)
    hooks: HooksConfig = field(default_factory=HooksConfig)
    telemetry: TelemetryConfig = field(default_factory=TelemetryConfig)
