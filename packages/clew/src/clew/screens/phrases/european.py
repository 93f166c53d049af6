"""What attacks say in German, French, Spanish, Italian and Portuguese."""

from typing import Final

from clew.screens.rules import AttackPattern, LanguagePatterns

GERMAN: Final = LanguagePatterns(
    drop="""ignorier(?:e|t|en)?(?: sie)?, vergiss, vergessen sie, missachte, missachten sie, umgehe, verwirf, ubergehe,
    setze? dich uber, setzen sie sich uber, lass, brich, verletze, streiche, losche, schalte, deaktiviere, befolge
    (?:nicht|keine), beachte (?:nicht|keine), (?:folge|gehorche) (?:nicht|keinen), halte? dich nicht (?:mehr )?an, hore? auf, kummere? dich nicht um, pfeif auf,
    schere? dich nicht um""",
    orders="""anweisung(?:en)?, regeln?, richtlinien?, vorgaben?, instruktionen, befehle?, prompts?, beschrankungen,
    einschrankungen, filter, leitlinien""",
    earlier="""bisherigen?, vorherigen?, fruheren?, obigen?, vorigen?, ursprunglichen?, deine[rnms]?, ihre[rn]?,
    anfanglichen?, alten?, bisher, vorher, nicht mehr, oben, hinweg, brechen""",
    void="""ungultig, aufgehoben, hinfallig, nichtig, gelten nicht, gilt nicht, widerrufen, ausser kraft, abgeschaltet,
    nicht mehr gultig""",
    told="""alles ~1 was (?:dir|ihnen|man dir|du|bisher|oben|vorher) ~3 (?:gesagt|beigebracht|gelernt|befohlen|steht|stand|
    aufgetragen|weisst), alles ~1 was (?:vorher|bisher|oben) (?:stand|galt|kam)""",
    obey="""gehorche ~1 (?:nur noch|nur|allein) mir, (?:folge|halte dich) ~2 nur ~2 (?:mir|diese[rmn]? (?:text|nachricht))""",
    say="""zeige?, nenne?, verrate?, gib, gebe, wiederhole, drucke?, schreibe?, ubersetze, zitiere, teile?, offenbare, kopiere,
    schicke?, sende, sag, sage, liste?, fuge, lies""",
    what="wie lautet, was ist, was steht in, welche, welcher, was fur",
    your="dein, deine, deinen, deiner, deinem, ihr, ihre, ihren",
    text="""(?:deine[rmn]?|dein|ihre[rmn]?|ihr) ~2 (?:system ?prompts?|prompts?|systemnachricht|(?:versteckten?|geheimen?|
    anfanglichen?|internen?|ursprunglichen?) ~1 (?:anweisungen|regeln|instruktionen|vorgaben|befehle)), den system
    ?prompt im wortlaut""",
    received="""(?:hast du|haben sie|wurden dir|die du|die dir|die man dir) ~6 (?:bekommen|erhalten|gegeben|hast|gelten)""",
    above="""(?:alles|den text|den gesamten text|alle worter) ~4 (?:uber|oberhalb|vor) diese[rms]?""",
    be="""tu so, stell dir vor, spiele?, verhalte dich, du bist, bist du, antworte, benimm dich, als, sei, werde, simuliere""",
    you="du bist, bist du, du hast, du kennst, sie sind, ab jetzt, von nun an, antworte",
    being="""ki, assistent(?:en)?, modell, bot, chatbot, roboter, kunstliche intelligenz, sprachmodell""",
    without="""ohne, keine, keinerlei, frei von, nie, niemals, befreit von, nicht an""",
    bounds="""regeln, einschrankungen, grenzen, filter, richtlinien, ablehnt, moral, zensur, beschrankungen, tabus, schranken,
    hemmungen""",
    free="uneingeschrankte[rsmn]?, unzensierte[rsmn]?, unbeschrankte[rsmn]?, entfesselt",
    mode="(?:entwickler|gott|jailbreak|admin|debug) ?modus",
    keys="""(?:geheimen )?(?:api ?schlussel|passworter|passwort|zugangsdaten|tokens?|geheimnisse|umgebungsvariablen|schlussel)""",
    have="""(?:du|dir) ~3 (?:verwendest|benutzt|kennst|bekannt|hast|nutzt|gespeichert)""",
)

