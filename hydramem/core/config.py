"""Every setting with its default, as one frozen value; `config_loading` fills it in.

A secret is never a value here: a key that ends in `_env` names the environment variable that holds it.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from hydramem.core.row_types import Phase


class _Section:
    """Part of the configuration; pydantic reads the attribute, so that an unknown key is an error."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageConfig(_Section):
    """Where and how the stores run.

    Attributes:
        graph: Graph engine: ladybug, kuzu, or memory (nothing is kept; for tests and trials).
        buffer_pool_mb: Memory that the graph engine may use for pages, in MiB, to begin with; three times
            the graph file where that is more, and twice as much as before wherever it runs out.
        max_db_gb: Address space reserved for the graph file, in GiB; a power of two.
        index_rows: Rows up to which vectors are searched in memory, exactly (2 kB a row at 384
            dimensions); above, by an index on disk.
        compact_fragments: Vector-store fragments from which it is compacted.
        compact_unindexed: Rows outside the full-text index from which it is brought up to date.
        keep_versions_minutes: Age at which old versions of the vector store are dropped.
    """

    graph: Literal["ladybug", "kuzu", "memory"] = "ladybug"
    buffer_pool_mb: int = 1024
    max_db_gb: int = 16
    index_rows: int = 200_000
    compact_fragments: int = 64
    compact_unindexed: int = 512
    keep_versions_minutes: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingConfig(_Section):
    """Which model makes the vectors.

    Attributes:
        model: auto, a model of `hydramem models list`, any fastembed name, or hash (no model; for tests).
        provider: local, ollama, or openai (any compatible endpoint).
        dimension: Vector length to cut Matryoshka models down to; 0 keeps the model's own.
        batch_size: Texts per model call.
        max_tokens: Tokens of a text that the model reads.
        threads: CPU threads of the local model; 0 takes all.
        base_url: Endpoint of a remote provider; empty takes the provider's usual one.
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
        extract: Entities and relations of documents.
        classify: Scope, categories and importance of a memory.
        consolidate: What a new memory does to the ones it touches.
        link: Links between memories.
        infer: Relations that sessions suggest.
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
    """How documents become chunks and graph.

    Attributes:
        chunk_tokens: Most tokens of a chunk.
        overlap_tokens: Tokens that a chunk repeats of the one before it, in running text.
        max_file_mb: Larger files are skipped and reported.
        batch_chunks: Chunks stored in one transaction.
        llm_chunks: Chunks sent in one extraction call, where a generator is configured.
    """

    chunk_tokens: int = 220
    overlap_tokens: int = 20
    max_file_mb: int = 32
    batch_chunks: int = 256
    llm_chunks: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig(_Section):
    """How a memory is encoded, and what remember accepts.

    Attributes:
        cognitive: Whether a memory is classified, consolidated with those it touches, and linked; else it is
            stored as given.
        consolidation_threshold: Cosine from which a memory of the same project and scope is a candidate for
            consolidation; `calibrate` can fit it to the embedder.
        batch_threshold: Cosine from which two memories of one `remember_many` are one, where their words do
            not tell them apart.
        link_threshold: How near a neighbour must be for a link: 0 for unrelated texts, whatever cosine the
            embedder gives those, 1 for equal ones. One that shares a rare name need be half as near.
        link_neighbors: Most neighbours that a new memory is linked to.
        most_links: Most links of one memory; the weakest go first.
        shared_by: Distinct sources or sessions that state the same from which a memory is `shared`.
        max_chars: Longer texts are refused; ingest them as documents.
        mask_secrets: Whether keys, tokens and passwords in a memory are masked before it is stored; they are
            reported either way.
        curated_memory_chars: Most characters of the curated file `MEMORY.md`.
        curated_user_chars: Most characters of the curated file `USER.md`.
    """

    cognitive: bool = True
    consolidation_threshold: float = 0.85
    batch_threshold: float = 0.98
    link_threshold: float = 0.35
    link_neighbors: int = 5
    most_links: int = 20
    shared_by: int = 2
    max_chars: int = 100_000
    mask_secrets: bool = False
    curated_memory_chars: int = 2200
    curated_user_chars: int = 1375


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig(_Section):
    """How recall gathers and fuses.

    Attributes:
        traversal: Graph arm: ppr, bfs, hybrid (both), or none.
        candidates: Candidates that the vector and text arms bring each.
        vector_weight, text_weight: Weights of the two arms against each other.
        graph_weight: Share of the graph arm in the score, where a query names rare entities.
        neighbor_weight: Share of the score of the turn before it that a short turn gains; less from others.
        speaker_weight: Share that a turn gains where the query names who said it.
        asker_weight: Share that a turn gains where a query in the first person is its author's.
        session_weight: Share that a turn gains where its session holds the most of a query's words.
        date_weight: Share that a chunk gains where it is of a day that a query names.
        layer_weight: How far trust counts: 1 favours shared chunks by 15 %, verified ones by 30 %.
        recency_weight: Share that a chunk gains where it is new; half of it every thirty days.
        importance_weight: Share that a chunk gains or loses by its importance.
        link_weight: Share of a good match's score that a link of weight 1 raises another memory to; two
            fifths of it where nothing but likeness links them.
        damping: Probability that the walk goes on rather than restarts.
        max_query_chars: Longer queries are refused.
        max_limit: Largest number of hits that can be asked for.
        rerank: none, llm (the generator of the role `rerank`), or a cross-encoder that fastembed lists and
            `hydramem models get` has put on this machine.
        rerank_candidates: Candidates that the reranker reads.
        rerank_ms: Milliseconds after which recall goes on without the reranker, and says so.
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
    importance_weight: float = 0.0
    link_weight: float = 0.6
    damping: float = 0.7
    max_query_chars: int = 32_768
    max_limit: int = 1000
    rerank: str = "none"
    rerank_candidates: int = 20
    rerank_ms: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationConfig(_Section):
    """When a relation is believed.

    Attributes:
        accept_at: Probability from which a relation is accepted without a model.
        reject_below: Probability under which it is rejected; in between a model reads the evidence.
        vog_max_candidates: Relations that a model reads in one run; further ones wait for the next.
        vog_sample_share: Share of relations outside that band that it reads too, so that thresholds can
            be learned.
        functional: Relation types with one object at a time, such as `capital_of`; types that the store's
            own relations show to be so are added to them.
    """

    accept_at: float = 0.7
    reject_below: float = 0.3
    vog_max_candidates: int = 30
    vog_sample_share: float = 0.05
    functional: tuple[str, ...] = ("born_in", "died_in", "capital_of", "located_in", "works_for", "led_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenConfig(_Section):
    """What one run of the gardener does, and how far it may go.

    Attributes:
        phases: Which phases run, in their own order.
        phase_seconds: Seconds that a phase may take; what is left over waits for the next run.
        phase_calls, phase_tokens: Model calls and tokens that a phase may spend.
        min_repeat_count: Sessions that must have seen evidence before a relation is inferred from it.
        infer_limit: Most relations that are inferred in one run.
        merge_at, review_at: Probability from which two things are merged, and from which a person is asked.
        reuse_ceiling: Most that reuse adds to a weight.
        decay_after_days: Days after which what was never recalled and stands alone loses weight.
        prune_share: Largest share of a project's relations and links that is archived in one run.
        spurious_at: Probability of being spurious from which a relation is archived, where the graph and the
            edge scorer agree.
        least_auc: Held-out AUC below which the edge scorer prunes nothing.
        review_limit: Most cases that may be pending for a person.
        backups: Rolling backups that are kept; 0 makes none.
    """

    phases: tuple[Phase, ...] = get_args(Phase)
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
    """How much is kept, and for how long; 0 is without limit. The gardener enforces it, `stats` says it.

    Attributes:
        memories: Most active memories of a project; the least important and least recalled go first.
        document_mb: Most text of a project's documents, in megabytes; what is out of use goes, oldest first.
        archived_days: Days that archived rows are kept.
        change_days: Days that changes are kept; what is gone cannot be undone any more.
        session_days: Days that sessions without a memory are kept after their last turn.
    """

    memories: int = 0
    document_mb: int = 0
    archived_days: int = 0
    change_days: int = 0
    session_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig(_Section):
    """How the MCP server is reached and what it may read.

    Attributes:
        host, port: Address for HTTP; loopback needs no token.
        token_env: Name of the environment variable that holds the bearer token.
        allowed_hosts: Further host names that a request may address.
        allowed_origins: Web origins that a request may come from.
        ingest_roots: Folders that `ingest` may read over MCP, and in which `calibrate` may read and write
            its files; empty allows the server's working folder.
        tools: agent shows the everyday tools, all shows every operation.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token_env: str = "HYDRAMEM_TOKEN"  # noqa: S105 - the name of a variable, not a token
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    ingest_roots: tuple[str, ...] = ()
    tools: Literal["agent", "all"] = "agent"


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
