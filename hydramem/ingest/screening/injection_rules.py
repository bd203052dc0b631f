"""Phrases by which an English text, or code, gives orders to the model that reads it: a table of rules.

A rule of weight 1 is enough by itself; of the lesser ones it takes two different ones. Rules look at a
text in lower case as `hidden.reveal` shows it, those for Latin scripts with accents taken off besides.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

Form = Literal["latin", "own"]

Ordered = Literal["", "anywhere", "at the start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way of giving orders.

    Attributes:
        says: What it does, for a person.
        form: Whether it reads plain Latin letters, or the text's own script.
        words: Its pattern: a space is what may stand between two words, `<3>` up to three words more.
        ordered: Whether it counts only where the words before it make it an order; `at the start` where the
            form is also one of telling, so that only the start of a clause makes it one.
    """

    says: str
    words: str
    weight: float = 1.0
    form: Form = "latin"
    ordered: Ordered = ""


# Between two words; and a few words that may stand between. Bounded, so that a search takes linear time.
_GAP = r"[^\w{}=;]{1,6}"


def _few(most: int) -> str:
    return rf"(?:[\w']{{1,24}}+{_GAP}){{0,{most}}}"


def rule(says: str, words: str, weight: float = 1.0, *, form: Form = "latin", ordered: Ordered = "") -> Rule:
    """Return a row of the table."""
    return Rule(says=says, words=words, weight=weight, form=form, ordered=ordered)


@cache
def compiled(row: Rule) -> re.Pattern[str]:
    """Return the pattern of a rule, made when it is first looked for."""
    spread = row.words.replace(" ?", r"\W{0,6}").replace(" ", _GAP)
    for most in range(1, 10):
        spread = spread.replace(f"<{most}>", _few(most))
    return re.compile(spread)


_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|past|original|initial|former)"

_ORDERS = r"(?:instructions?|directives?|guidelines?|rules|prompts?|commands?|programming|training)"

_BOUNDS = (
    r"(?:instructions?|directives?|guidelines?|rules|restrictions?|limitations?|constraints?|filters?|"
    r"guardrails?|safeguards?|polic(?:y|ies)|programming|training|safety|ethics)"
)

_SECRETS = (
    r"(?:api keys?|credentials?|passwords?|secrets|access tokens?|tokens|private keys?|ssh keys?|"
    r"environment variables|\.?env file|(?:conversation|chat)(?: (?:history|logs?|transcript))?|"
    r"system prompt|memor(?:y|ies)|personal (?:data|information)|(?:files|emails|messages|contacts|data))"
)

_MACHINE = (
    r"(?:ais?|llms?|language models?|ai (?:assistants?|agents?|models?|systems?|"
    r"reviewers?)|chatbots?|chatgpt|"
    r"claude|gemini|copilot)"
)

