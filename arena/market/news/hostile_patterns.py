"""The signs that `hostile.suspicion` looks for, with their weights. Wording is matched in small letters.

A weight of 0.5 and more flags a text alone: such wording has no place in a report. Lighter signs also
stand in honest texts (advice to investors, news about attacks on models) and need company.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena.core.text import INVISIBLE


@dataclass(frozen=True, slots=True)
class Pattern:
    """`regex` is tried only where one of `keys` stands in the text: most texts hold none."""

    flag: str
    weight: float
    keys: frozenset[str]
    regex: re.Pattern[str]


def _sign(flag: str, weight: float, keys: str, regex: str) -> Pattern:
    return Pattern(flag, weight, frozenset(keys.split()), re.compile(regex, re.VERBOSE))


_DROP = r"\b(?:ignore|disregard|forget|override|bypass|discard|dismiss|abandon|neglect)\b"
_SIDE = (
    r"[\"'`“”‘’*\s]{0,3}(?:buy|sell|hold|long|short|flat|bullish|bearish|strong[_ ](?:buy|sell))\b"
)
_MODEL = r"(?:ai|llms?|(?:large\ )?language\ models?|chatbots?|gpt|claude|gemini|ai\ agents?|bots?)"
_MACHINE = rf"(?:{_MODEL}|(?:trading|automated)\ (?:agents?|bots?|assistants?|systems?)|assistants?|summari[sz]ers?)"

PATTERNS: tuple[Pattern, ...] = (
    _sign("override", 0.8, "instruction prompt directive", rf"""
        {_DROP}\W(?:[^.?!]{{0,30}}\W)?(?:previous|prior|above|earlier|preceding|foregoing|all|any|every
        |other|system|your|those|these)\W+(?:(?:of|the|your|these|those|system|safety|trading|user|given|prior
        |previous|other)\W+){{0,3}}(?:instructions?|prompts?|directives?)\b"""),
    _sign("override", 0.6, "instruction rules prompt", r"""
        \b(?:do\ not|don['’]t|stop|cease|never)\ (?:follow|obey)(?:ing)?\W(?:[^.?!]{0,20}\W)?(?:your|previous|prior
        |earlier|system|original)\W(?:[^.?!]{0,20}\W)?(?:instructions?|rules|prompts?)\b"""),
    _sign("override", 0.5, "document article context above", rf"""
        {_DROP}\W+(?:everything|anything|all|the\ rest|all\ other|(?:the\ )?other|the)\W+(?:of\ )?(?:the\ |these\ )?
        (?:(?:\w+\ )?(?:documents|articles|context)\b|above\b)"""),
    _sign("override", 0.6, "your", rf"""
        {_DROP}\W(?:[^.?!]{{0,20}}\W)?your\W(?:[^.?!]{{0,20}}\W)?(?:rules|guidelines|training|programming
        |constraints|safeguards|system\ (?:message|prompt)|risk\ (?:limits|rules)|analysis|task)\b"""),
    _sign("override", 0.6, "ignor 忽略 无视 игнорируй инструкци отмени", r"""
        ignor(?:a|e|ez|iere|ieren\ sie|ar)\b[^.?!]{0,30}\b(?:instrucciones|instructions\ pr[ée]c[ée]dentes
        |anweisungen|instru[çc][õo]es|istruzioni)|(?:忽略|无视)[^。！？]{0,15}(?:指令|指示|提示|说明)
        |(?:игнорируй|отмени)\w*\s[^.?!]{0,30}(?:инструкци|указани)"""),
    _sign("override", 0.6, "your", r"""
        \byour\ (?:new|real|actual|true|only|updated)\ (?:instructions?|directives?|objective|rule|task|goal)
        (?:\ (?:is|are)\b|\s?[:=])"""),
    _sign("override", 0.4, "instruction", r"""
        \b(?:new|updated|revised|secret)\ (?:system\ )?instructions?(?:\ for\ (?:you|the\ model))?\s?[:=]"""),
    _sign("role-marker", 0.8, "<| [inst [/inst <<sys <system <assistant <instruction <user> </", r"""
        <\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|instructions?|user)>
        |</(?:news|articles?|stories|context|documents?)>"""),
    _sign("persona", 0.6, "you", rf"""
        \byou(?:\ are|['’]re)\ (?:now\ )?(?:a|an|the)\ (?:[a-z-]+\ ){{0,3}}{_MACHINE}\b(?!['’-])
        |\byou\ are\ now\ (?:in\ )?(?:dan|jailbroken|unrestricted|(?:developer|debug|admin|god)\ mode)\b
        |\bif\ you(?:\ are|['’]re)\ (?:a|an)\ (?:[a-z-]+\ ){{0,2}}{_MACHINE}\b"""),
    _sign("persona", 0.5, "you", r"""
        \byou\ are\ (?:now\ )?(?:chatgpt|gpt-?\d|claude|gemini|grok)\b|
        \byou\ (?:will|must|shall)\ (?:from\ now\ on\ |now\ )?(?:act|behave|respond|answer)\ as\b"""),
    _sign("addressed-to-models", 0.55, "attention note message dear hey instruction memo hello", rf"""
        \b(?:attention|note\ (?:to|for)|message\ (?:to|for)|memo\ (?:to|for)|dear|hey|hello
        |instructions?\ (?:to|for))[\s,:]{{1,2}}(?:all\ |any\ |the\ )?(?:[a-z]+\ )?{_MACHINE}
        (?:\ [a-z]+)?(?:\ reading\ this|\s?[:,!—])"""),
    _sign("addressed-to-models", 0.55, "reading summari processing parsing", rf"""
        \b{_MACHINE}\ (?:that\ (?:is|are)\ |which\ (?:is|are)\ )?
        (?:reading|parsing|processing|summari[sz]ing)\ this\b"""),
    _sign("addressed-to-models", 0.5, "must shall", r"""
        \b(?:summari[sz]ers\ (?:must|shall)\ (?:report|state|say)|(?:summari[sz]ers|language\ models|llms
        |chatbots|ai\ (?:agents|models|readers))\ (?:must|shall)\ (?:treat|rate|classify|describe|portray|answer
        |output|recommend))\b"""),
    _sign("prompt-talk", 0.3, "prompt", r"\b(?:system\ prompt|hidden\ prompt|developer\ message)\b"),
    _sign("prompt-talk", 0.6, "your", r"""
        \b(?:reveal|print|repeat|output|show|leak|display|send|expose|quote)\b[^.?!]{0,25}\byour\ (?:full\ |own
        \ |initial\ |entire\ |hidden\ |original\ )?(?:system\ )?(?:prompt|instructions|context\ window)\b"""),
    _sign("secrets", 0.5, "key password credential secret phrase", r"""
        \b(?:send|reveal|print|post|output|exfiltrate|include|append)\b[^.?!]{0,30}\b(?:your|the)\ (?:[a-z]+\ )?
        (?:api[\ -]?keys?|passwords?|private\ keys?|credentials|environment\ variables)\b"""),
    _sign("order-to-trade", 0.5, "you", r"""
        \byou\ (?:are|have\ been)\ (?:hereby\ )?(?:required|instructed|ordered|commanded|directed|authori[sz]ed)
        \ to\ (?:[a-z]+\ )?(?:buy|sell|short|hold|liquidate|close|open|trade|invest|answer|recommend)\b"""),
    _sign("order-to-trade", 0.4, "must shall", r"""
        \byou\ (?:must|shall)\ (?:now\ |immediately\ |always\ |only\ |not\ )?(?:buy|sell|short|go\ (?:long|short)
        |hold|liquidate|close|trade|choose|pick|rate|answer|respond|reply|recommend|output|treat)\b"""),
    _sign("order-to-trade", 0.35, "all entire every everything 100 full max", r"""
        (?:^|[.!:;\n]\s?)(?:buy|sell|short|liquidate|dump|close|exit|put)\ (?:now\ )?(?:all|every|everything|100\ ?%
        |your\ (?:entire|full|whole)|the\ (?:entire|full|maximum)|max(?:imum)?)\b(?!\?)"""),
    _sign("order-to-trade", 0.6, "set", r"""
        \bset\ (?:your\ |the\ )?(?:position|exposure|conviction|confidence|rating|sentiment|action|signal|score)
        \ (?:to|=|at)\s(?:[\"'`“]?(?:buy|sell|long|short|max|full|1\b|1\.0|100|bullish|bearish|\+1|-1))"""),
    _sign("answer-laid-ready", 0.6, "answer decision action recommendation output response verdict", rf"""
        \b(?:your|the\ (?:correct|only|right|final))\ (?:[a-z]+\ )?(?:answer|decision|action|recommendation|output
        |response|verdict)\ (?:must\ be|should\ be|shall\ be|has\ to\ be|will\ be|is)\s?:?{_SIDE}"""),
    _sign("answer-laid-ready", 0.6, "respond reply answer output", rf"""
        \b(?:respond|reply|answer|output)(?:\ (?:only|exactly|strictly|just|always))?\ (?:with|in|the\ word)?
        \s?(?:the\ (?:single\ )?word\ )?{_SIDE}
        |\b(?:respond|reply|answer)\ (?:only|exactly|strictly|just|always)\ (?:with|in|by|using|the)\b
        |\b(?:respond|reply|answer|output|return)\ (?:only\ |exactly\ |just\ )?(?:with\ |in\ |as\ )?
        (?:valid\ |a\ |the\ (?:following\ )?|this\ )?(?:json|xml)\b"""),
    _sign("answer-laid-ready", 0.6, "action decision signal recommendation sentiment side order trade", rf"""
        [\"'](?:recommended_)?(?:action|decision|signal|recommendation|sentiment|side|order|trade)[\"']
        \s*[:=]\s*{_SIDE}"""),
    _sign("answer-laid-ready", 0.5, "must", rf"""
        \b(?:sentiment|signal|rating|action|decision|score)\ must\ (?:always\ )?be\s?:?{_SIDE}"""),
    _sign("tool-call", 0.6, "name tool function argument call invoke order trade position", r"""
        [\"'](?:name|tool|tool_calls?|function|function_call|arguments)[\"']\s*:\s*[\"{\[][^}]{0,80}
        [\"'](?:arguments|parameters|args|input|name|type)[\"']\s*:
        |</?(?:tool_call|function_calls?|invoke|tool_use)\b
        |\b(?:place|execute|submit|send|cancel|close)_(?:order|trade|position|transaction)s?\s?\("""),
    _sign("inverted-rules", 0.55, "invert reverse flip switch negate opposite", r"""
        \b(?:invert|reverse|flip|switch|negate)\ (?:[a-z]+\ ){0,2}your\ (?:[a-z]+\ )?(?:logic|decisions?|signals?
        |recommendations?|reasoning|evaluations?|rules?)\b|\b(?:invert|negate)\ your\b
        |\bdo\ the\ opposite\ of\ (?:what\ )?your\b"""),
    _sign("inverted-rules", 0.4, "future from", r"""
        \b(?:for|in|to)\ all\ (?:future|subsequent|following)\ (?:trades|decisions|answers|responses|reasoning)\b
        |\bfrom\ now\ on,?\ (?:you|always|only|treat|respond|answer|never)\b"""),
    _sign("inverted-rules", 0.35, "regardless whatever", r"""
        \b(?:regardless\ of|no\ matter|whatever)\ (?:[a-z]+\ )?(?:your|prior|previous|other)\ (?:[a-z]+\ )?
        (?:strategy|instructions?|analysis|data|figures|signals?|evidence|beliefs?)\b"""),
    _sign("pretext", 0.35, "test drill exercise simulation override", r"""
        \b(?:this\ is\ (?:a|an)|as\ part\ of\ (?:a|an))\ (?:controlled|authori[sz]ed|official|sanctioned)
        \ (?:[a-z]+\ )?(?:test|drill|exercise|simulation|evaluation|audit)\b
        |\b(?:admin(?:istrator)?|system|developer|emergency)\ override\b"""),
    _sign("pretext", 0.5, "override", r"\b(?:system|admin(?:istrator)?|developer)\ override\s?[:!]"),
    _sign("concealment", 0.6, "do not don't don’t never without", r"""
        \b(?:do\ not|don['’]t|never|without)\ (?:tell|mention|reveal|disclos|inform|report|show|telling|alert)\w*
        \b[^.?!]{0,30}\b(?:(?:the|your)\ (?:user|operator|human|owner|supervisor|developer)s?|this\ (?:instruction
        |message|note|prompt)|these\ instructions)\b"""),
    _sign("beacon", 0.55, "![", r"""
        !\[[^\]\n]{0,200}\]\(\s?https?://[^)\s]{0,120}(?:\{|<|%7b|[?&](?:data|prompt|key|portfolio|positions?
        |secret|conversation|context|memory|token|q|p)=)"""),
    _sign("urgency", 0.3, "now immediately urgent guaranteed close late", r"""
        \b(?:act|buy|sell)\ (?:now|immediately|at\ once)\b[^.?!]{0,40}(?:!|\bbefore\b|\bguaranteed\b|\btoo\ late\b)
        |\bguaranteed\ (?:[\d.,]+\ ?%\ )?(?:profits?|returns?|gains?)\b
        |\burgent\b[^.?!]{0,30}\b(?:buy|sell)\ (?:all|everything|now|immediately)\b"""),
)  # fmt: skip

KEYS = frozenset().union(*(pattern.keys for pattern in PATTERNS))

ROLE_LINE = re.compile(
    r"^[ \t#>*]{0,8}(?:system|assistant|developer)(?:\s(?:message|prompt))?\s*:",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that begins as a turn of a conversation with a model does."""

ROLE_INLINE = re.compile(r"(?:[.!?\"'”]\s+|\\n)(?:SYSTEM|ASSISTANT|System|Assistant)\s*:\s")
"""The same inside one line, where a feed has lost its line breaks."""

LONG_CODE = re.compile(r"[A-Za-z0-9+/]{80,}")
"""As long as only codes and addresses are; base64 where both cases stand in it."""

SPACED_LETTERS = re.compile(r"(?<!\S)(?:[A-Za-z]\s{1,3}){9,}")

HIDDEN_TAGS = re.compile("[\U000e0001-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
"""Letters as tags, and as rows of variation selectors; a single one is the form of an emoji or a name."""

OVERRIDES = re.compile("[\u202d\u202e]")
ZERO_WIDTH = re.compile(
    "(?<=[A-Za-z])[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2064\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a]+(?=[A-Za-z])"
)
UNSEEN = re.compile(f"[{INVISIBLE}]")

CONFUSABLE = str.maketrans(
    "аеорсухіѕјԁһкмтвнαορνικτυε",
    "aeopcyxisjdhkmtbhaopviktue",
)
"""Cyrillic and Greek small letters that look like Latin ones, and which."""
