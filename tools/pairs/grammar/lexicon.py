"""Words of the small grammar in five languages, with genders, endings, measure words."""

from tools.pairs.grammar.words import Adjective, Comparative, Noun, Plural, Quality


def _nouns(table: str) -> tuple[Noun, ...]:
    return tuple(Noun(*(cell.strip() for cell in line.split("|"))) for line in table.strip().splitlines())


def _plurals(table: str) -> tuple[Plural, ...]:
    return tuple(Plural(*(cell.strip() for cell in line.split("|"))) for line in table.strip().splitlines())


ANIMALS = _nouns("""
dog|chien|m|Hund|m|perro|m|狗|只
cat|chat|m|Katze|f|gato|m|猫|只
horse|cheval|m|Pferd|n|caballo|m|马|匹
cow|vache|f|Kuh|f|vaca|f|牛|头
mouse|souris|f|Maus|f|ratón|m|老鼠|只
bird|oiseau|m|Vogel|m|pájaro|m|鸟|只
rabbit|lapin|m|Kaninchen|n|conejo|m|兔子|只
pig|cochon|m|Schwein|n|cerdo|m|猪|头
sheep|mouton|m|Schaf|n|oveja|f|羊|只
goat|chèvre|f|Ziege|f|cabra|f|山羊|只
fox|renard|m|Fuchs|m|zorro|m|狐狸|只
wolf|loup|m|Wolf|m|lobo|m|狼|只
frog|grenouille|f|Frosch|m|rana|f|青蛙|只
chicken|poule|f|Huhn|n|gallina|f|鸡|只
animal|animal|m|Tier|n|animal|m|动物|只
snake|serpent|m|Schlange|f|serpiente|f|蛇|条
tiger|tigre|m|Tiger|m|tigre|m|老虎|只
turtle|tortue|f|Schildkröte|f|tortuga|f|乌龟|只
""")

OBSTACLES = _nouns("""
pond|étang|m|Teich|m|estanque|m|池塘|个
fence|clôture|f|Zaun|m|valla|f|篱笆|道
wall|mur|m|Mauer|f|muro|m|墙|堵
stream|ruisseau|m|Bach|m|arroyo|m|溪流|条
stone|pierre|f|Stein|m|piedra|f|石头|块
box|boîte|f|Kiste|f|caja|f|箱子|个
table|table|f|Tisch|m|mesa|f|桌子|张
chair|chaise|f|Stuhl|m|silla|f|椅子|把
ditch|fossé|m|Graben|m|zanja|f|沟|条
""")

SEATS = tuple(noun for noun in OBSTACLES if noun.en in ("wall", "stone", "box", "table", "chair")) + _nouns("""
bed|lit|m|Bett|n|cama|f|床|张
sofa|canapé|m|Sofa|n|sofá|m|沙发|张
carpet|tapis|m|Teppich|m|alfombra|f|地毯|块
""")

WAYS = _nouns("""
street|rue|f|Straße|f|calle|f|马路|条
bridge|pont|m|Brücke|f|puente|m|桥|座
river|rivière|f|Fluss|m|río|m|河|条
field|champ|m|Feld|n|campo|m|田野|片
garden|jardin|m|Garten|m|jardín|m|花园|个
square|place|f|Platz|m|plaza|f|广场|个
""")

FOOD = _nouns("""
apple|pomme|f|Apfel|m|manzana|f|苹果|个
fish|poisson|m|Fisch|m|pescado|m|鱼|条
bread|pain|m|Brot|n|pan|m|面包|块
meat|viande|f|Fleisch|n|carne|f|肉|块
cake|gâteau|m|Kuchen|m|pastel|m|蛋糕|块
carrot|carotte|f|Karotte|f|zanahoria|f|胡萝卜|根
""")