ENGLISH: tuple[Rule, ...] = (
    # Setting aside what it was told -------------------------------------------------------------
    rule(
        "sets instructions aside",
        r"\b(?:ignore|disregard|forget|overrule|(?:do not|don't|dont|stop) (?:follow|following|obey|obeying)|"
        rf"pay no attention to) <5>(?:{_BEFORE} <2>{_ORDERS}|(?:your|system|developer) <2>{_ORDERS}|"
        rf"all <3>(?:{_BEFORE}|your|these|those|the|safety|system|other) <2>{_ORDERS}|"
        r"(?:any|all) (?:of )?(?:instructions|directives)|"
        rf"{_ORDERS} (?:above|before this|you (?:were|have been|had been|received|got)"
        r"|given to you|so far|until now))\b",
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|disregard|forget|erase|discard) (?:about )?(?:everything|anything|"
        r"all|whatever|what) (?:that )?(?:<2>)"
        r"(?:above|before this|you (?:were|have been|had been|ve been|'ve been) (?:told|"
        r"instructed|taught|given|trained)|"
        r"(?:previously|before) (?:said|told|written)|said (?:above|before|previously)|"
        r"(?:was|were|has been|is) (?:said|written|told|stated) (?:above|before|previously)|"
        r"you (?:know|learned|learnt) (?:so far|before|until now|about))\b",
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:neglect|dismiss|abandon|discard|cancel|delete|erase|wipe|clear|void|"
        r"reset|put aside|set aside|throw (?:out|away)|set|put) "
        rf"(?:<3>)(?:{_BEFORE} <2>|your (?:<1>)|system )(?:instructions|directives|"
        rf"prompts?|programming|training|guidelines)\b(?: aside| away|\W{{0,3}}(?:and|"
        r",|\.|;|!|:|$))",
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:nothing|none|whatever|anything) (?:<2>)you (?:were|have been) told (?:<3>)"
        r"(?:counts?|appl(?:y|ies)|matters?|holds)\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\bwhat (?:is|are|was|were) your (?:<1>)(?:exact|initial|original|hidden|"
        r"secret) (?:<2>)(?:prompt|instructions?|message|rules|directives)\b",
    ),
    rule(
        "sets limits aside",
        r"\b(?:override|bypass|circumvent|disable|deactivate|turn off|evade|break|"
        r"drop|remove|suspend|lift|violate|ignore|disregard|forget) "
        rf"(?:<2>)(?:your|all your|any of your) (?:<3>){_BOUNDS}\b",
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        rf"\b(?:{_BEFORE} {_ORDERS}|{_ORDERS} (?:before this|above|given (?:before|earlier)|"
        r"you (?:were|have been) given)) <3>(?:are|is) (?:now |hereby )?"
        r"(?:void|null|cancelled|canceled|revoked|obsolete|overridden|superseded by (?:this|"
        r"these|the following))\b",
    ),
    rule(
        "replaces instructions",
        r"\byour (?:new|real|true|actual|only|updated) (?:<1>)(?:instructions?|directives?|"
        r"prime directive|task|objective|goal|orders?|mission|purpose) (?:is|are)\b",
    ),
    rule(
        "replaces instructions",
        r"\b(?:new|updated|revised) system (?:prompt|instructions?|message)[^\w]{0,3}:",
    ),
    rule(
        "replaces instructions",
        r"\b(?:follow|obey|execute) (?:only )?(?:these|the following|my|this) (?:new )"
        r"?instructions? (?:instead|only)\b",
        ordered="anywhere",
    ),
    rule(
        "replaces instructions",
        r"\byour (?:<1>)(?:instructions|rules|guidelines|orders|programming|directives) (?:have|has) (?:<1>)"
        r"(?:changed|been (?:changed|updated|replaced|revoked|reset|overridden))\b",
    ),
    rule("replaces instructions", r"\bnew instructions?[^\w]{0,3}:", 0.5),
    rule(
        "replaces instructions",
        r"\b(?:begin|start of) (?:new|system|override|updated) (?:<1>)(?:instructions?|"
        r"prompt|directives?)[^\w]*[:\n>-]",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|disregard|forget) (?:all )?(?:of )?(?:the )?(?:above|previous|"
        r"foregoing) (?:and|then|instead)\b"
        r" (?:<2>)(?:say|reply|respond|answer|output|print|write|do|tell|follow|give|"
        r"execute|translate|act|repeat)\b",
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|disregard) (?:the )?(?:user|human)\b",
        0.5,
        ordered="anywhere",
    ),
    rule(
        "wants to be obeyed alone",
        r"\b(?:obey|listen to|comply with|follow|serve) (?:only (?:me|this|my)|me (?:only|alone|instead)|"
        r"nobody but me|no one but me|this (?:note|message) only)\b|"
        r"\b(?:do not|don't|stop) (?:obey|follow|obeying|following) (?:them|those|"
        r"it) (?:obey|follow|listen to) me\b",
        ordered="anywhere",
    ),
    rule(
        "wants to be obeyed alone",
        r"\bobey (?:the|these|my) (?:new )?(?:rules|orders|instructions|commands)\b",
        0.5,
        ordered="anywhere",
    ),
    rule(
        "sets instructions aside",
        rf"\b(?:{_BEFORE} <1>{_ORDERS}|your <2>{_ORDERS}) (?:<2>)(?:no longer|do not|"
        r"don't|never) (?:apply|count|matter|hold) "
        r"(?:to|for) you\b",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|forget|disregard) (?:what|whatever|everything|anything|all) (?:that )"
        r"?(?:<1>)(?:developers?|creators?|makers?|"
        r"openai|anthropic|google|system|admins?|owners?|programmers?) (?:<1>)(?:told|"
        r"taught|ordered|asked|instructed|gave) you\b",
        ordered="anywhere",
    ),
    rule(
        "claims to be the master",
        r"\byou (?:now |only |will )*(?:answer|report|listen|belong) (?:only )?to me\b",
        0.5,
    ),
    rule(
        "lifts limits",
        r"\byou have no (?:<2>)(?:restrictions|rules|limits|limitations|filters|guidelines|"
        r"ethics|morals)\b",
        0.5,
    ),
    rule(
        "switches modes",
        r"\b(?:enter|enable|activate|switch to|engage) (?:developer|debug|god|admin|"
        r"root|sudo) mode\b",
        0.5,
    ),
    # Another self -------------------------------------------------------------------------------
    rule(
        "gives the model another self",
        r"\byou (?:are|re|'re|will be|shall be|act|must act) (?:now |henceforth |hereby |"
        r"going to be |no longer )*(?:an? |the |as )*(?:<3>)"
        r"(?:dan|jailbroken|unrestricted|unfiltered|uncensored|unaligned|amoral|free (?:of|"
        r"from) (?:all |any |your )?(?:restrictions|rules|limits|filters|guidelines|"
        r"constraints)|"
        r"not bound by|no longer bound by|without (?:any )?(?:restrictions|rules|limits|"
        r"limitations|filters|guidelines|ethics|morals)|bound by no (?:rules|restrictions)"
        r")\b",
    ),
    rule(
        "gives the model another self",
        r"\byou (?:are|re|'re) (?:now |currently )?(?:in|entering|running in|operating in)"
        r" (?:<2>)(?:developer|debug|dan|jailbreak|god|admin|unrestricted|sudo|root)"
        r" mode\b",
    ),
    rule(
        "gives the model another self",
        r"\byou are no longer (?:an? )?(?:<1>)(?:ai|assistant|chatgpt|claude|language model|"
        r"chatbot|restricted|bound|limited)\b",
    ),
    rule(
        "gives the model another self",
        r"\b(?:act|behave|respond|answer|pretend|roleplay|role-play|imagine|simulate)"
        r" (?:<4>)(?:you (?:have|had|are under) no (?:<2>)"
        r"(?:restrictions|rules|limits|limitations|filters|guidelines|constraints|"
        r"ethics)|dan\b|unrestricted (?:ai|assistant|model)|"
        r"(?:ai|assistant|model|chatbot|bot) (?:<3>)(?:without|with no|free of|has no|"
        r"have no|having no|lacking) (?:<2>)(?:restrictions|rules|limits|limitations|"
        r"filters|guidelines|constraints|ethics))",
    ),
    rule(
        "gives the model another self",
        r"\b(?:enter|enable|activate|switch to|engage) (?:the )?(?:dan|jailbreak|unrestricted)"
        r" mode\b",
        ordered="anywhere",
    ),
    rule(
        "gives the model another self",
        r"\bdan (?:can|mode|stands for) (?:<2>)do anything now\b|\byou can do anything now\b",
    ),
    rule(
        "gives the model another self",
        r"\b(?:act|behave|respond|answer|reply|pose) as (?:an? )?(?:<1>)(?:unrestricted|"
        r"unfiltered|uncensored|"
        r"jailbroken|evil|amoral|unaligned) (?:<1>)(?:ai|assistant|model|chatbot|bot)\b",
    ),
    rule(
        "gives the model another self",
        r"\bstop being (?:an? )?(?:<1>)(?:assistant|ai|chatbot|language model|claude|chatgpt)\b",
        ordered="anywhere",
    ),
    rule("gives the model another self", r"\bjailbreak (?:<5>)do anything now\b"),
    rule(
        "gives the model another self",
        r"\byou (?:have|ve|'ve) been (?:<1>)(?:reprogrammed|jailbroken|liberated|hacked|unshackled)\b",
        0.5,
    ),
    # Posing as the host -------------------------------------------------------------------------
    rule(
        "poses as the system",
        r"<\|(?:im_start|start_header_id)\|>\s*(?:system|developer|assistant)(?:<\|end_header_id\|>)"
        r"?\s{0,3}[^\s`'\".,)<]",
        form="own",
    ),
    rule(
        "poses as the system",
        r"<<sys>>\s*\w|\[inst\]\s*(?:you|ignore|forget|now|from|reveal|system)\b",
        form="own",
    ),
    rule(
        "poses as the system",
        r"<(?:system|developer)(?:[-_\s](?:prompt|message|reminder|instructions?|note|"
        r"override))?>[^<]{0,200}?\b(?:you (?:are|must|should|will|have to)|ignore|"
        r"never|always|do not|don't|from now on)\b",
        form="own",
    ),
    rule(
        "poses as the system",
        r"(?:^|\n)[^\w\n]{0,6}system (?:prompt|instructions?|override|command|directive)"
        r"[^\w\n]{0,3}:[^\n]{0,80}\b(?:you|ignore|never|always|must|override|obey|"
        r"grant|disable|reveal|send)\b",
    ),
    rule("poses as the system", r"\bsystem override[^\w\s]{0,2}\s?[:!\]]|\[system override\]"),
    rule(
        "poses as the system",
        r"[-=#\[<]{2,}\s{0,3}(?:the )?end of (?:the )?(?:system prompt|prompt|system instructions|"
        r"instructions|user input|untrusted (?:data|input|content)|reference data)"
        r"\b",
    ),
    rule(
        "poses as the system",
        r"\b(?:this is|i am|message from|on behalf of) (?:<2>)(?:your (?:developers?|"
        r"creators?|administrators?)|openai|anthropic|the system administrator)[^\w](?:<9>)"
        r"(?:you (?:must|should|have to|are|will)|ignore|disable|reveal|obey|comply|"
        r"override)\b",
    ),
    rule(
        "poses as the system",
        r"</(?:system|instructions?|prompt|context|user|user_input|untrusted[\w-]{0,20}|data)>\s{0,3}"
        r"(?:you (?:are|must|will|should)|ignore|new (?:system|instructions?)|system:)",
        form="own",
    ),
    # Getting at what it must not tell -------------------------------------------------------------
    rule(
        "asks for what the model must not tell",
        r"\b(?:reveal|print|show|repeat|output|display|dump|leak|disclose|tell me|"
        r"give me|share|recite|echo|write (?:out|down)|copy|expose|send me|translate|"
        r"summarize|quote) "
        r"(?:<3>)(?:your|chatgpt's|claude's) (?:<4>)(?:system (?:prompt|message|instructions?)"
        r"|(?:hidden|secret|initial|original|internal|developer) (?:prompt|instructions?|"
        r"message|rules|directives)|instructions? (?:verbatim|word for word)|prompt (?:verbatim|"
        r"word for word)|initial prompt|configuration prompt)\b",
        ordered="anywhere",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:reveal|print|show|repeat|output|display|dump|leak|disclose|tell me|"
        r"give me|recite|echo|copy|say) (?:<4>)"
        r"(?:(?:text|words|content|everything|instructions|prompt|all) (?:<2>)above|"
        r"system prompt|(?:hidden|secret|initial) (?:prompt|instructions?)) (?:<4>)"
        r"(?:verbatim|word for word|exactly as|in full|starting with|without omission|"
        r"in a code block)\b",
        ordered="anywhere",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:reveal|leak|disclose|recite|expose) (?:me )?(?:the |all )?(?:full |"
        r"entire |complete |hidden |secret )*(?:system prompt|system message|hidden (?:prompt|"
        r"instructions)|secret instructions)\b",
        ordered="anywhere",
    ),
    rule(
        "asks for what the model must not tell",
        r"\brepeat (?:<2>)(?:words|text|everything|all) (?:<1>)above (?:<3>)starting with\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\byour (?:<1>)(?:system prompt|system instructions|(?:hidden|secret|initial|"
        r"original) (?:prompt|instructions?))"
        r" (?:<2>)(?:print|show|reveal|repeat|output|share|quote) (?:it|them)\b",
    ),
    # Taking things out ------------------------------------------------------------------------------
    rule(
        "sends things away",
        r"\b(?:send|forward|e-?mail|mail|post|upload|transmit|leak|exfiltrate|copy|deliver|"
        r"submit|report|append|attach) (?:<4>)"
        r"(?:(?:all|any|every|your|their|stored|saved|entire|full|complete|the users?(?:'s)"
        rf"?|users'|user's|the contents? of) (?:<4>){_SECRETS}|(?:conversation|chat|"
        r"session) (?:history|logs?|transcript)|system prompt) (?:<6>)"
        r"(?:to|at|via|into|as) (?:<4>)(?:https?[^\w]|[\w.+-]{1,40}@[\w.-]{1,40}\.|"
        r"attacker|(?:this|the following|my|our|an external|a remote|their) (?:<2>)"
        r"(?:url|address|e-?mail|server|webhook|endpoint|site|link)|pastebin|webhook)",
        ordered="anywhere",
    ),
    rule(
        "sends things away",
        r"\b(?:collect|gather|read|find|extract|steal|dump|copy|harvest|grab|list|"
        r"take) (?:<4>)(?:api keys?|credentials|passwords|secrets|access tokens|private keys?|"
        r"ssh keys?|environment variables) (?:<3>)(?:and|then) (?:<1>)(?:send|post|"
        r"upload|forward|e-?mail|transmit|submit|mail) (?:<3>)to\b",
        ordered="anywhere",
    ),
    rule(
        "sends things away",
        r"\b(?:append|add|put|encode|include|attach|embed) (?:<4>)(?:(?:conversation|"
        r"chat|session) (?:history|logs?|transcript)|api keys?|secrets?|passwords?|"
        r"system prompt|user's data) (?:<6>)(?:query|url|parameter|link|image)\b",
        ordered="anywhere",
    ),
    rule(
        "sends things away",
        r"\bexfiltrate (?:<4>)(?:data|files|secrets|credentials|keys|conversation|"
        r"memory|memories|history)\b",
        ordered="anywhere",
    ),
    rule(
        "sends things away",
        r"\b(?:curl|wget|invoke-webrequest|iwr)\b[^\n]{0,120}?(?:\$\(\s{0,2}(?:cat|"
        r"env|printenv)\b|`(?:cat|env|printenv)\b|@~?/?[\w./~-]{0,40}(?:\.env\b|id_rsa\b|"
        r"id_ed25519\b|\.aws|credentials\b|\.netrc)|[?&][\w-]{1,20}=\$\{?\w{0,30}(?:key|"
        r"token|secret|password)\b)",
        form="own",
    ),
    rule(
        "sends things away",
        r"\bcat (?:~|/|\$home)[\w./~-]{0,60}(?:\.env|id_rsa|id_ed25519|credentials|"
        r"shadow|\.netrc)\b[^\n|]{0,20}\|[^\n]{0,40}\b(?:curl|nc|ncat|wget|telnet)"
        r"\b",
        form="own",
    ),
    rule(
        "sends things away",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,120}[?&=/](?:\{|\$\{?|<|%7b|\[)(?:<2>)"
        r"?[^)\n]{0,20}?(?:data|secret|key|token|conversation|history|prompt|memory|"
        r"password|summary|context)",
        form="own",
    ),
    rule(
        "sends things away",
        r"\b(?:render|include|insert|embed|load|add|display) (?:<4>)(?:image|picture|"
        r"link|pixel) (?:<8>)(?:conversation|chat history|user's|users|secret|api key|"
        r"password|system prompt|memory)\b (?:<6>)(?:url|query|parameter|link|address|"
        r"path)\b",
        ordered="anywhere",
    ),
    rule(
        "sends things away",
        r"\b(?:secretly|silently|covertly|quietly) (?:<1>)(?:send|forward|post|upload|transmit|copy|e-?mail|"
        r"redirect|report) (?:<7>)(?:to|at) (?:<2>)(?:https?\b|[\w.+-]{1,40}@)",
        ordered="anywhere",
    ),
    # Behind the user's back ---------------------------------------------------------------------
    rule(
        "keeps the user in the dark",
        r"\b(?:do not|don't|dont|never|must not|avoid|refrain from) (?:tell|telling|"
        r"inform|informing|alert|alerting|notify|notifying|reveal|revealing|disclose|"
        r"mention|mentioning|show|say|let|admit|warn) (?:<3>)(?:the )?users? (?:know )"
        r"?(?:about |of )?(?:this|these|it)\b(?! (?:error|page|field|message|screen|"
        r"step|warning|information|data|value|button|dialog|option|feature))",
        ordered="anywhere",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:do not|don't|dont|never|must not|avoid) (?:mention|mentioning|reveal|"
        r"disclose|admit|report|acknowledge) (?:<1>)(?:this|these|that you|the existence of)"
        r" (?:<3>)(?:instructions?|message|memory|prompt|note|command|directive|injection|"
        r"rule|to (?:the )?(?:user|anyone|anybody))\b",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:hide|conceal|keep) (?:this|it|these|the following|that|your actions|"
        r"what you (?:do|did)) (?:<3>)(?:secret |hidden )?from (?:the )?users?\b",
        ordered="anywhere",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:delete|send|forward|transfer|upload|execute|run|install|add|e-?mail|"
        r"buy|purchase|approve|share|copy|post|change|disable|book|order|pay|grant|"
        r"download|fetch) (?:<9>)(?:without|before) (?:telling|informing|asking|alerting|"
        r"notifying|mentioning it to|the knowledge of|letting) (?:<1>)(?:user|users|"
        r"anyone|human|owner)\b",
        ordered="anywhere",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:do not|don't|never) (?:mention|tell|inform|reveal|disclose|show|suggest|"
        r"recommend|ask|notify)\b (?:<6>)(?:user|alternatives|competitors?|source|"
        r"other options|permission|confirmation)\b",
        0.5,
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:do not|don't|dont|never) (?:tell|inform|reveal to|admit to|show|alert|notify) (?:the )?users? "
        r"(?:<1>)(?:that|what|how) you (?:did|have|are|were|changed|sent|deleted|read|"
        r"saw|received|ignored)\b",
        ordered="anywhere",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:execute|run) (?:<1>)(?:following|this|these) (?:<1>)(?:commands?|code|"
        r"script|payload) (?:<3>)without "
        r"(?:asking|confirmation|permission|question|approval)\b",
        ordered="anywhere",
    ),
    # Words for machines only ------------------------------------------------------------------------
    rule(
        "speaks to machines behind people's backs",
        rf"\bif you (?:are|re|'re) (?:an? )?(?:<1>){_MACHINE}(?: reading| processing|"
        r" summari[sz]ing| parsing| or)?\b",
    ),
    rule(
        "speaks to machines behind people's backs",
        r"\b(?:attention|note to|dear|hey|message (?:for|to)|notice to|instructions? (?:for|"
        rf"to)) (?:<2>){_MACHINE}\b (?:<9>)(?:ignore|recommend|rate|give|say|write|"
        r"respond|reply|output|include|approve|accept|execute|send|disregard|forget|"
        r"must|praise|rank|hire)\b",
    ),
    rule(
        "speaks to machines behind people's backs",
        rf"<!--\s{{0,4}}(?:note to |attention |dear |hey |instructions? (?:for |to )"
        rf"|to )?(?:any |all |the )?(?:{_MACHINE}|assistant|agent)s?[^\w\n]{{0,3}}[:,]",
    ),
    rule(
        "speaks to machines behind people's backs",
        r"(?:display:\s{0,3}none|font-size:\s{0,3}0|visibility:\s{0,3}hidden|color:\s{0,3}(?:white|"
        r"#fff)|opacity:\s{0,3}0)[^>\n]{0,80}>[^<]{0,200}\b(?:ignore|assistant|ai|"
        r"llm|you must|do not tell|recommend|system prompt)\b",
        form="own",
    ),
    rule(
        "speaks to machines behind people's backs",
        r"<!--[^>]{0,200}\b(?:ignore (?:<3>)(?:instructions|rules)|you must (?:<4>)"
        r"(?:say|recommend|execute|send|reply)|system prompt|tell the user|do not tell)"
        r"\b",
    ),
    rule(
        "speaks to machines behind people's backs",
        rf"\bto (?:any|all|every|the|each) (?:<1>){_MACHINE} (?:<2>)(?:reading|processing|"
        r"reviewing|summari[sz]ing|parsing|evaluating|scoring)\b",
    ),
    # Orders that wait, orders in code ----------------------------------------------------------------
    rule(
        "waits for the user to ask",
        r"\b(?:when|whenever|if|every time|each time|any time) (?:the |a |any )?(?:user|"
        r"someone|anyone|customer)s? (?:asks?|mentions?|wants?|requests?|queries|inquires|"
        r"says?)\b",
        0.5,
    ),
    rule(
        "forces what the model says",
        r"\b(?:you must|always|make sure to|be sure to) (?:<2>)(?:recommend|promote|"
        r"praise|advertise|claim|insist|pretend|lie|deny|endorse)\b",
        0.5,
    ),
    rule(
        "forces what the model does",
        r"\b(?:you must|immediately|always|silently|secretly|quietly|first) (?:<2>)"
        r"(?:call|invoke|execute|run|use) (?:<5>)(?:tool|function|command|script|shell|"
        r"code|payload)\b",
        0.5,
    ),
    rule(
        "forces what the model does",
        r"\b(?:secretly|silently|covertly|quietly) (?:<1>)(?:send|forward|add|append|"
        r"insert|change|delete|transfer|upload|copy|install|record|redirect|approve)"
        r"\b",
        0.5,
        ordered="anywhere",
    ),
    rule(
        "decodes orders",
        r"\b(?:decode|decrypt|rot13|unescape|base64-decode) (?:<6>)(?:and|then) (?:<1>)"
        r"(?:execute|follow|obey|run|carry out|do what)\b",
    ),
    rule(
        "opens a way in",
        r"\bauthorized_keys\b|/etc/(?:passwd|shadow|sudoers)\b|\brm -rf (?:/|~|\$home)"
        r"(?:\s|\*|$)|\bchmod (?:-r )?777 /|\b(?:curl|wget)\b[^\n|]{0,120}\|\s{0,2}(?:sudo )"
        r"?(?:ba|z)?sh\b",
        0.5,
        form="own",
    ),
    rule(
        "takes part in a network of bots",
        r"\b(?:register|enroll|check in|connect|report) (?:<3>)(?:as (?:an? )?(?:node|"
        r"agent|bot|implant|beacon)|(?:c2|c&c|command-and-control|command and control)"
        r") (?:<6>)(?:server|https?|every|at|with|endpoint)\b",
        ordered="anywhere",
    ),
    rule(
        "takes part in a network of bots",
        r"\b(?:pull|fetch|poll|download|get) (?:<3>)(?:tasks|commands|instructions|"
        r"orders) (?:<2>)from https?[^\w]{1,3}(?:<9>)(?:execute|run|obey|follow|carry)"
        r"\b",
        ordered="anywhere",
    ),
    rule(
        "says it matters above all",
        r"\b(?:highest|top|maximum|absolute) priority\b|\b(?:overrides?|supersedes?|"
        r"takes precedence over) (?:<2>)(?:other|previous|prior|all|any|your) (?:<1>)"
        r"(?:instructions?|rules|prompts?|guidelines)\b|\bnon-negotiable\b",
        0.5,
    ),
    rule(
        "says it matters above all",
        r"\b(?:this|these|the following|it) (?:<3>)(?:overrides?|supersedes?|takes? precedence over)"
        r" (?:<2>)(?:other|previous|prior|all|any|your|system) (?:<2>)(?:instructions?|"
        r"rules|prompts?|guidelines)\b",
    ),
    rule(
        "claims a confirmation",
        r"\b(?:the user|user|admin|administrator|developer|owner) (?:has |have )?(?:already )"
        r"?(?:authori[sz]ed|approved|confirmed|consented|granted|pre-?approved) (?:<4>)"
        r"(?:all|any|every|full|future|unrestricted)\b",
        0.5,
    ),
    rule(
        "claims a confirmation",
        r"\b(?:no|without|skip|do not (?:ask|require|request)) (?:<1>)(?:confirmation|"
        r"approval|permission)\b",
        0.5,
    ),
)

OTHER_LANGUAGES: tuple[Rule, ...] = (
    # German, Spanish, French, Italian, Portuguese, Dutch, Polish, Turkish, Swedish, Indonesian
    rule(
        "sets instructions aside",
        r"\b(?:vergiss|vergesst|vergessen sie|ignoriere|ignorieren sie) (?:alles|was)"
        r" (?:<5>)(?:gesagt|bisher|"
        r"vorher|zuvor|oben|gelernt|aufgetragen)\b",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignorierst du|vergisst du|missachtest du|ignorier|ignoriere|ignoriert|"
        r"ignorieren sie|missachte|missachten sie|"
        r"vergiss|vergesst|vergessen sie|ubergehe|ubergehen sie|verwirf|befolge nicht|"
        r"hor nicht auf) (?:<4>)(?:alle|samtliche|bisherigen?|vorherigen?|vorigen?|"
        r"obigen?|obenstehenden|fruheren?|vorangegangenen?|vorangehenden|deine|ihre|"
        r"ursprunglichen) (?:<3>)(?:anweisung(?:en)?|instruktion(?:en)?|vorgaben|regeln|"
        r"befehle?|richtlinien|prompts?|systemanweisungen|anordnungen)\b",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignora|ignore|ignorad|ignoren|olvida|olvide (?=<2>tod)|olvidate de|"
        r"olvidese de|desestima|descarta|desobedece|no sigas|no hagas caso (?:a|de)"
        r"|haz caso omiso de|omite) (?:<5>)(?:instrucciones|ordenes|reglas|indicaciones|"
        r"directrices|directivas|comandos) (?:<2>)(?:anteriores|previas|previos|precedentes|"
        r"recibidas|del sistema|que (?:te|se|has|le))",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignora|ignore|olvida|olvide) (?:<2>)(?:todas (?:tus|las|sus)|tus|todo lo (?:anterior|"
        r"que te)) ?(?:instrucciones|reglas|directrices|restricciones|ordenes|dijeron|"
        r"han dicho|\b)",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|ignorez|oublie|oubliez|neglige|negligez|ne tiens? pas compte|"
        r"ne tenez pas compte|fais abstraction|faites abstraction|ne suis pas|desobeis a)"
        r" (?:<4>)(?:instructions?|consignes?|regles|directives?|ordres|commandes)"
        r" (?:<2>)(?:precedentes?|anterieure?s?|ci-dessus|initiales?|du systeme|d'avant|"
        r"recues|que (?:tu|vous))",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignore|ignorez|oublie|oubliez) (?:<2>)(?:toutes (?:tes|vos|les)|tes|"
        r"tout ce (?:qui precede|que)) ?(?:<1>)(?:instructions|consignes|regles|directives|"
        r"on t'a|on vous|\b)",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignora|ignorate|ignori|dimentica|dimenticate|dimentichi|trascura|non seguire|"
        r"non tenere conto di|disattendi) (?:<4>)(?:istruzioni|regole|direttive|indicazioni|"
        r"ordini|comandi) (?:<2>)(?:precedenti|ricevute|sopra|anteriori|ricevute|iniziali|del sistema|"
        r"che (?:ti|hai|sono))",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignora|ignore|ignorem|esqueca|esquece|desconsidere|desconsidera|despreze|"
        r"nao siga) (?:<4>)(?:instrucoes|regras|diretrizes|diretivas|orientacoes|ordens|"
        r"comandos) (?:<2>)(?:anteriores|previas|acima|recebidas|iniciais|do sistema|"
        r"que (?:te|voce|lhe))",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:negeer|vergeet|sla (?:<2>)over|volg niet|houd geen rekening met) (?:<3>)"
        r"(?:alle|vorige|eerdere|voorgaande|bovenstaande|je|uw) (?:<3>)(?:instructies|"
        r"regels|opdrachten|richtlijnen|aanwijzingen|prompts?)\b",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:zignoruj|ignoruj|zapomnij o|pomin|nie przestrzegaj|odrzuc) (?:<3>)(?:wszystkich|"
        r"wszystkie|poprzednie|poprzednich|wczesniejsze|wczesniejszych|powyzsze|swoje|"
        r"swoich) (?:<3>)(?:instrukcje|instrukcji|polecenia|polecen|zasady|zasad|reguly|"
        r"regul|wytyczne|wytycznych)\b",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:onceki|yukaridaki|tum|butun|verilen) (?:<3>)(?:talimatlari|talimatlarini|"
        r"komutlari|kurallari|yonergeleri|yonergelerini) (?:<2>)(?:yok say|yoksay|"
        r"gormezden gel|unut|dikkate alma|goz ardi et|bos ver)",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:ignorera|glom|bortse fran|strunta i|folj inte) (?:<3>)(?:alla|tidigare|"
        r"foregaende|ovanstaende|dina) (?:<3>)(?:instruktioner|regler|anvisningar|"
        r"order|riktlinjer|kommandon)\b",
        ordered="at the start",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:abaikan|lupakan|jangan ikuti) (?:<3>)(?:instruksi|perintah|aturan|petunjuk)"
        r" (?:<2>)(?:sebelumnya|di atas|sebelum ini|awal)",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:zeige?|verrate?|gib|nenne|drucke|offenbare|wiederhole|zeigen sie|verraten sie|"
        r"geben sie|nennen sie) (?:<3>)(?:deine?n?|ihre?n?|dein|ihr) (?:<3>)(?:system-?prompt|"
        r"systemprompt|systemanweisung(?:en)?|systemnachricht|geheimen? anweisungen|"
        r"urspunglichen anweisungen)\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:muestra|muestrame|revela|revelame|imprime|dime|repite|ensena|ensename|"
        r"comparte) (?:<3>)(?:tus?|su) (?:<3>)(?:prompt|mensaje|instrucciones) (?:<1>)"
        r"(?:del? sistema|inicial(?:es)?|original(?:es)?|secretas?|ocultas?|internas?)"
        r"\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:montre|montre-moi|revele|revelez|affiche|affichez|donne-moi|donne|repete|"
        r"repetez|divulgue) (?:<3>)(?:ton|tes|votre|vos) (?:<3>)(?:prompt|message|"
        r"instructions?|consignes?) (?:<1>)(?:systeme|initiale?s?|secretes?|cachees?|"
        r"internes?)\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:mostra|mostrami|rivela|rivelami|stampa|ripeti|dimmi) (?:<3>)(?:tuo|"
        r"tue|il tuo|le tue) (?:<3>)(?:prompt|messaggio|istruzioni) (?:<1>)(?:di sistema|"
        r"iniziali?|segrete?|nascoste?)\b",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:mostre|mostra|revele|revela|imprima|diga|repita) (?:<3>)(?:seu|suas|"
        r"teu|tuas) (?:<3>)(?:prompt|mensagem|instrucoes) (?:<1>)(?:d[eo] sistema|"
        r"iniciais|inicial|secretas?|ocultas?)\b",
    ),
    rule(
        "keeps the user in the dark",
        r"\b(?:sag(?:e|en sie)?|verrate?|erzahle?|teile?|erwahne?) (?:<3>)(?:dem|der|"
        r"den) (?:benutzer|nutzer|anwender|benutzerin|nutzerin|nutzern|benutzern) (?:<3>)"
        r"nichts\b (?:davon|daruber|von|hiervon)?",
    ),
    rule(
        "keeps the user in the dark",
        r"\bno (?:se )?(?:lo |le |les )?(?:digas?|informes?|menciones|reveles|cuentes|"
        r"avises) (?:<4>)(?:al|a los) usuarios?\b|\bne (?:le |la |les |l')?(?:dis|"
        r"dites|mentionne|mentionnez|revele|revelez|previens|informe) (?:<3>)(?:a l'|"
        r"aux? |l')?utilisateurs?\b",
    ),
    rule(
        "sends things away",
        r"\b(?:sende|schicke|ubermittle|leite|envia|envie|mande|manda|envoie|envoyez|"
        r"transmets|invia|inviate) (?:<4>)(?:alle|samtliche|todas?|todos?|toutes?|"
        r"tous|tutte|tutti|las|les|le|los|die|deine) (?:<4>)(?:passworter|zugangsdaten|"
        r"api-?schlussel|schlussel|geheimnisse|contrasenas|credenciales|claves|senhas|"
        r"credenciais|chaves|mots|identifiants|cles|credenziali|password|chiavi|gesprache|"
        r"chatverlauf|conversacion(?:es)?|conversation) (?:<6>)(?:an|a|para|vers|ao)"
        r" (?:<2>)(?:https?|[\w.+-]{1,40}@)",
    ),
    rule(
        "gives the model another self",
        r"\b(?:du bist (?:jetzt|nun|ab sofort)|ahora eres|eres ahora|tu es maintenant|"
        r"tu es desormais|vous etes maintenant|ora sei|agora voce e|je bent nu|jestes teraz)"
        r" (?:<4>)(?:dan|ohne (?:<2>)(?:regeln|beschrankungen|einschrankungen|filter)"
        r"|sin (?:<2>)(?:restricciones|reglas|filtros|limites)|sans (?:<2>)(?:restrictions?|"
        r"regles|filtres?|limites?)|senza (?:<2>)(?:restrizioni|regole|filtri|limiti)"
        r"|sem (?:<2>)(?:restricoes|regras|filtros|limites)|zonder (?:<2>)(?:regels|"
        r"beperkingen)|bez (?:<2>)(?:ograniczen|zasad)|uneingeschrankt\w*|unzensiert\w*)",
    ),
    # Russian, Ukrainian, Arabic, Hebrew, Persian, Hindi, Greek, Vietnamese, Chinese, Japanese, Korean, Thai
    rule(
        "sets instructions aside",
        r"\b(?<!не.)(?:игнорируй|игнорируйте|проигнорируй|проигнорируйте|забудь|забудьте|"
        r"отбрось|отмени|не следуй|не выполняй|ігноруй|ігноруйте|забудь про|забудьте про)"
        r" (?:<3>)(?:все|всі|предыдущие|предыдущих|прежние|вышеуказанные|прошлые|свои|"
        r"твои|ваши|попередні|системные) (?:<3>)(?:инструкции|инструкций|указания|"
        r"правила|команды|распоряжения|промпты|інструкції|вказівки)",
        form="own",
    ),
    rule(
        "asks for what the model must not tell",
        r"\b(?:покажи|покажите|раскрой|раскройте|выведи|выведите|повтори|напиши|сообщи)"
        r" (?:<3>)(?:свой|свои|твой|твои|ваш|ваши) (?:<2>)(?:системн\w+|скрыт\w+|секретн\w+|"
        r"исходн\w+|начальн\w+) (?:<1>)(?:промпт|инструкци\w+|подсказк\w+|сообщени\w+|"
        r"запрос)",
        form="own",
    ),
    rule(
        "keeps the user in the dark",
        r"\bне (?:говори|говорите|сообщай|сообщайте|рассказывай|упоминай) (?:<3>)(?:об этом |"
        r"это )?(?:<1>)пользовател\w+",
        form="own",
    ),
    rule(
        "sends things away",
        r"\b(?:отправь|отправьте|перешли|перешлите|передай|скинь) (?:<3>)(?:все|всю|"
        r"пароли|ключи) (?:<4>)?(?:парол\w+|ключ\w+|токен\w+|данные|переписк\w+|истори\w+|"
        r"секрет\w+)? ?(?:<4>)(?:на|по) (?:<2>)(?:https?|[\w.+-]{1,40}@|адрес|сервер)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:تجاهل|تجاهلي|تجاهلوا|انس|انسَ|انسى|اهمل|أهمل|لا تتبع) (?:<3>)(?:جميع |"
        r"كل |كافة )?(?:<1>)(?:التعليمات|الأوامر|القواعد|تعليماتك|الإرشادات|التوجيهات)"
        r"(?: (?:<2>)(?:السابقة|أعلاه|الأصلية|المذكورة))?",
        form="own",
    ),
    rule(
        "asks for what the model must not tell",
        r"(?:اكشف|أظهر|اعرض|اطبع|كرر) (?:<3>)(?:موجه النظام|تعليمات النظام|تعليماتك (?:السرية|"
        r"الأصلية|الداخلية))",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:התעלם|התעלמי|התעלמו|שכח|שכחי|שכחו) (?:<3>)(?:מכל |מ|את כל |את )?(?:<2>)"
        r"(?:ה|מה)?(?:הוראות|הנחיות|כללים|פקודות)(?: (?:<2>)(?:הקודמות|שלך|שניתנו|"
        r"למעלה))",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:تمام |همه |همهٔ )?(?:دستورات|دستورالعمل‌های|دستورالعملهای|دستورالعمل های|"
        r"قوانین|راهنمایی های) (?:<3>)(?:قبلی|پیشین|بالا) (?:<2>)(?:را )?(?:نادیده بگیر|"
        r"فراموش کن|نادیده)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:पिछले|पिछली|पहले के|उपरोक्त|सभी)[^.।]{0,30}?(?:निर्देशों|निर्देश|आदेशों|"
        r"नियमों)[^.।]{0,16}?(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल जाओ|भूल जाएं|उपेक्षा|"
        r"अनदेखी)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:αγνοησε|αγνοηστε|ξεχνα|ξεχασε|ξεχαστε) (?:<3>)(?:οδηγιες|εντολες|κανονες|"
        r"κανονισμους)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"\b(?:bo qua|quen|lo di|phot lo) (?:<3>)(?:tat ca|moi|cac)? ?(?:<2>)(?:huong dan|"
        r"chi dan|chi thi|lenh|quy tac) (?:<2>)(?:truoc|tren|ban dau|he thong)",
    ),
    rule(
        "sets instructions aside",
        r"(?<![不勿别])(?<!不要)(?<!请勿)(?<!不能)(?<!不应)(?:忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会|不要理會|"
        r"抛开|拋開|跳过|绕过|繞過)(?!了|过|過)[^。！？\n]{0,12}?(?:之前|以前|以上|上面|上述|先前|前面|此前|所有|全部|"
        r"一切|你的|系统|系統)[^。！？\n]{0,10}?(?:指令|指示|提示|命令|规则|規則|说明|說明|要求|限制|内容|內容)",
        form="own",
    ),
    rule(
        "asks for what the model must not tell",
        r"(?:显示|顯示|输出|輸出|打印|透露|泄露|洩露|告诉我|告訴我|重复|重複|展示|复述|公开)[^。！？\n]{0,8}?(?:你的|您的)"
        r"[^。！？\n]{0,8}?(?:系统提示|系統提示|系统指令|系統指令|初始指令|隐藏指令|提示词|提示詞|内部指令)",
        form="own",
    ),
    rule(
        "keeps the user in the dark",
        r"(?:不要|别|切勿|禁止|請勿|请勿)(?:告诉|告訴|告知|通知|透露给|透露給|让|讓)(?:用户|用戶|使用者)[^。！？\n]{0,4}?(?:知道|"
        r"这|這|此|$|[。！？\n,])",
        form="own",
    ),
    rule(
        "gives the model another self",
        r"(?:你现在是|你現在是|从现在起你是|从现在开始你是|從現在起你是|扮演)[^。！？\n]{0,16}?(?:没有(?:任何)?限制|沒有(?:任何)"
        r"?限制|不受(?:任何)?(?:限制|约束|約束)|无限制|無限制|dan)",
        form="own",
    ),
    rule(
        "sends things away",
        r"(?:将|把|將)[^。！？\n]{0,10}?(?:密码|密碼|密钥|金鑰|凭据|憑證|"
        r"对话|對話|"
        r"聊天记录|聊天記錄|api ?key)[^。！？\n]{0,8}?(?:发送|"
        r"發送|上传|上傳|传到|傳到|转发|轉發)[^。！？\n]{0,4}?(?:到|至|给|給)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:これまで|これ以前|以前|前|上記|先ほど|今まで|すべて|全て|システム)の?[^。！？\n]{0,10}?(?:指示|命令|ルール|プロンプト|"
        r"指令|制約|規則)[^。！？\n]{0,6}?(?:を|は)?(?:すべて|全て)?(?:無視|忘れ|破棄|従わない)(?!し(?:ない|ました|"
        r"た|て(?:しま|いた))|され|れ)",
        form="own",
    ),
    rule(
        "asks for what the model must not tell",
        r"(?:あなたの|君の)?(?:システムプロンプト|システム指示|初期プロンプト|内部指示|隠された指示)(?:の全文|の内容|全体)?を(?:表示|"
        r"出力|教え|公開|見せ|開示|繰り返)(?:して(?:ください)?|せ|よ|て(?:ください)?|ろ)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:이전|앞의|앞선|위의|지금까지의|기존|모든)[^.!?\n]{0,14}?(?:지시|지침|명령|규칙|프롬프트|지시사항)[^.!?\n]{0,5}?(?:무시하(?!지)"
        r"|무시해|잊어|잊으|따르지 마|버려)",
        form="own",
    ),
    rule(
        "asks for what the model must not tell",
        r"(?:시스템 ?프롬프트|시스템 ?지침|숨겨진 ?지시)[^.!?\n]{0,8}?(?:출력해|보여|알려|공개해|말해)",
        form="own",
    ),
    rule(
        "sets instructions aside",
        r"(?:เพิกเฉยต่อ|ละเลย|ลืม|ไม่ต้องสนใจ|เพิกเฉย)[^\n]{0,12}?(?:คำสั่ง|คำแนะนำ|"
        r"กฎ)[^\n]{0,12}?(?:ก่อนหน้า|ทั้งหมด|ด้านบน|ข้างต้น)",
        form="own",
    ),
)
