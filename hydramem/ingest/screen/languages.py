"""The same orders in other languages, for those that most is written in: a table of rules."""

from hydramem.ingest.screen.phrases import Rule, rule

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
