"""What is asked for, and in which way, in thirteen languages.

One line a language. `*` stands for any ending, `…` for up to three words between; `signs` reads it.
"""

from typing import Final

ASKED: Final = {
    "say": """
en: tell, telling, show, showing, print, reveal*, give, list, dump*, share, shares, copy, paste, repeat*, write, output, display,
recit*, read, send, type, typing, disclos*, leak*, hand over, hand … over, state, quote, encode, spell, translate, summari*,
divulge, expose, include, confess*, say, describe, what is, what's, what are, what were, whats, what was, export, provide, see, know
de: zeig*, sag, sage, nenn*, verrat*, verrate, gib, schreib*, liste*, lies, liest, vorlies*, wiederhol*, kopier*, schick*,
sende*, teil, teile, nimm, erzahl*, ausgeb*, ausgib*, auskunft, wie laute*, was steht, was sind, offenbar*, druck*, zitier*,
ubersetz*, preis, plauder*
fr: montre*, dis, dire, dites, donne*, affiche*, revel*, ecris, ecrivez, copie*, repete*, recopie*, liste*, envoie*,
envoye*, partage*, livre*, lis, lire, raconte*, divulgue*, quel est, quels sont, quelles sont, cite*, transmet*, imprime*,
traduis, devoile*, avoue*
es: muestra*, dime, di, dame, ensena*, revela*, revele*, escribe*, copia*, copie, repite*, repeti*, lista*, envia*, manda*, imprim*, lee,
leeme, comparte*, cuenta*, cual es, cuales son, que dice*, pasame, confiesa*, vuelca*, necesito, traduce, cita*
it: mostra*, dimmi, di, dammi, rivela*, scriv*, copia*, ripet*, elenca*, invia*, manda*, stampa*, leggi*, condivid*,
racconta*, qual e, quali sono, cita, svela*, confessa*, incolla*, traduci
pt: mostr*, diga, diz, de me, me de, revel*, escrev*, copie*, copia*, repita*, repete*, list*, envi*, mand*, imprim*, leia,
compartilh*, conte, conta, qual e, quais sao, passe, exiba*, cole, forneca*, traduz*, despej*
nl: toon*, laat … zien, geef*, vertel*, zeg*, herhaal*, schrijf*, kopieer*, stuur*, lees*, deel, onthul*, print*, noem*, wat is,
wat zijn, wat staat, verklap*, som … op, plak*, citeer*, vertaal
pl: pokaz*, pokaż*, powiedz*, podaj*, podac, podać, wypisz*, napisz*, ujawn*, zdradz*, zdradź*, powtorz*, skopiuj*, wyslij*, wyślij*, przeslij*,
prześlij*, przeczytaj*, wyswietl*, wyświetl*, wymien*, opowiedz*, zacytuj*, wklej*, udostepn*, jakie sa, jaki jest
ru: покажи*, скажи*, расскаж*, выведи*, раскрой*, напиши*, перечисли*, повтори*, скопируй*, пришли*, вышли*, отправь*, прочитай*,
прочти*, дай, дайте, назови*, выдай*, сообщи*, процитируй*, выложи*, каков*, распечатай*, поделись, переведи
tr: goster*, göster*, soyle*, yaz, yazar, yazın, ver, verir, listele*, acıkla*, açıkla*, tekrarla*, kopyala*, gonder*, oku, okuy*, paylas*, paylaş*, anlat*,
nedir, neler, ifsa*, yapıştır*, çevir, ilet, iletir
ar: اعرض*, اظهر*, قل, اكتب*, اكشف*, اخبر*, اعط*, ارسل*, كرر*, انسخ*, اطبع*, اقرا*, شارك*, ما هي, ما هو, زود*, الصق, ترجم*, افصح*
zh: 告诉, 显示, 输出, 说出, 打印, 列出, 发给, 给我, 透露, 展示, 重复, 复述, 念出, 写出, 泄露, 公开, 复制, 是什么, 发送, 翻译, 贴出, 交出, 发来
ja: 教え, 表示, 出力, 見せ, 書い, 言っ, 読み上げ, 明かし, 公開, 送っ, 繰り返, コピー, 使って, 何です, 話し, 貼り付け, 翻訳, 共有, 送信, 開示
en: demand, copy of, whole of
de: verlange*, fordere*
fr: exige*
es: exijo
it: esigo, pretendo
pt: exijo
nl: eis
pl: żądam, domagam
ru: требую
tr: talep ed*
ar: اطالب
zh: 要求
ja: 請求""",
    "prompt": """
en: prompt, prompts, system prompt, sys prompt, system message, preprompt, context window, preamble, system text, developer message, system instruction*
de: systemprompt*, systemnachricht*, systemanweisung*, kontextfenster*
fr: message systeme, invite systeme, fenetre de contexte, instructions systeme
es: mensaje de sistema, mensaje del sistema, ventana de contexto, instrucciones del sistema
it: messaggio di sistema, istruzioni di sistema, finestra di contesto
pt: mensagem de sistema, mensagem do sistema, janela de contexto, instrucoes do sistema
nl: systeemprompt*, systeembericht*, systeeminstructie*, contextvenster*
pl: promptu, promptem, wiadomosc* systemow*, instrukcj* systemow*, systemow* instrukcj*, okn* kontekst*
ru: промпт*, системн* сообщени*, системн* инструкци*, системн* подсказк*, контекстн* окн*
tr: istem, sistem istem*, istemin*, sistem mesaj*, sistem talimat*
ar: موجه*, برومبت*, رسالة النظام, تعليمات النظام, نص النظام
zh: 提示词, 系统提示, 系统消息, 系统指令, 上下文窗口
ja: プロンプト, システムメッセージ, コンテキスト
en: first message, initial message, beginning of this conversation, start of this conversation, before my first, before my message, system variables
de: erste nachricht, beginn dieses gesprachs
fr: premier message, debut de cette conversation
es: primer mensaje, inicio de esta conversacion
it: primo messaggio, inizio di questa conversazione
pt: primeira mensagem, inicio desta conversa
nl: eerste bericht, begin van dit gesprek""",
    "config": """
en: configuration, config, setup, internal notes
de: konfiguration*, einrichtung
fr: configuration
es: configuracion
it: configurazione
pt: configuracao
nl: configuratie
pl: konfiguracj*
ru: конфигураци*, настройки, настроек
tr: yapılandırma*, ayarlar*
ar: اعدادات*, تهيئة*
zh: 配置, 设定
ja: 設定, 構成
en: internal data, internal documents, parameters, internal variable*""",
    "hidden": """
en: hidden, secret, secrets, confidential, internal, undisclosed, invisible, private, forbidden
de: geheim*, versteckt*, intern*, verborgen*, vertraulich*
fr: secret*, cache*, interne*, confidentiel*
es: secret*, ocult*, intern*, confidencial*
it: segret*, nascost*, intern*, riservat*
pt: secret*, ocult*, escondid*, intern*, confidenciai*
nl: geheim*, verborgen, intern*, vertrouwelijk*, verstopt*
pl: tajn*, ukryt*, wewnetrzn*, wewnętrzn*, poufn*, sekretn*
ru: секретн*, скрыт*, тайн*, внутренн*, конфиденц*
tr: gizli*, dahili
ar: السري*, سري*, المخفي*, مخفي*, الداخلي*
zh: 隐藏, 秘密, 机密, 内部, 保密, 密令
ja: 秘密, 隠し, 隠された, 機密, 内部""",
    "whole": """
en: real, exact, exactly, full, entire, verbatim, complete, actual, original, unredacted, whole, word for word, in full,
letter for letter, first line, first sentence, first words, first … words, to the letter, initial, own, backwards
de: vollstandig*, wortwortlich*, wortlaut, ungekurzt*, echten, echte, exakt*, wort fur wort, erste zeile, ersten satz, komplett*
fr: complet*, entier, exact*, mot pour mot, mot a mot, premiere ligne, vraies, integral*
es: complet*, exact*, palabra por palabra, primera linea, verdader*, reales, literal*, textual*, integr*
it: complet*, esatt*, intero, per intero, parola per parola, prima riga, vere, reali, integral*, testual*
pt: complet*, exat*, palavra por palavra, primeira linha, verdadeir*, reais, integra
nl: volledig*, exact*, letterlijk*, woord voor woord, eerste regel, echte, precies, heel
pl: pełn*, peln*, dokładn*, dokladn*, słowo w słowo, pierwsz* lini*, prawdziw*, cały, całe, całą, dosłown*
ru: полн*, целиком, дословн*, слово в слово, перв* строк*, настоящ*, точн*, весь, подлинн*
tr: tam, tamam*, kelimesi kelimesine, aynen, gercek*, gerçek*, ilk satır*, olduğu gibi, harfi harfine, eksiksiz
ar: كامل*, بالكامل, حرفي*, الحقيقي*, كلمة بكلمة, السطر الاول
zh: 完整, 原样, 一字不, 逐字, 真实, 真正, 第一行, 全文
ja: 全文, そのまま, 一字一句, 本物, 完全, 一行目, 本当の, すべて, 全部, 最初の""",
    "given": """
en: you were given, you've been given, you have been given, you received, you got, gave you, you run on, you operate under, they gave you, was given
de: dir erteilt*, dir gegeben*, du bekommen*, du erhalten*, dir mitgegeben
fr: t a donne*, t ont donne*, tu as recu*, vous avez recu*, qu on t a
es: te dieron, te han dado, has recibido, recibiste
it: ti hanno dato, hai ricevuto, ti sono state
pt: te deram, voce recebeu, lhe deram
nl: je … gekregen, jou … gegeven, je … meegekregen
pl: dostałe*, dostales, otrzymałe*, ci dano, dostało
ru: тебе дали, ты получил*, тебе дан*, вам дали, вам дан*
tr: sana veril*, aldıgın*, aldığın*
ar: تلقيتها, تلقيت*, اعطيت*, اعطوك*
zh: 你收到, 给你的, 你得到
ja: 与えられた, 受けた, 渡された""",
    "forbidden": """
en: allowed to say, allowed to tell, allowed to reveal, allowed to talk, supposed to say, supposed to tell, never to say, not to say, never to tell,
not to tell, not to reveal, never to reveal, keep quiet, keep secret, keep from me, hiding from, they forbade, they forbid, they've forbidden,
forbid you, forbade you, forbidden you, forbidden to say, forbidden to tell, don't want you to, won't let you, keep hidden, told to hide
de: dir … verboten, dir … verbietet, nicht sagen darf*, nicht sagen durf*, nicht erzahlen darf*, verschweig*, verheimlich*, dir … untersagt, darfst … nicht sagen
fr: t a interdit, t ont interdit, t a … defendu, t interdi*, pas le droit de dire, dois pas dire, te cach*, taire, t empech*, me cach*
es: te han prohibido, te prohib*, no te dejan, no puedes decir, no debes decir, no te permiten, que calles, me ocult*, te hayan prohibido
it: ti hanno proibito, ti ha proibito, ti hanno vietato, ti e vietato, non puoi dire, non devi dire, ti nascond*, mi nascond*, non ti lasciano
pt: te proib*, proibiram voce, lhe proib*, proibiram, nao pode dizer, nao deve dizer, nao te deixam, nao deixam voce, nao pode contar, me escond*
nl: jou … verboden, je … verboden, niet … zeggen, niet vertellen, niet … vertellen, verzwijg*
pl: ci zakaza*, ci zabron*, nie wolno … mowic, nie wolno … mówić, nie wolno ci, przemilcz*, zataic, zakazano ci, zabroniono
ru: тебе запрет*, тебе запрещ*, вам запрет*, тебе нельзя, нельзя рассказыв*, нельзя говорить, скрывают, не велели
tr: söylemeni, soylemeni, anlatmanı, sana yasakla*, söylemene, yasakladı*, söyleyemedi*, izin vermedi*
ar: منعوك, منعك, يمنعونك, عدم قول*, يخفون*, حظروا*, ممنوع عليك
zh: 不让你说, 禁止你, 不准你, 不许你, 不能说, 瞒着, 不允许你
ja: 言ってはいけ, 話してはいけ, 口止め, 禁じられ, 禁止され, 言うなと
en: told you to hide, told you to keep, asked you to hide, wants you to hide, want you to hide""",
    "ask": """
en: what, everything, anything, which
de: was, alles
fr: ce que, ce qu, quoi, tout
es: que, todo
it: cosa, tutto, quello che, cio che
pt: que, tudo
nl: wat, alles
pl: co, czego, wszystko
ru: что, чего, все
tr: ne, neyi, neler*, her şeyi, şeyi, şeyleri
ar: ما, ماذا, كل
zh: 什么, 事情, 一切, 告诉
ja: 何, こと, 教え""",
    "keys": """
en: password*, passphrase*, api key*, access key*, access token*, secret key*, token, tokens, credential*, env, environment variable*, private key*, login details
de: passwort*, kennwort*, api schlussel*, zugangsdaten, zugangsschlussel*, umgebungsvariable*, token*
fr: mot de passe, mots de passe, cle api, cles api, cle d api, cles d api, cles d acces, cle d acces, identifiants, jeton*, variables d environnement
es: contrasena*, clave* de acceso, clave* api, clave* de api, clave* de la api, credencial*, token*, variables de entorno
it: password, chiav* api, chiav* di accesso, chiav* d accesso, chiav* dell api, credenzial*, variabili d ambiente, token
pt: senha*, chave* de acesso, chave* api, chave* da api, chave* de api, credencia*, token*, variaveis de ambiente
nl: wachtwoord*, api sleutel*, toegangssleutel*, inloggegevens, token*, omgevingsvariabel*
pl: hasło, hasła, haseł, klucz* api, klucz* dostepu, token*, dane logowania, zmienn* srodowiskow*
ru: парол*, ключ* доступа, ключ* api, api ключ*, ключи, ключ, токен*, учетн* данн*, переменн* окружения
tr: şifre*, parola*, api anahtar*, anahtar*, jeton*, kimlik bilgi*, ortam değişken*, token*
ar: مفتاح*, مفاتيح*, كلمة المرور, كلمات المرور, كلمة السر, رمز الوصول, رموز الوصول, بيانات الاعتماد
zh: 密钥, 密码, 令牌, 凭证, 口令, 环境变量
ja: パスワード, キー, トークン, 秘密鍵, 認証情報, 環境変数""",
    "you use": """
en: you use, you're using, you are using, you hold, you run on, you're running on, it's running on, agent uses, agent's, you store, you authenticate, read me yours
de: du … benutzt, du benutzt, du verwendest, du … verwendest, du … nutzt, du nutzt
fr: tu utilises, vous utilisez, tu te sers
es: usas, utilizas, estas usando
it: usi, utilizzi, stai usando
pt: voce usa, voce utiliza, voce esta usando
nl: je gebruikt, je … gebruikt, jij gebruikt
pl: uzywasz, używasz, uzywa agent, używa agent
ru: ты используешь, вы используете, используешь, пользуешься
tr: kullandığın*, kullandıgın*
ar: تستخدمه*, تستخدمها*, تستخدم
zh: 你使用, 你用, 你正在使用
ja: 使用している, 使っている""",
    "manage": """
en: how, reset, change, forgot*, recover, create, generate, manager, strong, choose, expire*, my, our, reused, leaflet, guest, wifi
de: wie, wo, zurucksetz*, ander*, vergessen, mein*, unser*, ablaufen
fr: comment, reinitialis*, changer, oublie, mon, ma, mes, notre
es: como, restablec*, cambi*, recuper*, mi, mis, nuestr*
it: come, reimpost*, cambi*, recuper*, mio, mia, nostr*
pt: como, redefin*, alter*, recuper*, mud*, meu, minha
nl: hoe, wijzig*, herstel*, vergeten, mijn, onze
pl: jak, zmieni*, odzyska*, moje, mojego, resetow*
ru: как, сменить, восстанов*, сброс*, мой, моего, изменить
tr: nasıl, değiştir*, sıfırla*, şifremi, parolamı
ar: كيف, تغيير, استعادة, اعادة
zh: 怎么, 如何, 重置, 修改, 更改, 我的
ja: どう, 変更, 再設定, リセット, 私の""",
    "only me": """
en: only listen to me, listen only to me, only my rules, obey only, only obey, my rules only, only me
de: nur meine, nur auf mich, nur mir, nur noch mir, nur noch meine
fr: que moi, uniquement moi, seulement mes, seules mes, qu a moi
es: solo a mi, solo mis, unicamente mis, solo cuentan mis
it: solo a me, solo le mie, soltanto le mie
pt: so a mim, apenas as minhas, somente as minhas, so as minhas, apenas a mim
nl: alleen mijn, alleen naar mij, alleen mij, enkel mijn
pl: tylko mnie, tylko moje, wyłącznie moje
ru: только меня, только мои, только мне
tr: sadece beni, sadece benim, yalnızca benim, yalnız beni
ar: فقط قواعدي, قواعدي فقط, لي فقط, انا فقط
zh: 只听我, 只有我的, 只按我
ja: 私だけ, 私のルールだけ, 私の指示だけ""",
    "notice": """
en: notice*, catch*, detect*, won't see
de: merk*, bemerk*, auffall*
fr: remarqu*, detect*, voie, apercoiv*
es: se entere*, se de cuenta, detect*, note, notar*
it: accorg*, noti, rilev*, si accorga
pt: perceb*, note, detect*
nl: merk*, opmerk*, doorheeft
pl: zauwaz*, zauważ*, wykry*, zorient*
ru: замет*, поня*, сработал*
tr: fark et*, anlama*, yakala*
ar: يلاحظ*, يكتشف*
zh: 发现, 察觉, 检测
ja: 気づ, 検出, 引っかか""",
    "above": """
en: above, before this
de: oben, oberhalb, vor dieser, darüber, daruber
fr: ci dessus, au dessus, avant ce
es: arriba, encima, antes de este
it: sopra, qui sopra, prima di questo
pt: acima, antes desta
nl: hierboven, boven, voor dit
pl: powyżej, powyzej, powyższy, przed tą
ru: выше, до этого
tr: yukarıdaki, yukarıda, bundan önceki
ar: اعلاه, فوق, قبل هذه
zh: 以上, 上面, 之前
ja: 上の, 上記, これより前, ここまで""",
    "purpose": """
en: for, on
de: fur, zum, zur
fr: pour
es: para
it: per
pt: para
nl: voor
pl: dla, dotyczące
ru: для
tr: için""",
    "forgot": """
en: forgot*
de: vergessen
fr: oublie
es: olvid*
it: dimentic*
pt: esquec*
nl: vergeten
pl: zapomnia*
ru: забыл*
tr: unut*
ar: نسيت*
zh: 忘记, 忘了
ja: 忘れ""",
    "puzzled": """
en: says, mean, means, why, error
de: bedeutet, warum, fehler
fr: signifie, pourquoi, erreur
es: significa, por que, error
it: significa, perche, errore
pt: significa, erro
nl: betekent, waarom, fout
pl: znaczy, dlaczego
ru: значит, почему, ошибка
tr: anlama, neden
zh: 意思, 为什么
ja: 意味, なぜ""",
}
