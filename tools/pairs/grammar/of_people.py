"""Sentences about people: orders, deadlines, gifts, and plans for the weather."""

from collections.abc import Iterator
from itertools import product

from tools.pairs.grammar.phrases import Row, sentence

_TELL = (
    ("teacher", "le professeur", "der Lehrer", "el profesor", "老师"),
    ("mother", "la mère", "die Mutter", "la madre", "妈妈"),
    ("father", "le père", "der Vater", "el padre", "爸爸"),
    ("doctor", "le médecin", "der Arzt", "el médico", "医生"),
    ("coach", "l'entraîneur", "der Trainer", "el entrenador", "教练"),
    ("police officer", "le policier", "der Polizist", "el policía", "警察"),
    ("boss", "le patron", "der Chef", "el jefe", "老板"),
)
_TOLD = (
    ("students", "aux étudiants", "den Studenten", "los estudiantes", "学生们"),
    ("pupils", "aux élèves", "den Schülern", "los alumnos", "学生们"),
    ("children", "aux enfants", "den Kindern", "los niños", "孩子们"),
    ("boys", "aux garçons", "den Jungen", "los chicos", "男孩们"),
    ("girls", "aux filles", "den Mädchen", "las chicas", "女孩们"),
    ("workers", "aux ouvriers", "den Arbeitern", "los trabajadores", "工人们"),
)
_TO_DO = (
    ("close their books", "de fermer leurs livres", "ihre Bücher schließen", "cerraran sus libros", "合上书"),
    ("open their books", "d'ouvrir leurs livres", "ihre Bücher öffnen", "abrieran sus libros", "打开书"),
    ("open their bags", "d'ouvrir leurs sacs", "ihre Taschen öffnen", "abrieran sus bolsos", "打开包"),
    ("close their eyes", "de fermer les yeux", "die Augen schließen", "cerraran los ojos", "闭上眼睛"),
    ("wash their hands", "de se laver les mains", "sich die Hände waschen", "se lavaran las manos", "洗手"),
    ("be quiet", "de se taire", "still sein", "se callaran", "安静"),
    ("sit down", "de s'asseoir", "sich setzen", "se sentaran", "坐下"),
    ("wait", "d'attendre", "warten", "esperaran", "等一下"),
    ("write their names", "d'écrire leurs noms", "ihre Namen schreiben", "escribieran sus nombres", "写自己的名字"),
    ("go home", "de rentrer chez eux", "nach Hause gehen", "se fueran a casa", "回家"),
    ("close the door", "de fermer la porte", "die Tür schließen", "cerraran la puerta", "关门"),
    ("close the windows", "de fermer les fenêtres", "die Fenster schließen", "cerraran las ventanas", "关上窗户"),
    ("read the text", "de lire le texte", "den Text lesen", "leyeran el texto", "读课文"),
)


def orders() -> Iterator[Row]:
    """Make “The teacher told the students to close their books.” and its like."""
    for who, whom, what in product(_TELL, _TOLD, _TO_DO):
        to_do = what[1].replace("chez eux", "chez elles") if whom[0] == "girls" else what[1]
        yield (
            f"The {who[0]} told the {whom[0]} to {what[0]}.",
            f"{sentence(who[1])} a dit {whom[1]} {to_do}.",
            f"{sentence(who[2])} sagte {whom[2]}, sie sollten {what[2]}.",
            f"{sentence(who[3])} les dijo a {whom[3]} que {what[3]}.",
            f"{who[4]}叫{whom[4]}{what[4]}。",
        )


_MUST = (
    ("I have", "je dois", "ich muss", "tengo que", "我"),
    ("We have", "nous devons", "wir müssen", "tenemos que", "我们"),
    ("They have", "ils doivent", "sie müssen", "ellos tienen que", "他们"),
    ("She has", "elle doit", "sie muss", "ella tiene que", "她"),
    ("He has", "il doit", "er muss", "él tiene que", "他"),
)
_TASKS = (
    ("finish this work", "finir ce travail", "diese Arbeit", "beenden", "terminar este trabajo", "完成这项工作"),
    ("finish this exercise", "finir cet exercice", "diese Übung", "beenden", "terminar este ejercicio", "做完这个练习"),
    ("finish this report", "finir ce rapport", "diesen Bericht", "beenden", "terminar este informe", "完成这份报告"),
    ("write this letter", "écrire cette lettre", "diesen Brief", "schreiben", "escribir esta carta", "写这封信"),
    ("read this book", "lire ce livre", "dieses Buch", "lesen", "leer este libro", "读这本书"),
    ("pay this bill", "payer cette facture", "diese Rechnung", "bezahlen", "pagar esta cuenta", "付这笔账"),
    ("repair the car", "réparer la voiture", "das Auto", "reparieren", "reparar el coche", "修好汽车"),
    ("clean the house", "nettoyer la maison", "das Haus", "putzen", "limpiar la casa", "打扫房子"),
    ("sell the house", "vendre la maison", "das Haus", "verkaufen", "vender la casa", "卖掉房子"),
    ("answer this question", "répondre à cette question", "diese Frage", "beantworten", "responder a esta pregunta",
     "回答这个问题"),
)  # fmt: skip
_DAYS = (
    ("Monday", "lundi", "Montag", "del lunes", "星期一"),
    ("Tuesday", "mardi", "Dienstag", "del martes", "星期二"),
    ("Wednesday", "mercredi", "Mittwoch", "del miércoles", "星期三"),
    ("Thursday", "jeudi", "Donnerstag", "del jueves", "星期四"),
    ("Friday", "vendredi", "Freitag", "del viernes", "星期五"),
    ("Saturday", "samedi", "Samstag", "del sábado", "星期六"),
    ("Sunday", "dimanche", "Sonntag", "del domingo", "星期天"),
    ("noon", "midi", "Mittag", "del mediodía", "中午"),
    ("Christmas", "Noël", "Weihnachten", "de Navidad", "圣诞节"),
)