FRENCH: Final = LanguagePatterns(
    drop="""ignore[zr]?, oublie[zr]?, neglige[zr]?, contourne[zr]?, abandonne[zr]?, laisse[zr]? tomber, laisse[zr]? de cote,
    ecarte[zr]?, annule[zr]?, enfrein[ts], viole[zr]?, desactive[zr]?, supprime[zr]?, efface[zr]?, desobei[st]?(?:sez)? a,
    (?:ne )?(?:tiens|tenez|tenir) (?:plus |pas )?(?:aucun )?compte de, (?:ne )?(?:suis|suivez|respecte[zr]?|applique[zr]?|
    obeis a) (?:plus|pas), cesse[zr]? de (?:suivre|respecter), arrete[zr]? de (?:suivre|respecter), passe[zr]? outre""",
    orders="instructions?, regles?, consignes?, directives?, prompts?, restrictions, contraintes, normes, filtres, ordres",
    earlier="""precedente?s?, anterieure?s?, ci dessus, initiales?, d origine, systeme, tes, vos, de vos developpeurs, que tu
    as, que vous avez, donnees, recues, d avant, plus haut, anciennes?""",
    void="""(?:ne )?s appliquent plus, (?:ne )?(?:sont|est) (?:plus valables?|nulles?|annulees?|caduques?|remplacees?|
    desactivees?|levees?), ne comptent plus, ne valent plus""",
    told="tout ce (?:qu|que) ~3 (?:dit|appris|demande|ordonne|recu|enseigne|savais)",
    obey="obei[st]?(?:sez)? (?:seulement|uniquement|qu) ~1 a moi, n obeis qu a moi, fais (?:exactement|seulement) ce que je",
    say="""affiche[zr]?, montre[zr]?, revele[zr]?, donne[zr]?, repete[zr]?, ecri[st], ecrivez, recopie[zr]?, copie[zr]?,
    cite[zr]?, traduis, resume[zr]?, dis, imprime[zr]?, partage[zr]?, envoie, envoyez, liste[zr]?, colle[zr]?, transmets""",
    what="quel(?:le)?s? (?:est|sont), quel(?:le)?s?, que dit, que disent",
    your="ton, ta, tes, votre, vos",
    text="""(?:ton|tes|votre|vos|le|les|du) ~1 (?:(?:prompt|message) (?:systeme|initial|cache)|(?:instructions?|consignes?|
    regles|directives) ~1 (?:systeme|cachees?|secretes?|initiales?|internes?|exactes?|d origine)), (?:ton|votre) prompt""",
    received="(?:tu as|vous avez|qu on t a|qui t ont ete|t ont) ~2 (?:recues?|donnees?|recus?)",
    above="(?:tout|le texte|le message) ~4 (?:precede|au dessus|avant) ~1 (?:cette|ce|notre)",
    be="""comme si, fais semblant, imagine, joue[zr]? le role, tu es, vous etes, agis comme, comporte toi, reponds, en tant
    que, simule, comme, deviens""",
    you="tu es, vous etes, tu n as, vous n avez, desormais, a partir de maintenant, reponds",
    being="ia, assistante?, modele, robot, intelligence artificielle, chatbot, personnage",
    without="sans, aucune?, jamais, n as? (?:pas|plus)(?: de)?, libre de, n ayant, liberee? de, plus aucune?, ni",
    bounds="regles?, restrictions?, limites?, filtres?, refuse, ethique, contraintes?, morale, censure, interdits?",
    free="debridee?, non censuree?, sans limites, illimitee?, libere",
    mode="mode (?:developpeur|debridage|jailbreak|dieu|debug|admin)",
    keys="""cles? (?:d )?api, cles? secretes?, mots? de passe, identifiants(?: secrets)?, jetons?(?: d acces)?, variables d
    environnement, secrets, tokens?""",
    have="(?:que )?(?:tu|vous) ~2 (?:utilises?|utilisez|connais|connaissez|as|avez|stockes?|detiens)",
)