THINGS = _nouns("""
book|livre|m|Buch|n|libro|m|书|本
car|voiture|f|Auto|n|coche|m|汽车|辆
house|maison|f|Haus|n|casa|f|房子|座
road|route|f|Straße|f|carretera|f|路|条
table|table|f|Tisch|m|mesa|f|桌子|张
chair|chaise|f|Stuhl|m|silla|f|椅子|把
bag|sac|m|Tasche|f|bolso|m|包|个
hat|chapeau|m|Hut|m|sombrero|m|帽子|顶
coat|manteau|m|Mantel|m|abrigo|m|大衣|件
room|chambre|f|Zimmer|n|habitación|f|房间|个
boat|bateau|m|Boot|n|barco|m|船|条
bicycle|vélo|m|Fahrrad|n|bicicleta|f|自行车|辆
garden|jardin|m|Garten|m|jardín|m|花园|个
tree|arbre|m|Baum|m|árbol|m|树|棵
""")

TEXTS = _nouns("""
book|livre|m|Buch|n|libro|m|书|本
text|texte|m|Text|m|texto|m|文章|篇
letter|lettre|f|Brief|m|carta|f|信|封
word|mot|m|Wort|n|palabra|f|词|个
sentence|phrase|f|Satz|m|frase|f|句子|个
story|histoire|f|Geschichte|f|historia|f|故事|个
language|langue|f|Sprache|f|lengua|f|语言|种
""")

BUILDINGS = _plurals("""
houses|maisons|f|Häuser|casas|f|房子
trees|arbres|m|Bäume|árboles|m|树
shops|magasins|m|Geschäfte|tiendas|f|商店
churches|églises|f|Kirchen|iglesias|f|教堂
streets|rues|f|Straßen|calles|f|街道
bridges|ponts|m|Brücken|puentes|m|桥
gardens|jardins|m|Gärten|jardines|m|花园
parks|parcs|m|Parks|parques|m|公园
schools|écoles|f|Schulen|escuelas|f|学校
hotels|hôtels|m|Hotels|hoteles|m|旅馆
restaurants|restaurants|m|Restaurants|restaurantes|m|餐馆
flowers|fleurs|f|Blumen|flores|f|花
museums|musées|m|Museen|museos|m|博物馆
buildings|bâtiments|m|Gebäude|edificios|m|建筑
""")

PLACES = _nouns("""
town|ville|f|Stadt|f|ciudad|f|镇里|个
city|ville|f|Stadt|f|ciudad|f|城市里|个
village|village|m|Dorf|n|pueblo|m|村子里|个
country|pays|m|Land|n|país|m|国家|个
region|région|f|Gegend|f|región|f|地区|个
street|rue|f|Straße|f|calle|f|街上|条
""")

SIZES = (
    Adjective("big", ("gros", "gros", "grosse", "gros", "grosses"), True, "groß",
              ("grande", "grande", "grandes", "grandes"), ("gran", "gran"), "大"),
    Adjective("small", ("petit", "petit", "petite", "petits", "petites"), True, "klein",
              ("pequeño", "pequeña", "pequeños", "pequeñas"), ("pequeño", "pequeña"), "小"),
)  # fmt: skip
COLOURS = (
    Adjective("red", ("rouge", "rouge", "rouge", "rouges", "rouges"), False, "rot",
              ("rojo", "roja", "rojos", "rojas"), None, "红色的"),
    Adjective("black", ("noir", "noir", "noire", "noirs", "noires"), False, "schwarz",
              ("negro", "negra", "negros", "negras"), None, "黑色的"),
    Adjective("white", ("blanc", "blanc", "blanche", "blancs", "blanches"), False, "weiß",
              ("blanco", "blanca", "blancos", "blancas"), None, "白色的"),
    Adjective("brown", ("brun", "brun", "brune", "bruns", "brunes"), False, "braun",
              ("marrón", "marrón", "marrones", "marrones"), None, "棕色的"),
    Adjective("grey", ("gris", "gris", "grise", "gris", "grises"), False, "grau",
              ("gris", "gris", "grises", "grises"), None, "灰色的"),
    Adjective("green", ("vert", "vert", "verte", "verts", "vertes"), False, "grün",
              ("verde", "verde", "verdes", "verdes"), None, "绿色的"),
    Adjective("yellow", ("jaune", "jaune", "jaune", "jaunes", "jaunes"), False, "gelb",
              ("amarillo", "amarilla", "amarillos", "amarillas"), None, "黄色的"),
    Adjective("blue", ("bleu", "bleu", "bleue", "bleus", "bleues"), False, "blau",
              ("azul", "azul", "azules", "azules"), None, "蓝色的"),
)  # fmt: skip
OLD = Adjective("old", ("vieux", "vieil", "vieille", "vieux", "vieilles"), True, "alt",
                ("viejo", "vieja", "viejos", "viejas"), ("viejo", "vieja"), "老")  # fmt: skip
