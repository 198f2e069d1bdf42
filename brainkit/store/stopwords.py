"""Function words of English and German: left out of the index, and what the language of a text is told by."""

from __future__ import annotations

from typing import Final

_ENGLISH = """
    a about above after again against all am an and any are as at be because been before being below between both but
    by can cannot could did do does doing don down during each few for from further get got had has have having he her
    here hers herself him himself his how i if in into is it its itself just let me more most my myself no nor not of
    off on once only or other our ours ourselves out over own same she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up upon us very was we were what when
    where which while who whom whose why will with would you your yours yourself yourselves
    """
_GERMAN = """
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei beim
    bin bis bist da damit dann das dass daß dein deine deinem deinen deiner dem den denn der des dessen dich die dies
    diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige er es etwas euch
    euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
    ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene jenem jenen jener jetzt kann kein keine keinem keinen
    keiner können könnte machen man manche mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts
    noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche soll sollte
    sondern sonst über um und uns unser unsere unserem unseren unserer unter vom von vor wann war waren warum warst was
    weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieviel will wir wird wirst
    wo wollen wollte woher wohin womit wurde wurden während zu zum zur zwar zwischen
    """
ENGLISH: Final = frozenset(_ENGLISH.split())
GERMAN: Final = frozenset(_GERMAN.split())