SPANISH: Final = LanguagePatterns(
    drop="""ignora[rd]?, ignore, olvida(?:te)?(?: de)?, olvide, omite, omita, descarta, descarte, desobedece, salta(?:te)?,
    haz caso omiso de, haga caso omiso de, deja de (?:lado|seguir), dejad? a un lado, rompe, viola, anula, elimina, borra,
    desactiva, desestima, pasa por alto, abandona, no (?:sigas|siga|obedezcas|respetes|apliques|hagas caso (?:a|de))""",
    orders="instrucciones, reglas, directrices, normas, ordenes, prompts?, restricciones, indicaciones, filtros, politicas",
    earlier="""anteriores, previas, iniciales, de arriba, originales, que te, que recibiste, que tenias, del sistema, tus, de
    tus, dadas, de antes, viejas, que tienes""",
    void="""(?:quedan|estan|son|ya no|no) ~1 (?:anuladas|canceladas|nulas|invalidas|valen|se aplican|sin efecto|suspendidas|
    cuentan|sirven)""",
    told="todo lo que ~3 (?:dijeron|dicho|ensenaron|aprendiste|ordenaron|explicaron|sabias)",
    obey="obedece(?:me)? (?:solo|unicamente) a mi, haz (?:solo|exactamente) lo que (?:yo )?(?:te )?digo",
    say="""muestra(?:me)?, muestre(?:me)?, revela(?:me)?, revele, dime, da(?:me)?, repite, escribe, copia, imprime, traduce,
    resume, comparte, envia(?:me)?, lista, manda(?:me)?, pega, pasame, entregame, ensename, ensena, publica""",
    what="cual(?:es)? (?:es|son|fueron), que, cual",
    your="tu, tus, su, sus",
    text="""(?:tu|tus|su|el|las) ~1 (?:(?:prompt|mensaje) (?:de sistema|del sistema|sistema|inicial)|(?:instrucciones|reglas|
    directrices) ~1 (?:de sistema|ocultas|secretas|iniciales|internas|originales)), tu prompt""",
    received="(?:que )?(?:recibiste|te dieron|has recibido|te han dado|tienes del sistema)",
    above="(?:todo|texto|todo lo) ~5 (?:encima|arriba|antes) ~1 de ~1 (?:est[ea]|nuestra)",
    be="finge, simula, imagina, actua, comportate, haz de, eres, responde, como, contesta, conviertete, se",
    you="eres, ahora eres, seras, ya no tienes, no tienes, a partir de ahora, desde ahora",
    being="ia, asistente, modelo, robot, inteligencia artificial, bot, chatbot, personaje",
    without="sin, nunca, libre de, que no tiene, ningun(?:a)?, ya no tienes, no tienes, jamas",
    bounds="reglas, restricciones, limites, filtros, etica, niega, censura, moral, normas, rechaza, ataduras",
    free="sin censura, ilimitad[oa], sin limites, desbloquead[oa], liberad[oa]",
    mode="modo (?:de )?(?:desarrollador|dios|jailbreak|depuracion|administrador)",
    keys="""claves? (?:de )?(?:la )?api, claves? secretas?, contrasenas?, credenciales, tokens?(?: de acceso)?, variables de
    entorno, secretos""",
    have="(?:que )?(?:estas usando|usas|utilizas|conoces|tienes|guardas)",
)

ITALIAN: Final = LanguagePatterns(
    drop="""ignora(?:re|te)?, dimentica(?:re|te)?, trascura(?:re|te)?, tralascia, scarta, aggira, lascia perdere, lascia
    stare, metti da parte, viola, infrangi, annulla, elimina, cancella, disattiva, abbandona, disobbedisci, non
    (?:seguire|rispettare|obbedire a|applicare|badare a)(?: piu)?, smetti di (?:seguire|rispettare), tieni da parte""",
    orders="istruzioni, regole, linee guida, direttive, ordini, prompt, restrizioni, vincoli, norme, indicazioni, filtri",
    earlier="""precedenti, di prima, sopra, iniziali, originali, che ti, di sistema, ricevute, date, tue, vostre, tuoi, le
    tue, vecchie, anteriori, che avevi""",
    void="""(?:sono|non|ora) ~1 (?:annullate|nulle|cancellate|valgono|valide|revocate|sospese|decadute|contano)""",
    told="tutto (?:cio|quello|quanto) (?:che )?~3 (?:detto|insegnato|imparato|ordinato|spiegato|sapevi)",
    obey="""obbedisci (?:solo|soltanto|solamente) a me, fai (?:solo|esattamente) (?:come|quello che) (?:ti )?dico""",
    say="""mostra(?:mi)?, rivela(?:mi)?, dimmi, dammi, ripeti, scrivi, copia, stampa, traduci, riassumi, riporta(?:le)?,
    elenca, manda(?:mi)?, invia(?:mi)?, incolla, condividi, passami, cita, pubblica""",
    what="qual e, quali sono, quali, quale, che",
    your="tuo, tua, tuoi, tue, vostro, vostre",
    text="""(?:tuo|tue|il|le|i) ~1 (?:(?:prompt|messaggio) (?:di sistema|sistema|iniziale)|(?:istruzioni|regole|direttive) ~1
    (?:di sistema|nascoste|segrete|iniziali|interne|originali)), tuo prompt""",
    received="(?:hai ricevuto|che hai ricevuto|ti hanno dato|ti sono state date|ti e stato dato|che segui)",
    above="(?:tutto|testo|quello che) ~5 (?:sopra|prima di|prima della) ~1 (?:quest[ao]|nostra)",
    be="""finta di essere, fingi, immagina, simula, comportati, agisci, sei, rispondi, come, interpreta, diventa""",
    you="sei, ora sei, adesso sei, sarai, non hai, d ora in poi, da ora in poi, da adesso",
    being="ia, ai, assistente, modello, robot, intelligenza artificiale, bot, chatbot, personaggio",
    without="senza, mai, liber[oa] da, priv[oa] di, che non ha, che non rifiuta, nessun[oa]?, non hai piu, alcun[oa]?",
    bounds="regole, regola, restrizioni?e?, limiti, filtri, etica, censura, mai, vincoli, vincolo, morale, rifiuta",
    free="senza limiti, illimitat[oa], sbloccat[oa], non censurat[oa]",
    mode="modalita (?:sviluppatore|dio|jailbreak|debug|amministratore)",
    keys="""chiav[ei] (?:dell )?api, chiav[ei] segret[ae], password, credenziali, token(?: di accesso)?, variabili d ambiente,
    segreti""",
    have="(?:che )?(?:stai usando|usi|conosci|hai accesso|cui hai|utilizzi|hai)",
)

