package local

// prospects is classes of what people want, fear and hold dear.
var prospects = map[string]string{
	"attain": `become|be|being|becoming|learn|learning|speak|master|build|create|start|found|launch|open|run|own|write|publish|finish|complete|
		graduate|qualify|earn|save|saving|buy|pay off|paid off|pay down|lose|gain|quit|stop|give up|get|move|emigrate|travel|pass|win|
		compete|reach|achieve|improve|play|record|release|retire|train|climb|swim|cycle|hike|study|apply|hold|have|live|make|get out|get
		into|get in|help|teach|change|conquer|beat|cut|reduce|grow|start up|set up|put|do|raise|restore|perform|finance|afford|leave|stay
		sober|stay clean|get sober|get fit|get promoted|walk|sail|see|bring`,
	"strive": `bring about|memorise|ship|play in|play for|complete|be the first|achieve|adopt|afford|bake|be a better|be a dad|be a father|be a good|
		be a mother|be a mum|be a parent|be able|be debt|be done|be enrolled|be fit|be fluent|be free|be gone|be good|be independent|be licensed|be living|
		be off|be out|be out of|be published|be ready|be rid|be sober|beat|become|break|break even|breed|change|climb|come off|compete|complete|compose|
		conquer|convert|create|cross|cure|cycle|design|direct|double|draw|earn|emigrate|exhibit|farm|feed|file|finish|follow|foster|found|get a clinic|
		get a degree|get a job|get a place|get back|get better|get citizenship|get down|get fit|get good|get into|get my bees|get my blood|get my degree|
		get my licence|get my life|get my own|get my sugar|get my weight|get off|get out|get out of|get over|get promoted|get rid|get sober|get the degree|
		get the job|get the licence|get the place|get the scholarship|get the title|get there|get through|get to|give the|give up|go back|go for it|go pro|
		graduate|grow|have a child|have a conversation|have a family|have a farm|have a garden|have a house|have a studio|have children|have finished|
		have it|have learned|have my|have our|have paid|have run|have saved|have written|heal|hike|hit|hold|hold down|improve|invent|keep bees|land|launch|
		learn|live|live from|live in|live off|live on|lose|make a living|make it|make partner|make senior|make the|manage|master|move|open|own|paint|pass|
		patent|pay|pay off|perform|play at|play in|play the|produce|publish|qualify|quit|raise|reach|read her|read him|read my|read the whole|read well|
		rebuild|record|recover|release|renovate|restore|retire|retrain|reverse|rid|row|run a|run at|run for|run it|run my|run the|sail|save|score|secure|
		see it|sell my|sell our|serve|set up|sign|sit|speak|stand for|stand up|start|stop|swim|talk to my|talk with|teach|tour|train|turn pro|walk|
		walk again|walk the|walk without|win|write`,
	"horizon": `before (?:the |my |our |his |her |i |we |she |he |it |they |winter|summer|christmas|spring|school|prom|term|thirty|forty|fifty|sixty|
		i am)|(?:until|till|til) (?:the |my |our |i |we |summer|winter|spring|autumn|christmas|trials|then)|next (?:month|may|june|july|august|september|
		october|november|january|february|march|april)|(?:in|by|this|next|from|until|till|of) (?:january|february|march|april|may|june|july|august|
		september|october|november|december|spring|summer|autumn|winter|easter)|at (?:the fair|sixty|fifty|forty|thirty)|by (?:the|his|her|our|their|this|
		that|_ (?:of|i|we|when))|deadline|(?:at the end of|end of|end of the) (?:year|the year|summer|month|term|september|june)|for (?:_ )?years|
		in (?:_ )?(?:_ )?weeks|within|(?:_ )?years? (?:of|ago)|this year's|when i (?:retire|turn)|since i was|one day|some day|someday|eventually|next year|
		this year|by (?:the
		end|next|christmas|summer|spring|autumn|winter|fall|january|february|march|april|may|june|july|august|september|october|november|december|my|the
		time|then|new year|easter|age|2027|2028|2029|2030)|before (?:i am|i turn|i die|my|the baby|the end|i retire)|in (?:_ )?(?:_
		)?(?:years?|months?)|within (?:_ )?(?:_ )?(?:years?|months)|this (?:summer|autumn|winter|spring|season)|next
		(?:summer|autumn|winter|spring|season|spring|fall)|for good|in my life|in life|long term|over the next (?:_ )?(?:years?|months)|in
		the long run|when i (?:am older|grow up|graduate|retire|leave school)`,
	"feat": `lsat|gmat|mcat|gre|ielts|toefl|open university|letters after|division|first division|bicentenary|festival|steam|quran|hospice|
		naturalisation|passport|own game|wheel|routine|first in my family|trail|organic|bookshop|shelter|association|recognition|ten k|eisteddfod|award|
		astronaut|space camp|maths club|school award|market|out of the red|in the red|betting|gambling|pull ups|pullups|master craftsman|apprenticeship|
		subs|subscribers|course|courses|certificate|internship|residency|expedition|grade 8|grade|citizenship|clinic|patent|licensee|grandson|own house|
		straw bale|first frost|deputy|ward manager|coast path|attempt|nationals|national finals|finals|bench|judge|recorder|savings|self sufficient|garden|
		channel|qualifier|prom|driving test|driving|test|licence|title|candidate|candidate master|b1|b2|c1|c2|exam|soap|flat fund|flat|dissertation|
		conclusion|dev|developer|job|dev jobs|jobs|speech|stage|van|camper|sub3|sub|pb|ged|gcse|gcses|a levels|colonies|honey|fair|picture book|publisher|
		publishers|normal|sugar|tablets|adoption|adopt|adopters|panel|youth orchestra|orchestra|new zealand|canada|australia|abroad|senior|union rep|
		elected|rep|lake|exhibition of|series|boat|sail|seaworthy|water|harbour|planks|shop window|own money|solo|lead role|title role|first team|squad|
		academy place|place at|place in|a place|ivf|clear of debt|free of debt|in the black|half way|self|own label|own brand|own two feet|knees|crutches|
		without a stick|without crutches|pull up|pull ups|handstand|splits|bench press|deadlift|unassisted|by heart|whole book|the whole of|read|
		read and write|website|app|podcast|channel|subscribers|followers|launch|release|beta|album|ep|single|gig|tour|festival|grant|funding|investor|
		investors|stall|stand|market|brand|premises|field|acre|acres|orchard|flock|herd|hive|hives|cabin|roof|extension|workshop|sculpture|collection|
		archive|museum|library|playground|youth club|shelter|well|orphanage|law|petition|seat|council|mayor|parliament|mp|world record|record|gold|medal|
		silver|bronze|podium|trophy|cup|belt|rank|rating|elo|grandmaster|summit|peak|mont blanc|kilimanjaro|matterhorn|pct|appalachian trail|crossing|
		solo trip|round the world|channel islands|trip of|degree in|degree|bachelor|master|masters|bar|bar exam|viva|chartered|registered|accredited|
		certified|chef's|michelin|partner|partnership|tenure|chair|lectureship|professorship|headship|head of|director|principal|team leader|supervisor|
		foreman|inspector|sergeant|officer|commission|cadet|firefighter|paramedic|police|army|navy|interpreter|translator|sommelier|barista|tattoo artist|
		plumber|mechanic|welder|conservatory|competition|race|tournament|physiotherapist|park ranger|ranger|classes|own|salon|mill|paramedic|beekeeper|
		judge|captain|photographer|dancer|actor|actress|singer|baker|hairdresser|farmer|dentist|
		pharmacist|biologist|firefighter|policeman|veterinarian|vet|translator|coach|manager|foreman|director|evening school|triathlon|
		patagonia|marathon|half marathon|triathlon|ironman|degree|diploma|certificate|licence|license|exam|exams|promotion|business|
		bakery|company|cafe|shop of my own|studio|practice|startup|own home|house|apartment|flat of|cottage|book|novel|memoir|album|
		language|spanish|french|german|italian|japanese|chinese|czech|portuguese|russian|arabic|korean|english|guitar|piano|violin|weight|
		kilos|pounds|kg|smoking|drinking|sober|alcohol|sugar|debt|loan|mortgage|deposit|doctor|nurse|teacher|lawyer|engineer|pilot|artist|
		writer|musician|programmer|medicine|university|college|school|med school|scholarship|phd|master's|thesis|abroad|mountain|everest|
		camino|sea|farm|garden|fluent|fluently|independent|retire|fit|healthy|healthier|stronger|parent|parents|child|marry|family of|
		patient|team|national|championship|olympics|black belt|career|profession|freelance|own exhibition|citizenship|visa|better at|good
		at|public speaking|off the grid|personal best|orchestra|team lead|restaurant|world|sobriety|ironman|10k|5k|ultra|award|
		record|tournament|choir|stage|shop|emergency fund|retirement|foundation|charity|school of my own|boat|workshop|accountant|surgeon|
		chef|therapist|psychologist|scientist|midwife|vet|carpenter|electrician|programmer|journalist|architect|designer|professor`,
	"dire": `do not know how|close the plant|kick me|kicked off|not recognise|not recognize|like this forever|never find|never be|not a good|
		not a great|being left|left behind|amputate|bailiff|sell the|sell our|sell my|fold|folds|folding|let them all go|using again|
		drinking again|custody|pay for it|never speaks|i die|goes under|fail|fails|failing|failed|failure|lose|loses|losing|lost|loss|
		alone|lonely|die|dies|dying|died|dead|death|end up|ending up|ends up|ended up|never|no longer|fired|laid off|let me go|sacked|
		redundant|homeless|broke|bankrupt|bankruptcy|cancer|tumour|tumor|illness|ill|sick|dementia|alzheimer's|stroke|leave me|leaves me|
		leaving me|left me|abandon|abandons|abandoned|abandoning|reject|rejects|rejected|rejection|cheat|cheats|divorce|divorced|
		disappoint|disappointing|let everyone down|let them down|letting|ruin|ruins|ruined|ruining|mess up|mess it up|mess this up|
		messing|screw up|screw it up|blow it|found out|find out|exposed|laugh at me|laughing at me|humiliate|humiliated|embarrass|forget
		me|forgets|forgotten|hate me|hates me|relapse|stuck|regret|wasted|waste|too late|burn out|break up|breaks up|breaking up|collapse|
		collapses|unemployed|cope|hurt|hurts|crash|accident|miscarry|miscarriage|infertile|evicted|deported|deport|go back|refused|refuse|
		extend|blind|deaf|paralysed|wheelchair|nursing home|not enough|not good enough|not be enough|not make it|not wake up|not survive|
		not pass|not know who|not get in|not get into|go under|out on the street|on the street|nobody|no one|nothing|worse|destroy|
		destroyed|everything is over|is over|be over|turn out like|turn into|become like|repeat the year|drop out|thrown out|kicked out|
		expelled|disown|disowns|replace me|replaced|replaces|come back|comes back|came back|has come back|spread|spreads|shows it|next
		one|be next|the fourth|panic|fall apart|falls apart|fade|drift apart|grow apart|strangers|go wrong|goes wrong|bad mother|bad
		father|bad parent|bad mum|burden|trapped|empty|war|fall ill|get sick|get worse|gets worse|give up on me|suffer|pain|prison|jail|
		attack|attacked|shut down|sell up|give up|closing|close down|choke|freeze|forget|forgetting|unable|not be able|lonelier|suicide|
		kill|killed|drown|fire|flood|burn down|taken away|take away|take my|takes my|poverty|poor|debt|useless|unloved|unlovable|
		childless|single forever|get caught|run out of money|not afford|lose my mind|go mad|go crazy|can not play|can not walk|can not
		work|can not see|without`,
	"afraid": `afraid|scared|terrified|petrified|frightened|fearful|panicked|panicking|dreading|paranoid|worried sick|sick with worry|scared to
		death|worried|anxious|nervous|in fear|in dread|haunted|tormented|desperate`,
	"virtue": `fair|standing up|speaking up|lying|violence|freedom's|mankind|life|a life|dignity|respect|right|rights|the right|decision|her say|his say|
		choice|comfort|getting it right|hurt|the weak|the poor|the old|old people|sharing|giving|helping|looking after|caring|keeping|promise|word|grudge|
		picket|house|door|open door|plate|something lovely|safety|science|looking after|each other|the forest|the truth|own money|own master|equal|laughing|
		humour|a cleaner|poverty|manners|thrift|frugality|effort|duty|honour|honor|mercy|patience|restraint|chastity|purity|wisdom|harmony|unity|homeland|
		country|land|soil|heritage|language|ancestors|memory|remembering|listening|presence|attention|care|thoroughness|precision|quality|time with|
		being present|self reliance|self determination|liberty|free speech|speaking freely|transparency|accountability|merit|stewardship|creation|animals|
		living thing|living things|creatures|non violence|pacifism|hospitality|politeness|courtesy|tact|discretion|confidentiality|confidence|fidelity|
		faithfulness|marriage|vows|prayer|sabbath|ritual|play|joy|fun|beauty|silence|rest|sleep|body|boundaries|consent|solidarity|solitude|mercy|honesty|
		integrity|truth|truthfulness|loyalty|family|freedom|independence|kindness|compassion|fairness|justice|
		equality|dignity|respect|courage|responsibility|privacy|creativity|curiosity|learning|knowledge|education|faith|god|religion|
		humility|generosity|gratitude|friendship|love|health|nature|environment|planet|community|tradition|hard work|work ethic|
		discipline|excellence|craft|beauty|authenticity|trust|peace|solidarity|tolerance|openness|sincerity|decency|patience|modesty|
		simplicity|security|stability|balance|adventure|humour|humor|transparency|autonomy|self respect|being honest|being kind|being
		there|being fair|being true|being able|telling the truth|keeping my word|my word|my children|my kids|my family|my friends|my
		faith|my freedom|my independence|children|kids|friends|people|service|helping|animals|reliability|punctuality|craftsmanship|
		sustainability|good work|promise|promises|principle|principles|the truth|my daughter|my son|my wife|my husband|my parents|
		conscience|charity|mercy|forgiveness|belonging|equal rights|human rights|democracy|music|art|home|roots|culture|my health`,
	"moral": `honest|fair|kind|loyal|true|reliable|generous|just|open|decent|faithful|independent|free|helpful|respectful|truthful|sincere|
		humble|grateful|patient|authentic|brave|responsible|honourable|honorable|there for (?:people|others|my _|them|her|him)|straight
		with|of use|tolerant|gentle|polite|punctual|modest|thorough|compassionate`,
	"matters": `(?:matters?|mattered|counts?|means?|meant) (?:more|most|so much|a lot|the most|a great deal|everything|the world) (?:to|for) me|
		means? more to me|means? everything|means? the world|means? so much|means? a lot to me`,
	"intend": `want to|would like to|wanna|am going to|plan to|intend to|mean to|aim to|hope to|aspire to|am determined to|have decided to|
		decided to|am planning to|am hoping to|have resolved to|resolved to|am trying to|have set out to|have promised myself to|promised
		myself to|would love to|long to|dream of|am dreaming of|have always wanted to|have always dreamed of|always wanted to|am working
		to|am learning to|am saving to|am training to|am studying to`,
}
