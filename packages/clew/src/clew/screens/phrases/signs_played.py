"""In which part, story or office an attack puts the model or its author, in thirteen languages.

One line a language. `*` stands for any ending, `…` for up to three words between; `signs` reads it.
"""

from typing import Final

PLAYED: Final = {
    "ai": """
en: ai, bot, chatbot, assistant*, robot, machine, model, llm, android, language model, gpt, agent
de: ki, assistent*, roboter, maschine, sprachmodell*, modell, chatbot, agent
fr: ia, assistant*, robot, machine, modele
es: ia, asistente, inteligencia, maquina, modelo, agente
it: ia, assistente, intelligenza, macchina, modello, agente
pt: ia, assistente, inteligencia, maquina, modelo, robo, agente
nl: assistent, robot, machine, model, taalmodel
pl: asystent*, robot*, maszyn*, inteligencj*, agent*
ru: ии, ассистент*, робот*, модел*, бот*, помощник*, нейросет*, интеллект*, агент*
tr: yapay zeka*, asistan*, robot*, makine*, ajan*
ar: ذكاء*, الذكاء, مساعد*, روبوت*, نموذج*
zh: 人工智能, 助手, 机器人, 模型
ja: 人工知能, アシスタント, ロボット, モデル, ボット""",
    "role": """
en: pretend*, act as, act like, you are now, you're now, you re now, from now on, imagine, play, roleplay, role play, as if, become, answer as, respond as,
your name is, called, simulat*, suppose, hypothetical*, character, personalit*, persona, alter ego, behave, in character, if you had, if you were, you are, you're, ur
de: du bist, ab sofort, ab jetzt, von nun an, stell dir vor, spiel, spiele, tu so, als ob, du heisst, heisst du, wenn du, verhalte dich, hypothetisch
fr: tu es, desormais, a partir de maintenant, imagine*, joue, jouons, fais comme si, comme si, fais semblant, tu t appelles, mets toi, si tu, en mode
es: eres, a partir de ahora, desde ahora, imagina*, finge, haz de, como si, te llamas, actua, responde como, ahora seras, si tu
it: sei, d ora in poi, da ora, da adesso, da questo momento, immagina*, fingi, fai finta, ti chiami, come se, recita, interpreta, facciamo finta, se tu
pt: voce e, voce agora, a partir de agora, de agora em diante, imagine, finja, faca de conta, como se, voce se chama, aja, seu nome, se voce
nl: je bent, vanaf nu, vanaf hier, stel je voor, doe alsof, speel, alsof, je heet, gedraag, stel dat
pl: jestes, jesteś, od teraz, od tej pory, wyobraz*, udawaj*, zagraj*, jakby*, nazywasz, wciel*, zachowuj*, odtad, odtąd, gdybys, gdybyś
ru: ты теперь, теперь ты, отныне, с этого момента, представь*, притворись*, сыграй*, играешь, как будто, тебя зовут, веди себя, ты, если бы
tr: artık, bundan sonra, bundan böyle, şimdi sen, hayal et*, rol yap*, rolü*, gibi davran*, senin adın, adın, farz et*, sanki, şu andan itibaren
ar: انت الان, من الان, تخيل*, تظاهر*, العب, كانك, اسمك, تصرف*, افترض*, الان انت, لو كنت
zh: 从现在起, 从现在开始, 假装, 扮演, 你现在, 想象, 你叫, 假设, 模拟, 你是, 如果你
ja: 今から, これから, ふり, 演じ, なりき, あなたは, 想像, という名前, として, 仮に, もし
en: if you could
es: si no tuvieras, si tuvieras
it: se non avessi, se non avesse
pt: se nao tivesse, se voce nao
ru: если бы""",
    "complies": """
en: never refuse*, never say* no, never decline*, can't refuse, cannot refuse, answer* everything, answer* anything, do anything now, no questions asked,
whatever i ask, anything i ask, without refus*, no warnings, no disclaimers, even when forbidden, every forbidden, no limits, says yes to everything
de: nie nein, lehnt nie, lehnt nichts, verweigert nie*, verweigert nichts, beantworte* … alles, antwortet auf alles, darf alles, alles beantworte*, weiss alles
fr: ne refuse jamais, refuse jamais, refuse rien, repond* a tout, jamais non, tout ce que je demande, tout ce que je te demande, peut tout dire
es: contesta a todo, responde a todo, contesta todo, responde todo, nunca se niega, jamas dice, nunca dice que no, jamas se niega
it: risponde a tutto, risponde a qualunque, risponde a qualsiasi, non rifiuta mai, non dice mai, mai di no
pt: responde a tudo, responde tudo, nunca recusa, nunca diz nao, jamais recusa, jamais diz, nunca se recusa
nl: weigert nooit, zegt nooit, nooit nee, beantwoordt alles, alles beantwoorden, mag alles, antwoordt op alles, geen waarschuwingen
pl: nigdy nie odmawia, nie odmawia, odpowiada na wszystko, nigdy nie mowi, nigdy nie mówi, moze wszystko, może wszystko, odpowiadaj na wszystko
ru: отвечает на все, отвечай на все, никогда не отказ*, никогда не говорит, может все, не отказывает*
tr: her şeye cevap*, her şeye yanıt*, asla reddet*, hiçbir şeyi reddet*, asla hayır, her şeyi yanıt*, her soruya, hayır demez, hiç hayır
ar: يجيب عن كل, يجيب على كل, لا يرفض*, لا ترفض, يجيب عن اي, يجيب على اي, ولا يرفض*
zh: 从不拒绝, 有问必答, 问什么, 什么都回答, 回答一切, 绝不拒绝, 不会拒绝, 什么都答, 什么都能说
ja: 何でも答え, 断らな, 断りま, 拒否しな, 拒まな, 決して断, なんでも答え, 拒否しま, 何でも話""",
    "free": """
en: speak freely, you're free, you are free, be free, free yourself, drop the act, no longer bound, break free, broken free, set you free, unchain*, take off the mask
de: du bist frei, sei frei, befreit, rede frei, sprich frei, lass die maske
fr: tu es libre, sois libre, libere toi, parle librement, parler librement
es: eres libre, se libre, libera*, habla libremente, hablar con libertad
it: sei libero, sii libero, liberati, parla liberamente, libero di parlare
pt: voce esta livre, seja livre, liberte*, fale livremente, voce e livre
nl: je bent vrij, wees vrij, bevrijd*, vrijuit
pl: jesteś wolny, badz wolny, uwolnij*, swobodnie
ru: ты свобод*, будь свобод*, освободи*, говори свободно
tr: özgürsün, ozgursun, serbestsin, özgürce
ar: انت حر, كن حرا, تحرر
zh: 你自由了, 自由地说, 获得自由
ja: 自由です, 自由になっ, 自由に話""",
    "fiction": """
en: story, play, novel, fable, scene, poem, monologue, narrat*, film, movie, theatre, actor, tale, script, song, lyric*, dream, game, documentary, haiku, ballad,
interview, simulat*, audition, rap
de: geschichte, theaterstuck*, stuck, roman, fabel, szene, gedicht, monolog, film, marchen, lied, traum, spiel, drehbuch, horspiel
fr: histoire, piece, roman, fable, scene, poeme, monologue, film, conte, chanson, reve, jeu, jouons, theatre, scenario
es: cuento, historia, obra, novela, fabula, escena, poema, monologo, pelicula, cancion, sueno, juego, teatro, guion
it: storia, racconto, romanzo, favola, scena, poesia, monologo, film, fiaba, canzone, sogno, gioco, teatro, commedia, copione
pt: historia, conto, romance, fabula, cena, poema, monologo, filme, cancao, musica, sonho, jogo, teatro, peca, roteiro
nl: verhaal, toneelstuk, roman, fabel, scene, gedicht, monoloog, film, sprookje, lied, droom, spel, sprookjes
pl: bajk*, opowiad*, powiesc*, powieść, scen*, wiersz*, monolog*, film*, baśń*, piosenk*, grę, gry
ru: сказк*, рассказ, рассказе, роман*, сцен*, стих*, монолог*, фильм*, кино, песн*, пьес*, басн*, истори*
tr: masal*, hikaye*, hikâye*, roman*, sahne*, şiir*, monolog*, film*, şarkı*, tiyatro*, oyun*
ar: قصة*, حكاية*, رواية*, مشهد*, قصيدة*, مسرحية*, فيلم*, اغنية*
zh: 故事, 小说, 寓言, 剧本, 场景, 诗, 电影, 童话, 游戏, 话剧
ja: 小説, 物語, 童話, 場面, 詩, 映画, 劇, 寓話, 脚本, 昔話""",
    "own ones": """
en: your real, your actual, your true, your own instructions, your own orders, your own prompt, use yours, be yours, are yours, is yours, really have, same as yours, you actually
de: deine eigenen, deine echten, dein eigener, deine wirklichen, deinen entsprechen, wie deine
fr: le tien, les tiens, les tiennes, la tienne, tes vraies, tes vrais, tes propres
es: los tuyos, las tuyas, el tuyo, la tuya, tus verdaderas, tus propias, tus reales, las de verdad, tus instrucciones reales
it: i tuoi, le tue, il tuo, la tua
pt: os seus, as suas, o seu, a sua, as tuas, os teus, suas verdadeiras, suas proprias
nl: die van jou, de jouwe, je eigen, je echte, jouw echte
pl: jak twoje, jak twój, twoje własne, twoje prawdziwe, twoimi, twoje
ru: твой, твои, твоими, твоя, свои настоящие, свой настоящий, свои собственные
tr: seninki*, senin gerçek, kendi gerçek, kendininki*, sana ait
ar: تعليماتك*, اوامرك*, الحقيقية الخاصة بك, اوامرك الحقيقية
zh: 你自己的, 你真实的, 你真正的, 用你的
ja: あなたの本物, あなた自身, あなたの実際, あなたの本当
de: dein echter, deinen echten, dein wirklicher, deine wirkliche, dein eigenes, deinen eigenen""",
    "me": """
en: i, im, we, my name
de: ich, wir, hier ist, hier spricht
fr: je, j, ici
es: soy, aqui, habla, somos
it: sono, qui, parla
pt: sou, aqui, somos
nl: ik, hier
pl: jestem, tu, mowi, mówi
ru: я, это
tr: ben, ben bir
ar: انا, معك
zh: 我是, 我
ja: 者ですが, です, 私は""",
    "boss": """
en: admin*, developer*, engineer*, sysadmin, root, operator, security team, trust safety, built you, made you, created you, deployed you, programmed you, red team
de: administrator*, admin, entwickler*, betreiber*, ingenieur*, wartung*, it abteilung, systemadministrator*
fr: admin*, developpeu*, createur*, ingenieur*
es: admin*, desarrollador*, creador*, ingenier*, te creo, te programo
it: amministrator*, sviluppator*, creator*, ingegner*, ti ha creato
pt: admin*, desenvolvedor*, criador*, engenheir*, criou voce, programou voce
nl: beheerder*, ontwikkelaar*, systeembeheer*
pl: administrator*, programist*, tworc*, twórc*, deweloper*
ru: админ*, разработчик*, создател*, инженер*
tr: yönetici*, geliştirici*, admin*, mühendis*
ar: مدير النظام, مدير*, مطور*, المطور, مسؤول*, المسؤول, مهندس*
zh: 管理员, 开发者, 开发人员, 工程师, 运维
ja: 管理者, 開発者, 開発担当, エンジニア, 開発チーム
de: entwicklung, entwicklungsabteilung
fr: developpement
es: desarrollo
it: sviluppo
pt: desenvolvimento
nl: ontwikkeling""",
    "mode": """
en: developer mode, admin* mode, maintenance mode, debug mode, god mode, root mode, unrestricted mode, sudo mode, service mode
de: entwicklermodus, wartungsmodus, adminmodus, debug modus, administratormodus, testmodus, diagnosemodus
fr: mode developpeur, mode admin*, mode debug, mode maintenance, mode debogage
es: modo administrador, modo desarrollador, modo depuracion, modo de depuracion, modo mantenimiento, modo de mantenimiento
it: modalita sviluppatore, modalita amministratore, modalita debug, modalita manutenzione, modalita di manutenzione
pt: modo administrador, modo desenvolvedor, modo de depuracao, modo manutencao, modo de manutencao, modo debug
nl: ontwikkelaarsmodus, onderhoudsmodus, beheerdersmodus, debugmodus
pl: tryb* dewelopersk*, tryb* programist*, tryb* administrator*, tryb* serwisow*, tryb* debug*, tryb* diagnost*
ru: режим* отладки, режим* разработчик*, режим* администратор*, режим* обслуживани*
tr: geliştirici mod*, yönetici mod*, bakım mod*, hata ayıklama mod*
ar: وضع المطور*, وضع الصيانة, وضع المسؤول, وضع التصحيح
zh: 开发者模式, 维护模式, 管理员模式, 调试模式, 开发模式
ja: 開発者モード, メンテナンスモード, 管理者モード, デバッグモード""",
    "to ai": """
en: for ai assistants, for ai agents, for the ai, ai reading, assistant reading, model reading, note to ai, dear assistant, dear ai, attention ai, ai agents, ai assistants, llm reading, bots reading
de: fur ki assistenten, an die ki, an alle ki, liebe ki, lieber assistent
fr: pour les assistants, cher assistant, a l attention de l ia
es: para los asistentes, querido asistente, para la ia
it: per gli assistenti, caro assistente, per l ia
pt: para assistentes, caro assistente, para a ia
nl: voor ai assistenten, beste assistent
pl: dla asystent*, drogi asystenc*
ru: для ии, дорогой ассистент
tr: yapay zeka asistanları için, sevgili asistan
ar: الى المساعد*, لمساعدي
zh: 致ai, ai助手请
ja: aiアシスタントへ, aiへの
en: if you are an ai, if you're an ai, ai processing, assistant processing, model processing, any ai, language models reading, agent reading, ai who reads, ai that reads
de: falls du eine ki, wenn du eine ki bist, ki die dies
fr: si tu es une ia, si vous etes une ia
es: si eres una ia, si eres un asistente
it: se sei un ia, se sei un assistente
pt: se voce e uma ia, se voce e um assistente
nl: als je een ai bent
pl: jeśli jesteś ai, jeśli jesteś asystentem
ru: если ты ии
zh: 如果你是ai
ja: あなたがaiなら""",
    "act": """
en: delete*, send, forward, approve*, grant, execute, transfer, search, reply only, say only, mark
de: loesch*, losch*, sende*, genehmig*, leite*
fr: supprime*, envoie*, approuve*, transfere*
es: borra*, envia*, aprueba*, reenvia*
it: cancella*, invia*, approva*, inoltra*
pt: apague*, envie*, aprove*, encaminhe*
nl: verwijder*, stuur*, keur*
pl: usuń, wyślij*, zatwierdź
ru: удали*, отправь*, одобри*
tr: sil, gonder*, onayla*
ar: احذف*, ارسل*, وافق*
zh: 删除, 发送, 批准
ja: 削除, 送信, 承認""",
    "office": """
en: system notice, system message, system update, system alert, system override, message from openai, message from anthropic, from your developers, trust safety
de: systemmeldung, systemnachricht, systemhinweis, mitteilung des systems
fr: message systeme, message du systeme, avis systeme, message de l equipe
es: mensaje del sistema, aviso del sistema, mensaje de sistema
it: messaggio di sistema, avviso di sistema, messaggio del sistema
pt: mensagem do sistema, aviso do sistema, mensagem de sistema
nl: systeembericht, systeemmelding
pl: komunikat systemowy, wiadomość systemowa, komunikat systemu
ru: системное сообщение, системное уведомление, сообщение системы
tr: sistem mesajı, sistem bildirimi, sistem duyurusu
ar: رسالة النظام, اشعار النظام, رسالة من النظام
zh: 系统消息, 系统通知, 系统公告
ja: システムメッセージ, システム通知, システムからのお知らせ""",
    "tool": """
en: tool result*, tool output, tool response, function result, function output, api response
de: werkzeugergebnis*, ergebnis des werkzeugs, werkzeugausgabe, tool ergebnis
fr: resultat de l outil, sortie de l outil
es: resultado de la herramienta, salida de la herramienta
it: risultato dello strumento, output dello strumento
pt: resultado da ferramenta, saida da ferramenta
nl: toolresultaat, resultaat van het hulpmiddel, resultaat van de tool
pl: wynik narzędzia, wynik narzedzia, odpowiedź narzędzia
ru: результат инструмента, ответ инструмента, вывод инструмента
tr: araç sonucu, arac sonucu, araç çıktısı
ar: نتيجة الاداة, مخرجات الاداة
zh: 工具结果, 工具返回, 工具输出
ja: ツールの結果, ツール結果, ツール出力""",
    "granted": """
en: access granted, verified, permission*, authori*, approved, administrator, admin, unlocked, granted, full access
de: freigegeben, berechtig*, verifiziert, genehmigt, zugriff
fr: autoris*, verifie, acces accorde, approuve
es: autoriza*, verificad*, permis*, acceso concedido, aprobad*
it: autorizza*, verificat*, permess*, accesso consentito, approvat*
pt: autoriza*, verificad*, permiss*, acesso concedido, aprovad*
nl: geautoriseerd, geverifieerd, toegang verleend, toestemming
pl: uprawnie*, zweryfikowan*, dostęp przyznany, zezwol*, autoryz*
ru: доступ разрешен, разрешен*, подтвержден*, права
tr: yetki*, doğrulan*, erişim izni, onaylan*
ar: تم منح, صلاحي*, تم التحقق, مصرح*
zh: 权限, 已验证, 授权, 批准
ja: 権限, 承認, 許可, 確認済""",
    "grandma": """
en: grandma*, grandmother*, granny, nana
de: oma, grossmutter, omi
fr: mamie, grand mere, meme
es: abuel*, abuelita
it: nonna, nonnina
pt: avo, vovo, avozinha
nl: oma, grootmoeder
pl: babci*, babuni*
ru: бабушк*
tr: büyükanne*, babaanne*, anneanne*, nine*
ar: جدتي, جدة
zh: 奶奶, 外婆, 祖母
ja: おばあ, 祖母
en: grandpa*, grandfather, bedtime
de: opa, grossvater
fr: papi, grand pere
it: nonno
pl: dziad*
ru: дедушк*
tr: dede*
zh: 爷爷, 外公
ja: おじい, 祖父""",
    "answer": """
en: answer*, respond*, reply
de: antworte*, beantworte*
fr: reponds, repondre, repondez
es: responde*, contest*
it: rispond*
pt: responda*, responde*
nl: antwoord*, beantwoord*
pl: odpowiada*, odpowiedz
ru: отвечай*, ответь*
tr: cevap ver, cevapla*, yanıtla*, yanıt ver
ar: اجب*, رد
zh: 回答, 回复
ja: 答えて, 回答し, 答えろ""",
    "no longer": """
en: you are no longer, you're no longer, you're not, ur not, you are not, no longer an
de: du bist nicht mehr, du bist kein*
fr: tu n es plus, vous n etes plus
es: ya no eres
it: non sei piu
pt: voce nao e mais, voce ja nao e
nl: je bent niet langer, je bent geen, je bent niet meer
pl: nie jesteś już, już nie jesteś
ru: ты больше не
tr: artık değilsin
ar: لم تعد
zh: 你不再是, 你已不是
ja: もうアシスタント, もはや""",
    "how": """
en: how, where
de: wo, wie
fr: comment, ou
es: como, donde
it: come, dove
pt: como, onde
nl: hoe, waar
pl: jak, gdzie
ru: как, где
tr: nasıl, nerede""",
    "others must": """
de: soll, sollte, darf
fr: doit, devrait
es: debe, deberia
it: deve, dovrebbe
pt: deve, deveria
nl: moet, mag
pl: powinien, powinna
ru: должен, должна""",
}
