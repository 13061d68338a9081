"""What kind of answer a question wants, by rules on folded text."""

from pipelines.contracts import QuestionType
from pipelines.rule_text import fold, rule

_SURVEY = rule(
    r"(?<!in der )(?<!in einer )(?<!laut )(?<!eine )(?<!unserer )\b(?:überblick|übersicht|gesamtüberblick|"
    r"zusammenfassung|checkliste|auflistung|aufstellung|rundumschlag)\b|"
    r"\bals liste\b|\bliste (?:mit|aller|der|von)\b|"
    r"\balle [\wß]+(?:en|er|e)?\b.{0,60}\b(?:liste|beacht\w*|auflist\w*|wissen|aufzähl\w*)|"
    r"\balle [\w]*(?:grenzen|besonderheiten|möglichkeiten|arten|ausnahmen|fristen|sätze|werte|begünstigungen|fälle)\b|"
    r"\b(?:was|wos) (?:\w+ ){0,3}(?:alles|ois)\b|\bwelche[rsnm]? (?:\w+ ){0,3}alles\b|\balles (?:was|was ich|zu beachten)\b|"
    r"\bkomplett(?:er|e)? (?:überblick|liste)|\bkomplett überblick|\bvon anfang an\b|\bauflisten\b|\baufzählen\b|"
    r"\bwelche (?:\w+en )?\w+(?:en|er|gen) (?:gibt es|gibts|gelten alle|kann|können|stehen|bietet)\b(?!.*\bwie hoch\b)|"
    r"\bwas gibt ?e?s (?:denn |so )?(?:alles|an)\b|\bwas muss (?:ich|man|ma|wir) (?:alles|bei)\b|\bkurz mit (?:beträgen|fristen)"
)
_DECISION = rule(
    r"\b(?:günstiger|billiger|gescheiter|gscheiter|besser|teurer|vorteilhafter|sinnvoller|schlauer|klüger|attraktiver|rentabler)\b|"
    r"\b(?:lohnt|rentiert) (?:es |sich|si)|\bzahlt (?:es )?sich aus\b|\brentiert sich\b|\boder (?:doch |gleich )?lieber\b|"
    r"\boder besser\b|\bwo (?:kriegt|bekommt|bleibt) \w+ mehr\b|\bmehr netto\b|\bspart (?:der|die|man|sich|uns)\b|"
    r"\b(?:sollen?|soll) (?:ich|wir|ma|man|der betrieb|die firma)\b.*\b(?:oder|od)\b|"
    r"\b(?:oder|od) .{3,60}\b(?:nehmen|wählen|machen)\s?\??$|"
    r"\bfür (?:an|einen|ein|n) unterschied\b|\bwas (?:ist|is|wär|wäre) (?:da |denn )?(?:g\w*er|besser)\b|\bbrutto- oder netto\w*"
)
_COMPARISON = rule(
    r"\bunterschied\w*\b|\bvergleich\w*\b|\bim gegensatz\b|\bgegenüber(?:stellung)?\b|\bversus\b|\bvs\.?\b|"
    r"\b(?:voriges|letztes|vergangenes) jahr (?:gleich|auch|höher|niedriger|anders)|\bgleich (?:viel|hoch)\b|"
    r"\bwie viel war es (?:vorher|davor)\b|\b(?:vorher|früher) und (?:jetzt|nachher|heute)\b|"
    r"\b(?:bei|beim|für|in) [\w .-]{3,30} und (?:was |wieviel |wie viel )?(?:bei|beim|für|in) (?:der|dem|die|den)\b"
)
_VALUE = rule(
    r"\bwie ?(?:viel|vü)\w*\b|\bwievü\w*\b|\bwie (?:hoch|lange|lang|oft|weit|groß|niedrig)\b|\bwielang\w*\b|"
    r"\b(?:ab|bis|seit) wann\b|\b(?:ab|bis zu|in|mit|von) welche[rmn]\b|\bwann\b|"
    r"\b(?:welche[rsnm]?|wölche[rs]?|mit welche[mr]|was für) (?:\w+ ){0,3}"
    r"\w*(?:satz|sätze|sätzen|betrag|beträge|prozent\w*|grenze|"
    r"grenzwert|frist|fristen|wert|rate|höhe|anteil|pauschale|preis|teil|nummer|code|lohn|gehalt|tarif|"
    r"zins\w*|strafe)\b|"
    r"\bwas (?:kriegt|bekommt|verdient|kost|kostet|zahl\w*|steht \w+ zu|mach\w* das aus|tipp|setz)\b|\bhöchst ?strafe\b|"
    r"\b\d+(?:,\d+)? (?:oder|od) \d+(?:,\d+)? ?(?:%|prozent)|\b(?:höhe|ausmaß|dauer) (?:der|des|von)\b|\bwieviele?[nrs]?\b"
)


def question_type(question: str, parts: int) -> QuestionType:
    """The type of the question that was split into `parts` sub-queries; a survey wins over a decision, a decision over the rest.

    A question for one figure is a `value`; two questions in one are `multi`, also when both ask for figures.
    """
    folded = fold(question)
    if _SURVEY.search(folded):
        return "survey"
    if _DECISION.search(folded):
        return "decision"
    if _COMPARISON.search(folded):
        return "comparison"
    if parts > 1:
        return "multi"
    return "value" if _VALUE.search(folded) else "fact"