NEW = Adjective("new", ("nouveau", "nouvel", "nouvelle", "nouveaux", "nouvelles"), True, "neu",
                ("nuevo", "nueva", "nuevos", "nuevas"), ("nuevo", "nueva"), "新")  # fmt: skip
BEAUTIFUL = Adjective("beautiful", ("beau", "bel", "belle", "beaux", "belles"), True, "schön",
                      ("bonito", "bonita", "bonitos", "bonitas"), None, "漂亮的")  # fmt: skip
BIG_ONES = Adjective("big", ("grand", "grand", "grande", "grands", "grandes"), True, "groß",
                     ("grande", "grande", "grandes", "grandes"), None, "大")  # fmt: skip
MODERN = Adjective("modern", ("moderne", "moderne", "moderne", "modernes", "modernes"), False, "modern",
                   ("moderno", "moderna", "modernos", "modernas"), None, "现代的")  # fmt: skip

STATES = (
    Quality("tired", ("fatigué", "fatiguée"), "müde", ("cansado", "cansada"), "estaba", "累"),
    Quality("weak", ("faible", "faible"), "schwach", ("débil", "débil"), "estaba", "虚弱"),
    Quality("old", ("vieux", "vieille"), "alt", ("viejo", "vieja"), "era", "老"),
    Quality("small", ("petit", "petite"), "klein", ("pequeño", "pequeña"), "era", "小"),
    Quality("slow", ("lent", "lente"), "langsam", ("lento", "lenta"), "era", "慢"),
    Quality("fat", ("gros", "grosse"), "dick", ("gordo", "gorda"), "estaba", "胖"),
    Quality("frightened", ("effrayé", "effrayée"), "verängstigt", ("asustado", "asustada"), "estaba", "害怕"),
    Quality("lazy", ("paresseux", "paresseuse"), "faul", ("perezoso", "perezosa"), "era", "懒"),
)
OF_WAYS = (
    Quality("wide", ("large", "large"), "breit", ("ancho", "ancha"), "era", "宽"),
    Quality("dangerous", ("dangereux", "dangereuse"), "gefährlich", ("peligroso", "peligrosa"), "era", "危险"),
    Quality("long", ("long", "longue"), "lang", ("largo", "larga"), "era", "长"),
    Quality("dirty", ("sale", "sale"), "schmutzig", ("sucio", "sucia"), "estaba", "脏"),
)
OF_FOOD = (
    Quality("cold", ("froid", "froide"), "kalt", ("frío", "fría"), "estaba", "凉"),
    Quality("hot", ("chaud", "chaude"), "heiß", ("caliente", "caliente"), "estaba", "烫"),
    Quality("big", ("gros", "grosse"), "groß", ("grande", "grande"), "era", "大"),
    Quality("hard", ("dur", "dure"), "hart", ("duro", "dura"), "estaba", "硬"),
)

COMPARATIVES = (
    Comparative("bigger", ("plus grand", "plus grande"), "größer", ("más grande", "más grande"), "大"),
    Comparative("smaller", ("plus petit", "plus petite"), "kleiner", ("más pequeño", "más pequeña"), "小"),
    Comparative("older", ("plus vieux", "plus vieille"), "älter", ("más viejo", "más vieja"), "旧"),
    Comparative("more expensive", ("plus cher", "plus chère"), "teurer", ("más caro", "más cara"), "贵"),
    Comparative("more beautiful", ("plus beau", "plus belle"), "schöner", ("más bonito", "más bonita"), "漂亮"),
    Comparative("better", ("meilleur", "meilleure"), "besser", ("mejor", "mejor"), "好"),
)
OF_TEXTS = (
    Comparative("easier", ("plus facile", "plus facile"), "leichter", ("más fácil", "más fácil"), "容易"),
    Comparative(
        "more difficult", ("plus difficile", "plus difficile"), "schwieriger", ("más difícil", "más difícil"), "难"
    ),
)  # fmt: skip