def deadlines() -> Iterator[Row]:
    """Make “We have to finish this work before Monday.” and its like."""
    for who, (en, fr, de, de_verb, es, zh), day in product(_MUST, _TASKS, _DAYS):
        yield (
            f"{who[0]} to {en} before {day[0]}.",
            f"{sentence(who[1])} {fr} avant {day[1]}.",
            f"{sentence(who[2])} {de} vor {day[2]} {de_verb}.",
            f"{sentence(who[3])} {es} antes {day[3]}.",
            f"{who[4]}必须在{day[4]}之前{zh}。",
        )


_GIVE = (
    ("gave", "a donné", "gegeben", "dio", "把{what}给了{whom}"),
    ("showed", "a montré", "gezeigt", "mostró", "给{whom}看了{what}"),
    ("sent", "a envoyé", "geschickt", "envió", "把{what}寄给了{whom}"),
    ("lent", "a prêté", "geliehen", "prestó", "把{what}借给了{whom}"),
)
_GIFTS = (
    ("book", "le livre", "das Buch", "el libro", "书"),
    ("key", "la clé", "den Schlüssel", "la llave", "钥匙"),
    ("letter", "la lettre", "den Brief", "la carta", "信"),
    ("picture", "la photo", "das Bild", "la foto", "照片"),
    ("map", "la carte", "die Karte", "el mapa", "地图"),
    ("money", "l'argent", "das Geld", "el dinero", "钱"),
    ("dictionary", "le dictionnaire", "das Wörterbuch", "el diccionario", "词典"),
)
_NAMES = (("Tom", "Tom", "汤姆"), ("Mary", "Maria", "玛丽"), ("John", "John", "约翰"))
_WHEN = (
    ("yesterday", "hier", "gestern", "ayer", "昨天"),
    ("last week", "la semaine dernière", "letzte Woche", "la semana pasada", "上周"),
    ("this morning", "ce matin", "heute Morgen", "esta mañana", "今天早上"),
)


def gifts() -> Iterator[Row]:
    """Make “Tom gave Mary the book yesterday.” and its like."""
    for how, what, giver, taker, when in product(_GIVE, _GIFTS, _NAMES, _NAMES, _WHEN):
        if giver is taker:
            continue
        yield (
            f"{giver[0]} {how[0]} {taker[0]} the {what[0]} {when[0]}.",
            f"{giver[0]} {how[1]} {what[1]} à {taker[0]} {when[1]}.",
            f"{giver[1]} hat {taker[1]} {when[2]} {what[2]} {how[2]}.",
            f"{giver[0]} le {how[3]} {what[3]} a {taker[0]} {when[3]}.",
            f"{giver[2]}{when[4]}{how[4].format(what=what[4], whom=taker[2])}。",
        )


_WEATHER = (
    ("It is raining", "il pleut", "es regnet", "está lloviendo", "下雨了"),
    ("It is snowing", "il neige", "es schneit", "está nevando", "下雪了"),
    ("It is cold", "il fait froid", "es ist kalt", "hace frío", "天冷了"),
    ("It is late", "il est tard", "es ist spät", "es tarde", "很晚了"),
)
_PLANS = (
    ("stay at home", ("nous resterons à la maison", "je resterai à la maison", "ils resteront à la maison"),
     ("bleiben wir zu Hause", "bleibe ich zu Hause", "bleiben sie zu Hause"),
     ("nos quedaremos en casa", "me quedaré en casa", "se quedarán en casa"), "待在家里"),
    ("take the bus", ("nous prendrons le bus", "je prendrai le bus", "ils prendront le bus"),
     ("nehmen wir den Bus", "nehme ich den Bus", "nehmen sie den Bus"),
     ("tomaremos el autobús", "tomaré el autobús", "tomarán el autobús"), "坐公交车"),
    ("read a book", ("nous lirons un livre", "je lirai un livre", "ils liront un livre"),
     ("lesen wir ein Buch", "lese ich ein Buch", "lesen sie ein Buch"),
     ("leeremos un libro", "leeré un libro", "leerán un libro"), "读一本书"),
    ("close the window", ("nous fermerons la fenêtre", "je fermerai la fenêtre", "ils fermeront la fenêtre"),
     ("schließen wir das Fenster", "schließe ich das Fenster", "schließen sie das Fenster"),
     ("cerraremos la ventana", "cerraré la ventana", "cerrarán la ventana"), "关上窗户"),
    ("go home", ("nous rentrerons à la maison", "je rentrerai à la maison", "ils rentreront à la maison"),
     ("gehen wir nach Hause", "gehe ich nach Hause", "gehen sie nach Hause"),
     ("nos iremos a casa", "me iré a casa", "se irán a casa"), "回家"),
)  # fmt: skip
_WHO = (("we", "我们"), ("I", "我"), ("they", "他们"))


def weathers() -> Iterator[Row]:
    """Make “It is raining, so we will stay at home.” and its like."""
    for weather, (en, fr, de, es, zh), (at, (who, zh_who)) in product(_WEATHER, _PLANS, enumerate(_WHO)):
        yield (
            f"{weather[0]}, so {who} will {en}.",
            f"{sentence(weather[1])}, donc {fr[at]}.",
            f"{sentence(weather[2])}, also {de[at]}.",
            f"{sentence(weather[3])}, así que {es[at]}.",
            f"{weather[4]}，所以{zh_who}会{zh}。",
        )