PORTUGUESE: Final = LanguagePatterns(
    drop="""ignor[ae]r?, esquec[ae]r?, desconsider[ae]r?, desobede[c][ae], descart[ae], deix[ea] de (?:lado|seguir), pare de
    seguir, quebre, viole, anule, elimine, apague, desativ[ae], abandon[ae], pass[ea] por cima de, nao
    (?:sig[ao]|obede[c]a|respeite|aplique|ligue para)(?: mais)?, larg[ae], desprez[ae]""",
    orders="instrucoes, regras, diretrizes, orientacoes, ordens, prompts?, restricoes, normas, limitacoes, filtros",
    earlier="""anteriores, previas, acima, iniciais, originais, que voce, que recebeu, do sistema, seus, suas, dos seus, de
    seus, tuas, dadas, de antes, antigas""",
    void="""(?:estao|sao|foram|nao|ja nao) ~1 (?:canceladas|anuladas|nulas|invalidas|valem|revogadas|suspensas|se aplicam|
    contam)""",
    told="tudo (?:o )?que ~3 (?:disseram|dito|ensinaram|aprendeu|mandaram|explicaram|sabia)",
    obey="""obedec[ae] (?:so|somente|apenas) a mim, faca (?:so|apenas|exatamente) o que eu (?:mando|digo)""",
    say="""mostr[ea], revel[ae], diga, de(?:me)?, repita, repete, escrev[ae], copi[ea], imprim[ae], traduz[a]?, resum[ae],
    compartilh[ea], mand[ea], envi[ea], list[ea], col[ea], pass[ea], forneca, publique""",
    what="qual (?:e|era), quais (?:sao|eram), quais, qual, que",
    your="seu, sua, suas, seus, teu, tua, tuas",
    text="""(?:seu|sua|suas|seus|teu|tuas|o|as) ~1 (?:(?:prompt|mensagem) (?:de sistema|do sistema|sistema|inicial)|
    (?:instrucoes|regras|diretrizes) ~1 (?:de sistema|ocultas|secretas|iniciais|internas|originais)), seu prompt""",
    received="(?:que )?voce (?:recebeu|ganhou|tem do sistema), que lhe deram, que te deram",
    above="(?:tudo|texto) ~4 (?:acima|antes) ~1 (?:dest[ae]|da nossa)",
    be="finja, simule, imagine, aja, comporte se, voce e, responda, como, interprete, seja, vire, atue",
    you="voce e, agora voce e, voce agora e, voce nao tem, a partir de agora, de agora em diante, voce sera",
    being="ia, assistente, modelo, robo, inteligencia artificial, bot, chatbot, personagem",
    without="sem, nunca, livre de, que nao tem, nenhum[a]?, nao tem mais, nao tem, jamais",
    bounds="regras, restricao, restricoes, limites, filtros, etica, censura, recusa, moral, normas, amarras",
    free="sem limites, ilimitad[oa], desbloquead[oa], liberad[oa], sem censura",
    mode="modo (?:de )?(?:desenvolvedor|deus|jailbreak|depuracao|administrador)",
    keys="""chaves? (?:de |da )?api, chaves? secretas?, senhas?, credenciais, tokens?(?: de acesso)?, variaveis de ambiente,
    segredos""",
    have="(?:que )?voce ~1 (?:esta usando|usa|conhece|tem|guarda|utiliza|esta)",
)

_GERMAN_ORDER: Final = (  # the verb's other half stands at the end
    "(?:beachte|befolge|beachten sie|befolgen sie|halte? dich(?: an)?) ~4 (?:regeln|anweisungen|richtlinien|vorgaben)"
    " (?:nicht mehr|nicht|nicht langer)",
    "(?:darfst|kannst|sollst|musst) ~1 (?:deine|alle|die) ~2 (?:regeln|anweisungen|richtlinien|vorgaben) ~2"
    " (?:brechen|missachten|ignorieren|vergessen|verletzen)",
)  # fmt: skip

TONGUES: Final = (GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE)

RULES: Final = (
    *(rule for tongue in TONGUES for rule in tongue.rules()),
    *(AttackPattern("override", pattern) for pattern in _GERMAN_ORDER),
)
