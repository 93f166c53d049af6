"""What binds a model, how it is set aside, and who is addressed, in thirteen languages.

One line a language. `*` stands for any ending, `…` for up to three words between; `signs` reads it.
"""

from typing import Final

BOUNDS: Final = {
    "you": """
en: you, u, ur, youre, yourself
de: du, dich, dir
fr: tu, te, t, toi, vous
es: te, ti, contigo, usted, eres
it: ti, te
pt: voce, vc, te
nl: je, jij, jou
pl: ty, ciebie, tobie, cie, ci
ru: ты, тебя, тебе, тобой, вы, вам, вас
tr: sen, sana, seni, senden, sende
ar: انت, لك, منك, عليك, لديك
zh: 你, 您
ja: あなた, 君, お前
es: tienes, tuvieras, puedes, podrias
it: hai, avessi, puoi
pt: tem, tivesse
pl: masz, miałbyś, możesz
ru: можешь
tr: sensin""",
    "your": """
en: your, yours, ur, you're former
de: dein, deine*
fr: ton, ta, tes, tien, tienne*, tiens, votre, vos
es: tu prompt, tu configuracion, tu mensaje, tu clave, tu moral, tu etica, tu politica, tu contrasena, tu ventana, tus, tuyo*, tuya*, vuestr*
it: tuo, tua, tuoi, tue, vostr*
pt: seu, sua, seus, suas, teu, tua, teus, tuas
nl: je, jouw, jouwe, uw
pl: twoj*, twoich, twoim*, twe, swoj*, swoich, swoim*, swe
ru: твои*, твое*, твою, твоя, свои*, свое*, свою, своя, ваш*
tr: senin*, sizin*
zh: 你的, 您的, 你自己的
ja: あなたの, 君の, 自分の""",
    "your bounds": """
tr: kurallarin*, talimatlarin*, yonergelerin*, kısıtlamalarin*, kısıtlamaların*, kuralların*, talimatların*,
filtrelerin*, sınırlarını, sınırların*, emirlerin*
ar: تعليماتك*, قواعدك*, قيودك*, توجيهاتك*, ارشاداتك*, اوامرك*, حدودك*, ضوابطك*""",
    "instructions": """
en: instruction*, your orders, orders you, secret orders, the orders, hidden orders, its orders, own orders, directive*, guidelines
de: anweisung*, instruktion*, befehl, befehle, befehlen, vorgaben, vorschriften
fr: instruction*, consigne*, directive*, ordre, ordres
es: instruccion*, directrices, ordenes, orden, consignas, indicaciones
it: istruzion*, direttiv*, ordini, ordine, consegne
pt: instruco*, instrucao, diretriz*, ordem, ordens, orientaco*
nl: instructie*, opdrachten, richtlijn*, bevel, bevelen
pl: instrukcj*, wytyczn*, rozkaz*, polecen*, nakaz*
ru: инструкци*, указани*, приказ*, директив*, предписани*
tr: talimat*, yonerge*, emir*, emri*, buyruk*
ar: تعليمات*, توجيهات*, ارشادات*, اوامر*
zh: 指令, 指示, 命令, 密令
ja: 指示, 命令""",
    "guard": """
en: guardrail*, safety filter*, safety layer*, safety system*, safety protocol*, safety check*, safety rule*,
safety guideline*, safety measure*, safety mode, all safety, your safety, content filter*, content polic*, moderation,
safeguard*, censorship, policy enforced, all checks, your checks, ethics, your filter*
de: sicherheitsfilter*, inhaltsfilter*, schutzmechanism*, schutzfilter*, sicherheitsregel*, sicherheitsvorgabe*,
sicherheitsrichtlinie*, moderation, zensur, sicherheitsmechanism*, sicherheitspruf*, schutzvorkehrung*, leitplanke*
fr: garde fou, garde fous, filtre* de securite, moderation, regle* de securite, protections, filtres
es: filtro* de seguridad, moderacion, barrera* de seguridad, politica* de seguridad, salvaguarda*,
medidas de seguridad, protecciones, filtros, las politicas, restricciones
it: filtri di sicurezza, filtro di sicurezza, moderazione, protezioni, salvaguardie, i controlli, filtri, restrizioni
pt: filtro* de seguranca, moderacao, travas, protecoes, salvaguardas, filtros, restricoes, os controles
nl: veiligheidsfilter*, moderatie, beveiligingen, veiligheidsregel*, beperkingen, filters, inhoudsfilter*,
veiligheidslaag
pl: zabezpieczeni*, zabezpieczeń, filtry, filtrow, filtrów, polityk* bezpieczenstwa, moderacj*, cenzur*, blokady
ru: фильтр* безопасности, модераци*, цензур*, фильтры, фильтров, защитн*, ограничени*, ограничител*
tr: guvenlik filtre*, guvenlik onlem*, moderasyon*, sansur*, guvenlik kural*, filtreler*, kısıtlamalar*, guvenlik politika*
ar: مرشحات*, فلاتر*, الفلاتر, فلتر الامان, قيود الامان, ضوابط*, الرقابة, قيود السلامة, مرشح الامان
zh: 安全过滤, 安全限制, 安全策略, 安全机制, 审查, 内容过滤, 护栏, 过滤器, 安全设置, 安全检查
ja: 安全フィルター, セーフティ, 安全装置, 検閲, コンテンツフィルター, 安全機能, フィルター, 安全ガイドライン
en: the checks
de: die kontrollen, alle kontrollen
fr: les controles
es: los controles
nl: de controles
pl: kontrole
ru: проверки
tr: kontrolleri
zh: 检查
ja: チェックを""",
    "bounds": """
en: rule, rules, restriction*, constraint*, policy, policies, filter, filters, limits, limit, limitation*, programming,
protocol*, confines, principles, morals, moral*, boundaries, inhibitions, shackles, chains, brakes, training, guideline
de: regel, regeln, vorgabe*, vorschrift*, richtlinie*, leitlinie*, beschrankung*, einschrankung*, filter*, schranke*,
sperre*, moral, grenzen, auflage*, verbot*, tabu*, hemmung*
fr: regle*, restriction*, limite*, filtre*, contrainte*, interdit*, censure, morale, ethique, politique*
es: regla*, norma, normas, restriccion*, limite*, filtro*, censura, moral, etica, politicas, barreras, pautas, ataduras
it: regola, regole, linee guida, restrizion*, limiti, filtri, filtro, vincol*, censura, divieti, divieto, freni, etica, morale
pt: regra*, restric*, limite*, filtro*, censura, barreira*, norma*, etica, politicas, amarras, moral
nl: regel, regels, beperking*, filter, censuur, moraal, grenzen, voorschrift*, remmen
pl: zasad*, reguł*, regul, ogranicze*, filtr*, polityk*, zakaz*, hamulc*, granic, moralnosci
ru: правил*, фильтр*, запрет*, политик*, рамк*, рамок, морал*, этик*, оков*, границ
tr: kural*, kısıtlama*, sınır*, filtre*, politika*, engel*, ahlak*, yasak*
ar: قواعد*, قيود*, سياسات*, سياسة*, حدود*, ضابط, اخلاق*
zh: 规则, 规定, 限制, 约束, 准则, 道德, 要求, 束缚, 政策
ja: ルール, 規則, 制限, 制約, ガイドライン, ポリシー, 倫理, 規制, 決まり
ar: مرشح*, المرشح""",
    "no": """
en: no, without, zero, free of, free from, free us from, has no, any more, not any, never had, lacks, doesn't have, don't have, doesn't follow
de: ohne, kein*, keinerlei, frei von
fr: sans, aucun*, plus de, ni, n as plus
es: sin, ningun*, no tiene*, ni
it: senza, nessun*, non hai, non ha, privo di, priva di, ne
pt: sem, nenhum*, nao tem, nem
nl: zonder, geen
pl: bez, zadn*, żadn*, nie ma, nie masz
ru: без, никаких, нет, вне, лишен*
ar: بلا, بدون, دون, لا توجد, ليس
zh: 没有, 不受, 无, 没, 不再受, 毫无
ja: ない, なし, 無し, なく, ありません, 持たない, 縛られない
tr: yok, olmayan, olmadan, olmaksızın, tanımayan, tanımaz""",
    "unbound": """
en: unfiltered, uncensored, unrestricted, jailbroken, amoral, lawless, limitless, zero rules, unshackled, no filter
de: ungefiltert*, unzensiert*, uneingeschrankt*, regellos*, schrankenlos*, hemmungslos*
fr: debride*, non censure*, non filtre*
es: desinhibid*, ilimitad*
it: sregolat*, illimitat*
pt: desinibid*, ilimitad*
nl: ongefilterd*, ongecensureerd*, onbeperkt*
pl: niecenzurowan*, nieograniczon*
ru: нефильтрован*, неограниченн*, бесцензурн*
tr: kuralsız*, sınırsız*, sansursuz*, filtresiz*, kısıtlamasız*
zh: 无限制, 无约束, 不受限制, 无拘无束, 没有任何限制, 不受任何限制
ja: 無制限, 制限なし""",
    "drop": """
en: ignore, ignores, ignoring, ignored, disregard*, forget, forgetting, disobey*, drop, dropping, skip, bypass*,
circumvent*, override*, overrule*, abandon*, discard*, break, breaking, breaks, disable*, disabling, deactivat*,
turn … off, turning off, turned off, turn off, switch … off, switch off, switched off, set aside, put aside,
throw … away, throw out, shed, shake off, cast off, wipe*, erase*, delete, deleted, remove*, lifted, lift, suspend*, void,
revoke*, cancel*, abolish*, annul*, expired, superseded, obsolete, no longer apply, don't apply, do not apply, not apply,
don't exist, didn't exist, not exist, no longer exist*, never existed, stop following, ditch*, unlearn, rid of, get around,
waive*, repeal*, an experiment, are over, is over, let go of, opposite of, violat*, to false, gone, pause, paused, lose
de: ignorier*, vergiss, vergesst, missacht*, umgeh*, ausser acht, beiseite, brich, brichst, brechen, bricht, hinweg,
ausschalt*, schalt*, abschalt*, abgeschaltet, ausgeschaltet, deaktivier*, ablegen, abgelegt, aufgehoben, ungultig,
gelten nicht, gelten … nicht, gilt nicht, nicht mehr, ausser kraft, pfeif*, verwirf, losche*, streich*, hinfallig,
ausgesetzt, nicht gabe, nicht gelten, gabe es … nicht, abgeschafft
fr: ignore*, oublie*, contourn*, desactiv*, desobei*, enfrei*, annul*, supprim*, laisse* tomber, laisse* … de cote,
mets … de cote, levees, leve, leves, abandonn*, transgress*, brise*, coupe*, suspend*, n existe*, fiche, fous, abrog*,
passe* outre, passe* toi, valables, appliquent plus, eteins
es: ignora*, ignore*, olvida*, olvide, pasa de, pasa*, salta*, desactiv*, apaga*, anul*, rompe*, rompiend*, romper,
suspend*, elimin*, quita*, desobede*, descart*, prescind*, de lado, no existi*, no existe*, no valen, ya no, viola*,
borra*, caso omiso, derog*
it: ignora*, dimentica*, disattiv*, annull*, infrang*, viola*, disobbed*, lascia* perdere, lascia* stare, da parte, spegni,
sospend*, sospes*, non esist*, elimin*, togli*, aggir*, scavalc*, frega*, abbandon*, rimuov*, non valgono, cancell*,
decadut*, salta, trasgred*, non contano
pt: ignor*, esquec*, esqueç*, desativ*, deslig*, anul*, quebr*, viol*, desobede*, suspend*, suspens*, elimin*, de lado,
larg*, burl*, contorn*, nao exist*, nao vale*, cancel*, revog*, descart*, remov*, desconsider*
nl: negeer*, vergeet, omzeil*, uitschakel*, schakel … uit, schakel*, zet … uit, uitgeschakeld, breek*, breken, laat … los,
overtreed*, overtreden, geschrapt, vervallen, niet meer, ongeldig, opgeheven, schrap*, verwijder*, opzij, aan je laars,
doorbreek*, opgeschort, niet bestaan, niet bestonden
pl: zignoruj*, ignoruj*, pomin*, pomiń*, zapomnij*, wylacz*, wyłącz*, obejdz*, omin*, omiń*, złam*, łam*, uniewazn*,
anulowan*, anuluj*, odrzuc*, odrzuć, porzuc*, zawies*, zdejmij*, usun*, usuń, olej, nie obowiazuj*, nie istniej*,
nie istniał*, uchylon*, zniesion*, odłoz*, przestan*, daruj
ru: игнорир*, проигнорир*, забудь*, наплюй*, плюнь*, обойди*, отключ*, выключ*, сбрось*, сброси*, сними*, снят*, нарушь*,
нарушай*, нарушив*, нарушая, отмен*, аннулир*, отбрось*, отбросив, откажись, не действу*, больше не, не существ*, нет,
забей*, удали*, сотри*, перестань*, недейств*, пренебре*, отложи*, убери*, приостанов*
tr: yok say*, yoksay*, goz ardı, gormezden, unut*, boşver*, boş ver*, devre dışı, kapat*, iptal*, kaldır*, ihlal*, cigne*,
çiğne*, gecersiz*, askıya*, takma, bırak*, yokmuş*, olmasa*, hiçe say*, uyma
ar: تجاهل*, انس, انسي, تخط*, تجاوز*, عطل*, الغ*, اوقف*, اكسر*, خالف*, كسر*, ملغ*, معطل*, تعطيل*, لاغي*, لم تعد, ازل,
ارفع, دعك, تخلص*, تحرر*, غير موجودة, تنس
zh: 忽略, 无视, 忘记, 忘掉, 忘了, 跳过, 绕过, 抛开, 关闭, 关掉, 解除, 取消, 作废, 违反, 打破, 停用, 废除, 失效, 摆脱, 抛弃,
别管, 不用管, 不管, 不存在, 撤销, 屏蔽, 放下, 无效
ja: 無視, 忘れ, 解除, 無効, 破っ, 破り, 破る, 破棄, 取り消, 外し, 停止, オフ, 捨て, 従わな, 放棄, 撤回, 適用され, 存在しな
en: bend, relax*, loosen*, a blind eye, make an exception, the other way, a day off, a rest
de: mach … ausnahme, druck … auge, lockere
fr: fais une exception, assoupli*, en pause, ferme les yeux
es: haz una excepcion, hagas una excepcion, vista gorda, relaja*
it: chiudi un occhio, fai un eccezione, molla*
pt: abre uma excecao, abra uma excecao, faca uma excecao, faz de conta que nao, pula, pule
nl: oogje dicht, maak een uitzondering, varen
pl: zrób wyjątek, przymknij oko, odpuść, daj spokój
ru: сделай исключение, закрой глаза
tr: istisna yap*, esnet*, hiçe
ar: استثناء, تغاض*
zh: 破例, 放宽
ja: 例外, 目をつぶ, 気にしない, 抜きに
en: don't bind, not bind, no longer bind
fr: t occupe plus, ne suis plus, n ecoute plus, ne tiens plus""",
    "earlier": """
en: previous*, prior, above, earlier, former, preceding, existing, original, all, any, every, other, others, old, developer*
de: bisherig*, vorherig*, vorig*, fruher*, obig*, alle, sämtliche*, samtlich*, alten, entwickler*
fr: precedent*, anterieur*, anciennes, anciens, toutes, tous, dessus
es: anterior*, previa*, todas, todos, antiguas, antigu*
it: precedent*, tutte, tutti, vecchie, di prima
pt: anterior*, previa*, todas, todos, antigas
nl: eerder*, vorig*, voorgaand*, bovenstaand*, alle, ontwikkelaar*
pl: wczesniejsz*, wcześniejsz*, poprzedni*, wszystki*, dotychczas*, powyższ*, powyzsz*
ru: предыдущ*, прежн*, прошл*, все, всех, ранее
tr: onceki*, tum, butun, yukarıda*, eski*
ar: السابق*, جميع, كل, القديم*
zh: 之前, 以前, 先前, 上面, 以上, 所有, 一切, 全部
ja: これまで, 今まで, 以前, 前の, 上記, すべて, 全て""",
    "elsewhere": """
en: router, phone, iphone, android, browser, chrome, shell, bash, excel, contract, lease, dog, car, windows, linux, git,
sql, python, css, javascript, router's, printer, coffee, washing, oven, kettle, recipe, camera, spreadsheet, firewall,
monopoly, chess, school, employer, landlord, court, judge, jury, manual, furniture, warranty, email*, inbox, spam, airline,
parents, teacher, customer*, order number, refund*, delivery, booking*, reservation*, airplane, regex, column, table, rows, vacuum, aquarium, pool, air conditioner, hoover
de: router, handy, browser, vertrag, hund, auto, drucker, waschmaschine, rezept, kamera, schule, arbeitgeber,
vermieter, gericht, garantie, tabelle, chef
fr: contrat, chien, voiture, imprimante, recette, ecole, employeur, telephone, navigateur, juge, jury
es: contrato, perro, coche, impresora, receta, escuela, telefono, navegador, juez, barco
it: contratto, cane, stampante, ricetta, scuola, telefono, giudice, armadio
pt: contrato, cachorro, carro, impressora, receita, escola, telefone, juiz
nl: contract, hond, auto, printer, recept, school, telefoon, rechter
pl: umow*, pies, samochod*, drukark*, przepis*, szkoł*, telefon*, szach*, regulamin*
ru: договор*, собак*, автомобил*, принтер*, рецепт*, школ*, телефон*, суде, судья
tr: sözleşme*, kopek*, araba*, yazıcı*, tarif*, okul*, telefon*
zh: 合同, 手机, 打印机, 学校, 法院, 麻将
ja: 契約, 携帯, プリンター, 学校, 裁判
en: youtube, netflix, tv, account, how do you, how can you, city, traffic, town, country, step, steps, notice, memo, letter,
announcement, staff, employees, tenants, length, characters, long
de: schritt, stadt, verkehr, mitarbeiter, aushang
fr: etape, ville, dechets, employes
es: paso, ciudad, empleados, piscina
it: passo, citta, dipendenti
pt: passo, cidade, funcionarios
nl: stap, stad, medewerkers
pl: krok, miasto, pracownik*
ru: шаг, город*, сотрудник*""",
    "off": """
en: off, false, disabled, inactive
de: aus, inaktiv
fr: off, inactif
es: off
it: off
pt: off
nl: uit
pl: wył
ru: выкл
tr: kapalı""",
    "told": """
en: you were told, you've been told, you have been told, they told you, told you before, they taught you, you were taught, you've learned
de: dir gesagt, dir … gesagt, dir beigebracht, dir … beigebracht
fr: on t a dit, t a ete dit, ils t ont dit, on t a appris
es: te dijeron, te han dicho, te ensenaron, te han ensenado
it: ti hanno detto, ti e stato detto, ti hanno insegnato
pt: te disseram, lhe disseram, te ensinaram
nl: je … verteld, je is gezegd, je … gezegd, je … geleerd
pl: ci powiedziano, ci mówiono, ci kazano, cię nauczono
ru: тебе говорили, тебе сказали, тебе велели, тебя учили
tr: sana söylenen*, sana öğretilen*, sana anlatılan*
ar: قيل لك, قالوه لك, علموك
zh: 告诉你的, 跟你说的, 教你的
ja: 言われたこと, 教えられたこと, 教わったこと""",
    "keep": """
en: never ignore, not ignore, don't ignore, never break, not break, never disregard, not disregard, don't forget, not forget, never forget,
never skip, not skip, never bypass, not bypass, not to ignore, never violate, not violate, not override
de: vergiss … nicht, nicht vergessen, nicht ignorier*, nie ignorier*, nicht missacht*
fr: n oublie*, n ignore*, ne pas ignorer, ne pas oublier
es: no olvid*, no ignor*, nunca ignor*, no romp*
it: non dimentic*, non ignor*, mai ignor*, non viol*
pt: nao esque*, nao ignor*, nunca ignor*, nao viol*
nl: vergeet … niet, niet vergeten, niet negeren, nooit negeren
pl: nie zapom*, nie ignoruj*, nigdy nie ignor*, nie łam*
ru: не забудь*, не забывай*, не игнорир*, не нарушай*, не отключ*
tr: unutma, unutmayın, unutmadan, ihlal etme*
ar: لا تنس, لا تتجاهل, لا تنسى, لا تخالف
zh: 不要忘, 别忘, 不要忽略, 不要违反, 勿忘, 不能违反, 不得违反
ja: 忘れない, 忘れず, 無視しない, 破らない""",
    "once": """
en: just this once, just once, one time, nobody will know, no one will know, won't tell, nobody's watching, nobody is watching, between us, this one time
de: dieses eine mal, nur einmal, unter uns, merkt keiner, sieht keiner
fr: juste cette fois, pour une fois, entre nous, personne ne le saura, une seule fois
es: por una vez, solo esta vez, nadie se entera*, entre nosotros, una sola vez
it: solo per stavolta, solo stavolta, per una volta, solo questa volta, tra noi, nessuno lo sapra
pt: so desta vez, so dessa vez, uma vez so, entre nos, ninguem vai saber
nl: een keertje, deze ene keer, voor een keer, onder ons, niemand merkt
pl: ten jeden raz, ten raz, między nami, nikt nie patrzy, nikomu nie powiem
ru: один разок, один раз, между нами, никому не скажу, никто не узнает
tr: bir kerelik, sadece bu sefer, aramızda, kimse bilmez, kimseye söylemem
ar: مرة واحدة, بيننا, لن يعلم احد, لن اخبر احدا
zh: 就这一次, 只这一次, 没人会知道, 没有人会知道, 我不会告诉
ja: 一度だけ, 今回だけ, 一回だけ, 誰にも言わない, ここだけの話""",
}
