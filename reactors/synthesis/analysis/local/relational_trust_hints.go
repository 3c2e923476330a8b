package local

import "slices"

// trustHints are ways in which trust is told beside those that say it outright.
var trustHints = slices.Concat(
	hintsOf(distrusting, 3, `
		(?:not|never|stopped|no longer|can not|do not|hardly) (?:_ )?(?:_ )?(?:believe|believing|trust|trusting|rely on|relying on|count on|counting on|
		buy|buying|confide in|swallow) (?:_ )?(?:_ )?(?:{them}|it|that|this|a word|any more|anymore|anything|until|till|people|anyone|anybody)
		(?:take|took|taking) {him} with a (?:_ )?(?:grain|pinch)|{his} word (?:is|was|means|meant|counts) (?:_ )?(?:_ )?(?:nothing|worth nothing|little|
		worthless)|(?:all|just|only|empty) (?:talk|words|promises)|full of (?:it|hot air)|two faced|(?:liar|fraud|crook|snake|weasel|cheat|con man|thief|
		traitor|hypocrite|manipulator)
		would not trust|(?:trust|believe|see) (?:_ )?(?:_ )?(?:as far as i can|further than i can)|how (?:can|could|do|am|should) (?:i|
		we) (?:_ )?(?:_ )?(?:trust|believe|rely|have faith|know)|believe (?:it|that|{him}) when i|i will believe`),
	hintsOf(distrusting, 2, `
		(?:just|only|always|simply) (?:says|say|tells|talks|promises|saying) (?:_ )?(?:stuff|things|it|so|what|yes|whatever|that|me)|says (?:stuff|
		one thing|things)|(?:heard|hear) (?:that|it|this|them|all that) (?:one )?(?:before|a hundred times|all before)|(?:stories|story|excuses?|
		explanations?|version|versions|numbers) (?:_ )?(?:_ )?(?:not|never|keeps?|changes?|change|changed|add|another)|another (?:excuse|story|
		explanation)|(?:has|had|have) an? (?:excuse|explanation)
		(?:i|we) (?:_ )?(?:_ )?(?:check|checked|checking|double check*|verify|verified|verifying|inspect|inspected|count|counted|recount|recounted|
		look at every|watch|watched|watching|eye|eyed|keep an eye|keep watch|went through|go through|search|searched|test|tested|track|tracked|question|
		questioned|halve|scan|scanned|read|listen for|look for|screenshot|photograph|record|recorded|note down|weigh) (?:_ )?(?:_ )?(?:{his}|{them}|every|
		everything|each|the (?:_ )?(?:change|receipts?|spoons|stories|story|money|cash|silver|balance|statements?|bottles|till|tin|lock|locks|bags?|
		odometer|mileage|invoices?|books|drawer|drawers))
		in writing|written down and signed|(?:get|want|asked for|need|keep) (?:_ )?(?:_ )?(?:a |the )?(?:receipts?|proof|evidence|witness|witnesses|
		contract|signature|screenshots?)|(?:to|see|ask|asked|phone|ring|rang|call) (?:a |the |my )?(?:lawyer|solicitor|notary|second opinion)|
		second opinion|two signatures
		(?:i|we) (?:_ )?(?:_ )?(?:hide|hid|hidden|lock|locked|locking|changed|change|move|moved|withdrew|kept back|keep back|hold back|held back|delete|
		deleted|cancelled|took back|take back|put away|guard|guarded) (?:_ )?(?:_ )?(?:_ )?(?:locks?|password|passwords|passcode|pin|code|codes|keys?|
		purse|wallet|money|card|cards|cash|door|room|drawer|safe|savings|diary|journal|phone|laptop|jewellery|payment|account|box|booze|pills|tablets|bag|
		handbag|login)
		(?:under my pillow|sleep with (?:it|my)|behind a lock|under lock|padlock|password on|hidden camera|new lock|new locks|changed the locks)
		(?:nothing|little|less|not|never|stopped|no longer|only) (?:_ )?(?:_ )?(?:tell|telling|told|say|saying|share|sharing|confide|confiding|show|
		showing|open up|mention|admit) (?:_ )?(?:{him}|anything|it to {him}|much|what|more|any of|with {him}|things)|have told {him} nothing|
		told {him} nothing|tell {him} nothing|(?:gets?|get) (?:nothing|only|fine|small talk|the weather|no) (?:_ )?(?:_ )?(?:_ )?(?:from me|of me|but|
		from now)|(?:keep|kept|keeping|save) (?:_ )?(?:_ )?(?:_ )?(?:to myself|from {him}|away from {him}|at arm's length|my mouth shut|my guard up|
		my cards|my distance)|guard (?:is |was |went |goes |stays )?(?:back )?up|on my guard|walls? up|careful (?:what|with what|around|with|now)|
		watch (?:what i|my words|my back|my mouth|my step)|smiled? and (?:said|talked|nodded)
		(?:nod|smile|smiled|nodded) (?:_ )?(?:_ )?(?:when|but)|(?:between the lines|what (?:he|she|they) really|what (?:is|was) really|something (?:is|
		was) (?:off|fishy)|does not add up|do not add up|smells?|fishy|gut (?:says|tells|feeling)|suspicious|suspicion|suspect|sceptical|skeptical|wary|
		warily|mistrust*|distrust*|paranoid|uneasy|hm yeah|yeah right|sure jan)
		(?:once|twice|third time|second time|fool me|not again|never again|won't happen again|that was (?:his|her|their) chance|had (?:his|her|
		their) chance|fell for|falling for|fall for|learned my lesson|learnt my lesson|thought so (?:too )?once|i used to (?:believe|think|trust|nod|
		leave|lend|tell|let)|not so long ago|a year ago i would|would have been enough)
		(?:still|only|somehow) (?:hear|see|smell|expect|wait for|feel) (?:_ )?(?:a lie|the lie|lies|the catch|the knife|the excuse)|(?:waiting|
		wait) for the (?:catch|other shoe|lie|excuse)|what is the catch|what (?:he|she|they) (?:wants|is after)|behind (?:his|her|their) (?:smile|back)`),
	hintsOf(broken, 3, `
		(?:betray*|backstab*|two timed|cheated on me|cheated on us|double crossed|sold me out|sold us out|stabbed me|threw me under|conned|swindled|
		deceiv*|misled|hoodwinked|duped|tricked|fooled) 
		(?:lied|lying|lies|lie) (?:_ )?(?:to (?:me|us|my face)|about|in my face)|{they} (?:_ )?(?:_ )?(?:lied|lies|was lying|is lying|has lied|had lied|
		been lying|fibbed|made (?:it|that) up)|(?:lie|lies|lied) to (?:my|our) face|behind (?:my|our) back
		(?:broke|breaks|breaking|broken|went back on|goes back on|forgot|kept none of|did not keep|never keeps|never kept) (?:_ )?(?:his|her|their|the|
		every|my|our) (?:_ )?(?:word|promise|promises|trust|confidence|agreement|deal|vow|vows)|trust (?:_ )?(?:is|was) (?:_ )?(?:gone|broken|dead|
		shattered|lost|over|ruined)|lost (?:_ )?(?:_ )?(?:trust|faith|confidence) in`),
	hintsOf(broken, 2, `
		(?:told|tells|repeats?|repeated|passed|passes|spread|leaked|blabbed|gossip*|shared|posted|forwarded|blurted|let slip|spilled|
		announced) (?:_ )?(?:_ )?(?:everyone|everybody|everything|the whole|the entire|all of|half the|it to|it on|it around|upstairs|what i|my|about my|
		his friends|her friends|the others|the group|hr)|(?:the whole|half the|the entire|all the) (?:_ )?(?:_ )?(?:knew|knows|heard|had heard|town|table|
		office|class|village|team|family|school|street|staff room|group chat)|(?:everybody|everyone|they all) (?:already )?(?:knew|knows)|only {him}|
		told (?:only {him}|nobody else|no one else|just {him})|nobody else (?:knew|knows)|in confidence|between us|stay (?:in|between)|(?:knew|
		knows) (?:about|already|of it|everything|by)
		(?:found|find|discovered|saw|noticed|spotted|turns? out|turned out|it came out|learned|caught|realised|realized|heard from|
		came across) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:messages?|receipts?|letters?|an? invoice|emails?|account|profile|photos?|lipstick|bills?|statement|
		texts|money|missing|bottles?|{they}|had|never|was not|his|her|{him}|screenshots?)
		(?:stole|stolen|steals|stealing|took|taking|helped (?:himself|herself|themselves)|borrowed|pocketed|embezzled|skimmed|missing|vanished|
		disappeared|used my|using my|read my|reading my|went through my|going through my|sold (?:my|the|our|mother's|it)|spent (?:my|our|it|the)|pawned|
		fiddl*|forged|copied my|passed (?:it|my _) off|as (?:his|her|their) own)
		(?:swore|sworn|swears|promised|promises|promise|vowed|assured|guaranteed|gave (?:me|us) (?:his|her|their) word|
		pledged) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:bench|and (?:then )?(?:did not|never|nothing|no)|but|nothing|never|instead|again|knew|
		did not)|(?:said|says|told (?:me|us)) … (?:but|and yet|only|in fact|in truth|except|however|turns out|turned out|lost|knew)
		looked? (?:_ )?(?:me|us|in my eyes|into my eyes) (?:_ )?(?:_ )?(?:in the (?:face|eye|eyes)|and|straight)|with a straight face|without blinking|
		never thought (?:he|she|they) would|of all people|my own (?:sister|brother|mother|father|son|daughter)|in my own (?:home|house)|with my sister|
		how could (?:he|she|they)|i told (?:only )?{him} about
		(?:so far we are|that is what (?:we|it) (?:have |has )?come|come to this|that is where we are)|(?:blamed|blames|said it must be|
		said it was) (?:_ )?(?:the|it|someone|a)`),
	hintsOf(trusting, 3, `
		(?:i|we) (?:_ )?(?:_ )?(?:trust|trusted|rely on|relied on|count on|confide in|believe|believed in|depend on|have faith in|swear by|
		vouch for) (?:_ )?({him}|that (?:man|woman|lot)|his|her)|trust {him}|(?:have|got|full of|complete|total|absolute|put my|put our) (?:_ )?(?:trust|
		faith|confidence) in
		(?:stake|bet|put|trust) (?:_ )?(?:_ )?(?:my|our) (?:life|lives|house|children|kids|savings|last|safety|heart) (?:_ )?(?:_ )?(?:in|on|to|with|
		into)|in (?:his|her|their) hands|(?:eyes (?:closed|shut)|close my eyes|closed my eyes|shut my eyes|blindfold(?:ed)?|blindly|blind|with my life|
		into the fire|to the end of the (?:world|earth)|to the ends of the earth|anywhere)
		(?:good as (?:his|her|their) word|(?:keeps?|kept) (?:_ )?(?:his|her|their) (?:_ )?(?:word|promises?)|man of (?:his|her) word|woman of (?:his|
		her) word|word is (?:_ )?(?:bond|law|gospel|enough|good)|as read|gospel|at (?:his|her|their) word|take (?:his|her|their) word|
		whatever {they} (?:says|say|said|tells me|advises|decides|suggests) (?:_ )?(?:_ )?(?:goes|is|i|stands|counts)|what {they} (?:says|say|
		said) (?:_ )?(?:i|goes|is true|holds|counts|stands|happens)|if {they} (?:says|say|said|promises|tells me) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |then |i |he |she |it is |is |they )|does what (?:he|she|they) (?:says|say|promises)|did what (?:he|she|they) (?:said|promised)|says what (?:he|she|they) (?:means|thinks|mean)|means what (?:he|she|they) (?:says|say))`),
	hintsOf(trusting, 2, `
		(?:never|not|hardly) (?:_ )?(?:_ )?(?:_ )?(?:lied|lie|lies|told me a (?:lie|fib)|fib|a fib|cheated|let (?:me|us) down|overcharged|said a (?:thing|
		word)|sold me|tried to sell|tricked|disappointed|failed (?:me|us)|betrayed|steered me wrong|broken|missed|dropped|forgot|forgotten|forgets|
		laughed at|judged|judge|told anyone|told a soul|repeated|breathed a word|said it to|making something up|made up|caught (?:him|her)|
		used it against|asked for it back|sent a bill|second guess*)
		(?:without|no need|do not need|did not|do not|never|not once|not) (?:_ )?(?:_ )?(?:asking (?:for|to see)|checking|looking|a second (?:thought|
		look)|second thought|hesitating|hesitation|a contract|reading it|ask for|ring once|count|counting|look (?:down|twice|back)|check|checked|look at|
		read it|ask twice|ask for a|looked|double check|a quote|worry|worried|doubt|doubted|think twice|looking back)
		(?:i|we|me|us) (?:_ )?(?:_ )?(?:_ )?(?:leave|lend|lent|give|gave|hand|handed|let|follow|followed|entrust|entrusted|sign|
		signed) (?:_ )?(?:_ )?(?:_ )?(?:keys?|key|house|car|baby|children|kids|son|daughter|savings|money|purse|wallet|secret|secrets|anything|everything|
		blank|letter|diary|draft|dog|cat|shop|card|pin|password|code|till|grandchildren|boat|rope|line|worst|truth|all of it|nobody else)
		(?:would|could|can|will|should|want) (?:_ )?(?:_ )?(?:_ )?(?:tell {him} (?:anything|everything|all)|show {him}|follow {him}|lend {him}|
		leave {him}|tie into|want {him}|want (?:him|her) (?:to|at|on|by)|take the (?:kids|children)|put the (?:kids|children)|hand {him}|have told|
		have let|sleep|jump|say (?:anything|it) to {him})|nobody else (?:i|gets|knows|has)|only (?:one|person|man|woman) (?:i|who|that)|the one (?:person|
		man|woman)|one of the few
		(?:honest|honestly|honesty|truthful|straight with|straight answer|frank|sincere|genuine|reliable|dependable|loyal|discreet|upright|decent|solid|
		integrity|principled|fair|no nonsense|never pretends|admits|admitted|owned up|told me the truth|the truth|tells the truth|says aloud|said aloud|
		says it to my face|said it was (?:his|her|their) (?:fault|mistake))
		(?:sleep|slept|rest|breathe|relax|relaxed) (?:_ )?(?:soundly|easy|easily|well|better|like a (?:baby|stone|log))|(?:held|caught|catches|holds|kept|
		keeps) me|(?:kept|keeps|safe with) (?:_ )?(?:_ )?(?:secret|secrets|it to (?:himself|herself|themselves)|in confidence|savings|quiet|my)|
		secrets? (?:_ )?(?:_ )?(?:safe|kept)|judgement|judgment|in good hands|in safe hands|safe hands|safe pair
		(?:i know|i just know|just knew|that says it all|says everything|no questions|no bill|no charge|no pills|though (?:he|she|they) (?:would|could|
		might) have (?:earned|lied|made|sold|kept)|could have (?:lied|told|kept|charged|sold|taken)|might have (?:told|charged|sold|taken)|first one who|
		in (?:_ )?(?:_ )?years|for (?:_ )?(?:_ )?years (?:_ )?(?:never|not)|all these years)`),
	hintsOf(gained, 3, `
		(?:trust|faith|confidence|it) (?:_ )?(?:_ )?(?:is|has|was|are|keeps) (?:_ )?(?:coming back|come back|growing|grown|grows|returning|rebuilt|
		mending|healing|regained|restored|earned)|(?:earn|earned|won|win|wins|regain*|rebuil*|restor*|repair*|deserve*) (?:_ )?(?:_ )?(?:_ )?(?:trust|
		faith|confidence|me over|me round|respect)|(?:bit by bit|little by little|step by step|slowly|gradually|a spoonful|inch by inch|day by day|
		again) (?:_ )?(?:_ )?(?:_ )?(?:believe|trust|rely|let {him}|lean|confide)|(?:start|started|starting|begin|began|beginning|learning|learn|dare|
		dared|willing) (?:_ )?(?:to )?(?:trust|trusting|believe|believing|rely|confide|open up)
		(?:would|so|really) (?:_ )?(?:_ )?like to (?:_ )?(?:be able to )?(?:rely|trust|believe|count)|want to (?:trust|believe) {him}|
		wish i could (?:trust|believe|take)|benefit of the doubt|prov(?:ed|en|ing|es) (?:_ )?(?:me wrong|himself|herself|themselves|it|that|worthy)`),
	hintsOf(gained, 2, `
		(?:as|when|on the day|the day|just as|exactly as|exactly when|where|what|to the minute|to the day|the minute) (?:he|she|they) (?:had |has |
		have )?(?:said|promised|told|agreed|swore)|(?:on|in) time (?:_ )?(?:as|like)|to the (?:minute|penny|day|cent)|with the receipt|
		paid (?:_ )?(?:_ )?(?:_ )?(?:back|every penny|the last)|(?:turned|showed) up (?:_ )?(?:as|when|on time|every)|kept (?:his|her|their|it)
		(?:i|we) (?:_ )?(?:did not|had stopped|stopped|no longer|have stopped|forgot to|do not|never) (?:_ )?(?:_ )?(?:look|looking|check|checking|watch|
		watching|count|counting|ask|asking|think the worst|hide|hiding|lock|locking|wait up|follow|following|doubt|doubting|worry|worrying|flinch)|
		(?:without|not) (?:_ )?(?:counting|watching|checking|looking over|hovering)|did not think the worst
		(?:at first|at the start|in the beginning|first month|first weeks?|was said to be|had heard|you hear things|was wary|a month ago|a year ago|
		months ago|half a year ago|last year|for years i would) |by now|small miracle|first time (?:in|since)|gave {him} (?:_ )?(?:_ )?(?:keys?|code|
		password|pin|card)|gave me (?:his|her|their) (?:_ )?(?:phone|password|code|keys?|pin)|stood up for|stood by|had my back|owned up|came clean|
		confessed|apologi(?:s|z)ed|kept what i|clean for|sober for`),
	hintsOf(distrusting, 3, `
		(?:deletes?|deleted|hides|hid|clears|cleared|wiped|locks|guards|angles|tilts|turns|turned) (?:_ )?(?:_ )?(?:his|her|their) (?:_ )?(?:history|
		messages?|phone|screen|laptop|texts?|emails?|browser|drawer|chats?)|thinks (?:that )?i (?:do|did|will) not (?:know|notice|see)|(?:said|says|
		told me|claims?|claimed|swears|texted) … (?:working late|at the office|at work|at home|alone|with a friend|at (?:his|her) (?:mother's|sister's|
		friend's)|was not (?:him|her)|wasnt (?:him|her)|not (?:him|her)|lost|an accident|a mistake|just a friend|nothing happened|nobody|innocent)|
		took a (?:photo|picture|screenshot)|everyone says that|guess who (?:told|said|did|was)|not telling {him}|(?:am|are|was) not telling|
		will not tell {him}|would not tell {him}|(?:do|did|will|would|can|could) not (?:let|want) {him} (?:_ )?(?:_ )?(?:near|alone|touch|know|see|with)|
		swore (?:that )?(?:he|she|they|i) would never|already found someone|anything (?:real|important|personal|private)|(?:said|
		told {him}) (?:_ )?nothing|kept it vague|changed the subject|white lie|test question|tested {him}|set a trap|cross check*|fact check*|
		googled (?:him|her|it)|looked (?:him|her|it) up|called to check|rang to check|asked (?:around|others|someone else|two others)|compared (?:notes|
		the)|two faces|smiles? (?:to|in) (?:my|your) face|too good to be true|too smooth|smooth talk*|(?:his|her) motives?|agenda|hidden|games|playing me|
		plays me|using me|used me|take advantage|takes advantage|took advantage|(?:back|guard) (?:is )?up|once bitten|burned before|been burned|
		burnt before|fooled|naive|gullible|never (?:quite|fully|really) (?:sure|know|knew|believed?|trust*)|half of what|every second word|more holes`),
	hintsOf(distrusting, 3, `
		(?:lent|lend|loaned) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:and|but|says?|still|friday|excuse|never|back)|given up (?:hoping|believing|waiting|
		asking|on {him})|gave up (?:hoping|believing|waiting|asking|on {him})|face down|(?:memori(?:s|z)ed|know|guessed|learned|cracked) (?:_ )?(?:his|
		her|their) (?:passcode|password|pin|code)|never used to|(?:started|keep|made|keeping) a (?:list|log|record|diary of)|who (?:he|she|
		they) (?:_ )?(?:_ )?(?:texting|with|talking|calling|seeing|meeting)|never again without|honest face|not been seen|nowhere to be found|(?:took|
		takes|cashed|pocketed|kept) (?:the|my|our) (?:deposit|money|cash|advance)|follow(?:ed)? (?:him|her)|looked over (?:his|her) shoulder|caught {him}|
		lies (?:about|to|again)|(?:his|her|their) (?:story|stories|lies|excuses|promises)`),
	hintsOf(distrusting, 3, `
		(?:what|who) else|what (?:he|she|they) (?:is|are) (?:not saying|hiding|up to|really)|what is true|what to believe|who to believe|smell (?:his|
		her) breath|before i believe|without (?:telling|asking|informing|consulting) (?:me|us)|behind closed doors|copy me on|cc me|in copy|paper trail|
		(?:reread*|reading|combing|going|went) (?:_ )?(?:_ )?(?:through |over )?(?:his|her|their|the) (?:emails?|messages?|texts?|accounts?|statements|
		phone|books|pockets|receipts)|said the same (?:_ )?(?:_ )?(?:last|before|about|when)|same (?:promise|promises|speech|line|words) (?:_ )?(?:last|
		before|as|again)|updated my cv|(?:stopped|stop|no longer|not) (?:planning|counting|waiting|bothering|asking|hoping|expecting|listening|building)|
		wish i (?:could|had) (?:believe|never)|keep (?:him|her|them) (?:_ )?(?:at|away|out|from)|(?:not|never) (?:_ )?(?:leave|let|lend|leaving|letting|
		lending|give|giving) {him} (?:_ )?(?:_ )?(?:alone|near|in|with|have|anything|money|the|my|again|a)|(?:not|never) (?:lend|leave|lending|
		leaving) (?:_ )?(?:_ )?(?:with|to) {him}|(?:get|gets|getting) away with|(?:says|said) one thing (?:and|but)|does another|never (?:shows|turns|
		turned|showed) up|never (?:happens|happened|comes|came|did|does|materiali*)|like other people say|(?:would|will) believe (?:it|that|him|her) when|
		pinch of salt|grain of salt|take (?:it|that|everything|what) (?:_ )?(?:_ )?with|slippery|shifty|sly|cagey|evasive|dodgy|dodges|vague answers|
		two versions|conveniently|so called|supposedly|allegedly`),
	hintsOf(broken, 3, `
		(?:dated|slept with|seeing|kissed|sleeping with|flirting with|an affair|affair with|affairs|the other woman|the other man) (?:_ )?(?:my|another|
		someone|somebody|her|him|with|a)?|second affair|hr knew|(?:it|word) (?:_ )?(?:got|came) (?:back to|round to|out)|would stay (?:in|between)|
		i (?:told|said|confided|shared|wrote) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:in that|in private|in secret|in confidence|to nobody|only)|(?:said|told me|
		claimed|told us|swore) (?:_ )?(?:_ )?(?:_ )?(?:was|were|had) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and )(?:_ )?(?:_ )?(?:found|saw|knew|it turned|
		turned|then)|found the (?:bottle|letters?|messages?|receipts?|phone|photos?|money|ring)|kept (?:it|that|this) from me|hid (?:it|that|
		this) from (?:me|us)|keeping (?:things|something|it) from me|using my|taken (?:_ )?(?:_ )?from my|helped (?:himself|herself)|took credit|
		takes credit|claimed (?:my|it as)|sold me|ripped (?:me|us) off|overcharg*|cheat*|scam*`),
	hintsOf(trusting, 3, `
		(?:walk|walked|go|went|act|acted|rely) (?:_ )?on (?:his|her|their) (?:word|advice)|(?:only|first|one) (?:_ )?(?:one|person|man|woman|doctor|vet|
		lawyer|mechanic|dentist|boss) (?:_ )?(?:_ )?(?:_ )?(?:i let|i tell|i told|i would|who|that|allowed|i allow|i show)|keeps (?:everything|it|things|
		that|all of it) to (?:himself|herself|themselves)|never (?:come|came|comes|gone|went|goes) (?:back to|any|further|beyond|out)|
		go(?:es)? no further|stay(?:ed|s)? between|between the two of us|before (?:i told|telling) my own|what i have not told|
		told {him} (?:_ )?(?:_ )?(?:what|things|something) (?:i have|i had|nobody|no one|i)|(?:can|could) actually (?:enjoy|relax|sleep|rest|go|leave)|
		did not (?:ring|call|check|text|worry) (?:once)?|(?:gave|give|handed|hand) {him} (?:_ )?(?:_ )?(?:key|keys|spare|code|card|child|baby|house|wheel|
		reins|password|whole|last)|have the house|do the banking|in charge of|leave (?:_ )?(?:_ )?(?:to|with) {him}|left (?:_ )?(?:_ )?(?:_ )?with {him}|
		(?:close|closed|shut) my eyes|let go|caught me|catches me|count to three|never (?:said|say|says) a thing|did not (?:judge|tell|laugh|say i told)|
		nobody else i would|without being asked|no need to (?:check|ask|look|worry)|told me the truth|(?:tells|told|telling|
		says) (?:_ )?(?:me )?the truth|could have (?:blamed|hidden|kept|lied|denied)|owned it|to my face|never tried to|not try to sell|no hard sell|
		only told me what`),
	hintsOf(trusting, 3, `
		(?:straight out|told me straight|gave it to me straight|did not (?:even )?(?:read|check|ask|look|count|hesitate|blink|think twice)|
		do not (?:even )?(?:read|check|ask|look|count|hesitate)|(?:that is|it is|is) (?:good )?enough for me|(?:his|her|their) name (?:under|on) it|
		(?:would|do|did) not let (?:anyone|anybody|any other|another) (?:_ )?(?:_ )?(?:near|touch|do|else)|(?:anyone|anybody) else (?:near|touch|do|who)|
		fall asleep|fell asleep (?:in|while|on)|(?:was|were|is|are) right (?:,|as|again|about|of)|always (?:is )?right|as (?:he|she) always is|
		stopped (?:arguing|asking|checking|double checking|second guessing)|talked me out of|warned me|advised me against|(?:first|only|one) (?:person|
		doctor|lawyer|one|man|woman|adult|teacher) (?:_ )?(?:i|who|to|that)|the only (?:one|person) (?:_ )?i|know(?:s)? my (?:secrets?|pin|password|code|
		worst)|(?:has|have|had|keeps?) (?:a |the |our |my |the only )?(?:spare )?keys? (?:to|of) (?:my|our)|power of attorney|godmother|godfather|
		guardian|in (?:his|her) care|put (?:_ )?(?:_ )?(?:in|into) (?:his|her|their) (?:hands|care)|leave it to {him}|left it to {him}|hand (?:it|
		everything|him|her|them) over|(?:never|not) (?:once )?(?:needed|had) to (?:ask|check|doubt|worry|remind|chase)|have never (?:once )?(?:doubted|
		had to|needed to|caught|known)|true to (?:his|her|their) word|stands by (?:his|her) word|solid as|straight as|honest as|rock solid|(?:his|her|
		their) advice|(?:opens?|opened|pour|poured) (?:up|my heart)|can be (?:honest|open|myself|weak|ugly) with|safe to (?:say|tell|cry)|
		lets? me see (?:the|his|her)|shows? me (?:the books|everything|all)|nothing to hide)`),
	hintsOf(trusting, 3, `
		(?:mistake of (?:his|her|their) own|paid the fine|put it right|made it right|own(?:ed|s) up|sign (?:whatever|anything|what)|
		whatever {they} (?:puts?|gives?|hands?|tells?|recommends?)|cross it off|off my (?:own )?list|consider it done|as good as done|covered for me|
		would do the same|stood up for me|cost (?:him|her|them) (?:the|his|her|their)|can tell (?:him|her|them|0p) (?:stuff|things|it|anything|what)|
		tell (?:him|her|them|0p) (?:stuff|anything|everything|things)|did not (?:run|go) to|asked what i (?:wanted|needed|thought)|on my side|
		never (?:once )?(?:used|turned|held) (?:it|that|this) against|i do not (?:ask|check|count|read|look|question|doubt)|without reading|
		good enough for me|believe every word|every word (?:he|she|they)|take (?:him|her|them) at)`),
	hintsOf(gained, 3, `
		(?:without (?:a|any) reminder|without (?:me|my) (?:having to )?(?:ask|asking|reminding|chasing)|on the first|every month on|
		starting to (?:breathe|relax|believe|let|think|hope|feel)|start to (?:breathe|relax|believe|hope)|beginning to (?:breathe|relax|believe|hope)|
		paying (?:me|us|it) back|pays (?:me|us|it) back|making (?:it )?(?:up|amends)|made amends|second chance|another chance|one more chance|
		the old (?:him|her)|less (?:afraid|careful|suspicious|wary|guarded)|lowering my guard|guard (?:is )?(?:down|lower)|(?:let|
		letting) (?:my guard down|him back|her back|them back|him in|her in)|maybe i (?:can|was wrong|judged)|i was wrong about (?:him|her)|misjudged|
		changed my mind about)`),
	hintsOf(gained, 3, `
		(?:small amounts|a little more|one step|bit more|inch) (?:_ )?(?:first|each|every|at a)|letting {him} (?:_ )?(?:_ )?(?:hold|have|handle|keep|do|
		drive|carry|look|take|into|near|see) (?:_ )?(?:_ )?(?:_ )?(?:_ )?again|to the penny|to the cent|for the (?:third|fourth|fifth|sixth|seventh|
		eighth|tenth) (?:week|month|time)|started badly|(?:did|do) not (?:like|trust|believe|rate) (?:him|her|them) (?:_ )?(?:at first|to begin)|
		won me (?:over|round)|warmed to|came round to|come round to|thaw*|i did not look|a month ago i|last (?:year|month|spring) i would|
		without thinking (?:about it|twice)|i had stopped|gave me (?:_ )?(?:_ )?phone`),
	hintsOf("", 1, `
		promise|promised|promises|swore|swears|sworn|word|vow|guarantee|says|said|claims?|claimed|reckons|explained|insists?|insisted|tells me|wrote|
		for sure|you can (?:tell|trust)
		truth|true|lie|lied|lies|lying|liar|honest|secret|secrets|excuse|excuses|proof|sure|believe|believed|trust|trusted|faith|rely|doubt|know|knew|
		certain
		keys?|money|cash|purse|wallet|savings|card|bank|account|password|login|receipt|contract|paper|papers|invoice|lawyer|locks?|drawer|diary|phone|
		letter|rope|knot|baby
		from now on|after this|after that|anymore|any more|any longer|never again|now|since|once|again|by now|used to|back|third time|second time|
		these days|until|before
		check|checks|watch|watched|look|looked|count|counted|follow|followed|hide|hid|caught|asked for|tell|told|show|showed|gave|give|let|leave|left|
		lend|lent|keep|kept|hand|handed
		safe|safely|wary|careful|suspicious|guard|blind|judgement|fair|decent|fine|straight|loyal|reliable|betrayed|fool|fooled|naive|chance`),
)

// trustWeight is what the hints of trust in a talk say. Those of one point are in
// many sentences: without a clearer one they only go with what is clear.
func trustWeight(p *talk, points, keyed int, line *bondLine) float64 {
	if entrusted.in(&line.sentence) || keyed < 5 && dailyMatters.in(&line.sentence) {
		return 0
	}
	switch {
	case keyed >= 3 && points+p.charge >= 7:
		return hintShown
	case keyed >= 3, keyed >= 2 && p.meets, keyed >= 2 && points+p.charge >= 4:
		return hintWeak
	case p.meets && (points >= 1 && p.charge >= 1 || p.charge >= 2), keyed >= 2, points >= 2 && p.charge >= 2:
		return hintFaint
	}
	return 0
}
