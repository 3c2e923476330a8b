package local

// What a sentence may say of a feared outcome.
const (
	dreading mark = 1 << iota // is afraid of it
	uneasy                    // worries, cannot sleep, is sure of the worst
	returns                   // sees it again and again
	foresees                  // sees it
	whatIf                    // asks what if
	ahead                     // of what may come
	modal                     // that it will, might, would
	ifSo                      // if this happens
	bad                       // an outcome that one may fear
	mildly                    // with a word for small fears only
)

var fearSigns = scores{
	{dreading, 2, cues(
		`(?:i|we) (?:_ )?(?:_ )?(?:_ )?(?:fear|dread|dreading|fearing|panic|panicking|shudder|tremble)`,
		`(?:i|we) (?:am|are|feel|live|get|have|be|was|still) (?:_ )?(?:_ )?(?:_ )?(?:afraid|scared|terrified|petrified|frightened|fearful|panicked|in fear|
		in dread|in terror|haunted|paralysed|horrified|spooked|freaked out|tormented)`,
		`^ (?:so |really |just |too |still |always |a bit |also |and |honestly |low key |lowkey |kinda |kind of )?(?:afraid|scared|terrified|petrified|
		frightened|dreading|panicking|freaking out) `,
		`(?:scares?|frightens?|terrifies|petrifies|horrifies|haunts?|haunting|scaring|frightening|panics|freaks|torments?|paralyses|paralyzes|chills|
		kills) (?:the life out of |the hell out of |the shit out of |the living daylights out of )?(?:me|us)`,
		`(?:my|the|our|a|this|that|always) (?:_ )?(?:_ )?(?:fear|fears|nightmare|nightmares|dread|terror|horror|phobia|worst case|worst fear|doom)(?: is|
		 that| of| ,| would| about| gets| $| comes| sits| in| has| grows| and|$)`, `(?:fear|fear's|horror|terror|dread) (?:of|that|is that)`,
		`(?:the|my) (?:worst|thing i (?:_ )?fear)`,
		`(?:have|had|got) (?:a |this |such a |the )?(?:_ )?(?:fear|dread|horror|terror|nightmares?|premonition|foreboding)`,
		`nightmares? (?:about|of|where|in which|that)`, `for fear (?:of|that)`, `fills (?:me|us) with (?:dread|fear|terror|horror)`,
		`(?:can not|could not|do not) stop (?:fearing|dreading|being afraid|panicking)`, `(?:keep|kept) (?:dreading|fearing|panicking)`,
		`scared (?:shitless|stiff|to death|witless)`, `(?:worried|sick) (?:sick|with (?:worry|fear))`,
		`(?:is|are) what i (?:_ )?(?:_ )?(?:fear|dread|am afraid of|am most afraid of|am scared of)`, `the thing i (?:_ )?(?:fear|dread)`,
		`worst thing (?:i can|that could|that can)`, `the worst (?:would|will|that)`, `(?:what|that) (?:_ )?(?:scares|frightens|terrifies)`,
	)},
	{uneasy, 1, cues(
		`(?:i|we) (?:_ )?(?:_ )?(?:worry|worried|worrying|fret|fretting|stress|agonise|brood|obsess|brace|wonder)`,
		`(?:am|are|feel|feeling|get|getting|^) (?:_ )?(?:_ )?(?:worried|anxious|nervous|uneasy|sick|cold|desperate|bracing|braced|paranoid|convinced|
		certain|sure|worrying)`, `(?:worries|bothers|follows|chokes|crushes|eats|gnaws|nags|breaks|stalks|wakes|keeps) (?:at )?(?:me|us)`,
		`(?:dare|dares|daren't|daren t) (?:not)?`, `do not dare`,
		`(?:can not|could not|do not|not) (?:_ )?(?:sleep|eat|breathe|rest|relax|concentrate|think (?:of|about) anything|let (?:me )?go|shake (?:it|the|
		this|that) off)`, `(?:lie|lay|lying|wake|woke|am|awake|up|listen|sit|sat|think) (?:_ )?(?:_ )?(?:awake|up at|at night|at
		(?:three|four|3|4|two|2)|all night|in the dark)`, `at night (?:i|it|,)`, `keeps? (?:me|us) (?:up|awake)`,
		`(?:my )?(?:heart|stomach|chest|throat|blood|knees|hands) (?:stops|stopped|sinks|drops|dropped|tightens|turns|runs|goes|races|pounds|shake|shakes|
		was going|freezes|sank)`, `(?:cold|sick|ill|faint|dizzy|numb) (?:all over|inside|with|to my|at)`,
		`(?:felt|feel|feeling|makes me feel|make me|makes me) (?:_ )?(?:sick|cold|ill|physically)`,
		`(?:out of|leave|leaves|from|in|inside) my (?:head|mind|chest)`, `thought (?:of|that|about|, |follows|chokes|comes|crosses|won't)`,
		`(?:has|have|had|will|would) not let (?:me|go)`, `(?:hardly|barely) (?:_ )?(?:think|thought|sleep|slept|eat|breathe)`,
		`think(?:ing)? (?:_ )?(?:_ )?(?:all the time|constantly|day and night|every (?:day|night)|of nothing else)`,
		`(?:sat|sits|lies|weighs) (?:_ )?(?:_ )?(?:on|in) my (?:chest|stomach|mind|heart)`, `not ready for`, `(?:must|may) not happen`,
		`(?:cry|crying|shaking|shiver|shivering|sweat|sweating|trembling)`,
		`i (?:can not|could not) (?:bear|face|stand|imagine|cope|handle|take|survive)`,
		`(?:packed a bag|checked (?:_ )?(?:_ )?(?:_ )?(?:times|again)|counting in my head|cover(?:ed)? the|look it up every|read this each)`,
		`the idea of`, `(?:gives|give|gave|leaves) (?:me|us) no (?:rest|peace|sleep)`, `makes? me (?:_ )?(?:shiver|shudder|cry|sick|tremble|sweat|ill)`,
		`i (?:just )?know (?:he|she|they|it|we|i|that)`, `(?:i|we) (?:_ )?froze`, `(?:i|my) (?:_ )?(?:knees|legs|hands) (?:gave|went|go|give)`,
		`(?:can not|could not) (?:_ )?(?:hear|see|read|open|think of|look at) (?:_ )?(?:_ )?without`,
		`(?:keep|have|packed) (?:_ )?(?:_ )?(?:_ )?by the door`, `check (?:_ )?(?:_ )?every`, `(?:always|constant) (?:this |that |the )?worry`,
		`^ (?:_ )?(?:panicking|worried|anxious) `, `who i would be`, `could not live with`,
		`(?:every|each|any) (?:time|letter|call|phone|twinge|morning|night|cough|ring|knock|evening|test|scan|ache|message|email|headline|siren)`,
	)},
	{returns, 2, cues(`(?:my|the) (?:head|mind|brain) (?:tells|says|whispers|insists)`, `had the (?:_ )?(?:dream|nightmare) again`,
		`(?:can not|could not) shake (?:off )?(?:the|this|that)`,
		`(?:keep|keeps|kept|can not stop|could not stop|always|constantly|every night|each night|again and again|
		over and over) (?:_ )?(?:_ )?(?:_ )?(?:seeing|see|picturing|picture|imagining|imagine|imagined|thinking|think|having this|dreaming|dream|showing|
		hearing|replaying|rehearsing|coming back to)`,
		`(?:my|the) (?:mind|head|brain|imagination) (?:_ )?(?:_ )?(?:showing|shows|plays|playing|goes|jumps|paints|painting|runs|keeps)`,
		`that (?:picture|image|film|scene|thought) (?:of|in|again|where)`, `(?:picture|image|vision|thought|film) (?:of|in my head)`,
		`i already (?:see|hear|feel|imagine|picture|know)`, `in my (?:head|mind|dreams|nightmares) (?:i )?(?:_ )?(?:see|am|there|hear|watch)`,
		`(?:see|saw) (?:my|our) (?:whole |entire )?(?:future|life|career) (?:go|going|fall|collapse|end|vanish|down)`)},
	{foresees, 1, cues(`(?:i|we) (?:_ )?(?:_ )?(?:see|saw|picture|imagine|dream|dreamt|dreamed|thought|think|know|imagined|wonder)`,
		`(?:picturing|imagining|seeing|dreaming|imagined)`, `(?:immediately|at once|straight away) (?:the|i)`,
		`(?:it is|it'll be|that could be|next it is|next is|next) (?:me|mine|my|us|our)`)},
	{whatIf, 2, cues(`what if`,
		`what (?:will|would|shall|should) (?:_ )?(?:_ )?(?:become|happen|be|do) (?:_ )?(?:_ )?(?:_ )?(?:if|when|to|of|then|once)`,
		`(?:what|where) (?:will|would|do|shall) (?:i|we|they|he|she|my _) (?:_ )?(?:_ )?(?:if|when|then|without)`, `(?:and )?then what`, `what am i`,
		`who (?:will|would) (?:look after|take care|care|be there|pay|feed|find|want|remember|visit)`,
		`(?:maybe|perhaps) (?:this is|it is|that is|this was|next)`, `is (?:this|it) (?:the last|it)`)},
	{modal, 1, cues(`(?:will|might|could|may|would|going to|about to|shall) (?:_ )?(?:_ )?_`,
		`(?:scared|afraid|terrified|frightened|petrified|fear|dread|nightmare|frightens me|scares me|horror) (?:of |is |, |about )(?:_ )?(?:my |our |not |
		one day |ever |him |her |them )?(?:losing|being|dying|ending|becoming|leaving|going|having|getting|waking|falling|failing|growing|turning|finding|
		making|blacking|hurting|forgetting|passing|picking|missing|running|facing|living|standing|seeing|coming|letting|never)`,
		`(?:i|we) (?:_ )?(?:dread|fear) (?:having|losing|being|going|the (?:day|moment|call|phone|letter|auction|results?|scan|end|knock|news|night|morning|
		future|diagnosis|verdict|hearing|next|last|big))`,
		`(?:scared|afraid|terrified|frightened) of (?:the|that) (?:knock|call|letter|day|future|next|end|results?|scan|diagnosis|verdict|phone)`,
		`dread of the`)},
	{ahead, 1, cues(`(?:coming|comes|is next)`,
		`(?:one day|someday|some day|sooner or later|eventually|in the end|before long|any day|one night|next time|this time|in (?:_ )?years?|by christmas|
		in _ years|before (?:fifty|forty|sixty|i)|for good|again|next|forever)`,
		`the (?:day|call|phone call|letter|moment|knock|news|results?|last time|next|big one|next one)`,
		`(?:that|of) (?:i|we|he|she|they|my|it|the|our|one) `,
		`(?:scared|afraid|terrified|frightened|petrified|horror|dread|fear) (?:that |of )?(?:i|we|he|she|they|my|it|the|our|going|losing|being|a|having|
		becoming|dying|ending|never|_)`, `in case`)},
	{ifSo, 1, cues(`(?:if|when|once|unless|should) (?:i|we|he|she|they|it|the|my|our|nobody|this|that|nothing|one|all)`,
		`(?:one|two|three) (?:_ )?(?:bad|wrong|more|months?|mistake)`)},
	{bad, 1, cues(`(?:afraid|frightened|scared|terrified|horror) of (?:having|blacking|losing|being|becoming|never|dying|ending|leaving|failing|
		waking up|falling|hurting|making)`, `(?:i|we) (?:_ )?fear (?:that )?(?:it all|they|he|she|for my|for our|for the)`, `{dire}`, `{doom}`,
		`(?:will|shall|may|might) (?:_ )?(?:not|never)`,
		`(?:can|could) (?:not|never) (?:_ )?(?:have|find|play|sing|walk|work|pay|breathe|save|afford|stop it|cope|move|speak|reach|get out)`,
		`(?:nobody|no one|nothing|none|no) (?:_ )?(?:will|left|ever|can|would|comes|notices|there)`, `not be enough`,
		`(?:throw|throws|take|takes|leave|leaves|drop|drops|send|sends|kick|kicks|cut|cuts|turn|turns|forget|forgets) (?:me|us|him|her|them) (?:out|away|
		off|from|for|back|against|behind|$)`, `without (?:her|him|them|me|a mother|a father|us)`,
		`(?:goes|go|going) (?:to the wall|under|wrong|down|off|up in)`, `changes? (?:her|his|their) mind`, `(?:nobody|no one) (?:notices|to hold)`,
		`starting again|coming (?:in )?again|happen again`)},
}

// anybodys is marks of what may come: it may be of anybody, and a denial, as in "they will
// not extend it".
const anybodys = ahead | modal | ifSo | bad | whatIf

var dooms = map[string]string{"doom": `going blind|go blind|give the children|gives the children|takes them|take them|takes (?:_ )?away|
		take (?:_ )?away|taken from|drops me|drop me|drops us|cuts me|not keeping|not keep|not extend|
	send me back|send us back|sends us back|must leave|have to leave|make us leave|nobody will|no one will|nobody pays|no job|no work|out of work|
		out of a job|lose the|lose my|lose our|lose him|lose her|
	lose them|lose it|lost it|comes with papers|papers instead|speechless|speak again|walk again|play again|see again|work again|breathe again|inquest|
		grave|funeral|coffin|ashes|ambulance|hospital|hospice|
	intensive care|ward|morgue|casket|widow|widowed|orphan|orphans|empty bed|empty beds|empty house|empty chair|empty wardrobe|empty flat|empty nest|
		gets it wrong|get it wrong|getting it wrong|make the mistake|
	a mistake|mistakes|must pay|come out of|carry out|carry away|sell up|close the|closes the|in a drawer|in the drawer|skip|unread|not one reader|
		never happens|called up|drafted|have to run|flee|bomb|bombs|
	invasion|invade|shelling|occupied|same way|not knowing|not know|bury|burying|on the floor|on a floor|overdose|leave me|leave us|leaves us|walk out|
		walks out|let me go|fail|failing|flunk|didn't pass|did not pass|not pass|
	not passed|resit|thrown off|kicked out|find me|finds me|find out|finding out|finds out|notice|be my name|it'll be me|it is me|bankrupt|insolvent|
		insolvency|receivership|repossess|repossessed|foreclosure|on the pavement|
	on the street|out on the street|on the streets|under a bridge|shelter|eviction|evict|homeless|world to live in|what is coming|flood|drought|burning|
		burn|famine|extinct|extinction|collapse|crash|going down|goes down|
	go down|screaming|scream|explode|fall on us|falls on us|fall on|trapped|drown|drowning|suffocate|lose this one|happen again|over again|is back|
		come back|has come back|in the liver|in the bones|metastases|spread|
	terminal|incurable|months to live|amputate|amputation|stroke|heart attack|tumour|seizure|dropped dead|drop dead|i'm next|am next|me next|it's me|
		fool of myself|idiot|faked|fake|fraud|impostor|imposter|caught|
	all over|it is over|forget me|forgotten|replace me|without me|noticing|put me in a home|in a home|the home|care home|nursing home|put away|
		breaking off|break off|cut me off|cuts me off|stop speaking|stops speaking|
	never speak|gone for good|gone|is gone|are gone|vanish|disappear|disappears|hit him|hit her|hit them|pass it on|passing it on|like my father|
		like my mother|like him|like her|last time i|shooting|shooter|stabbed|attack|
	abducted|kidnapped|missing|hurt him|hurt her|hurt them|harm|harmed|of my own|a family|without kids|without children|can not have children|childless|
		barren|table nine|left on the shelf|on my own|grow old alone|sued|sue|
	sue me|struck off|lose my licence|disbarred|court|prison|convicted|hand goes|hands go|need an illustrator|need me|needs me|need us|obsolete|
		redundant|drain|blank|staring|nothing coming out|freeze|laugh at|will laugh|
	laughs|laughing|boo|stumble|choke|dementia|alzheimer's|parkinson's|ms|wheelchair|bedridden|blind|deaf|mute|lie there|burden|helpless|die|dies|dying|
		died|death|dead|kill|kills|killed|killing|suicide|not wake up|
	doesn't wake|does not wake|never wake|grow up without|grows up without|alone|lonely|abandoned|rejected|left behind|left out|excluded|expelled|mocked|
		bullied|shamed|disgrace|disgraced|exposed|deported|deportation|war|
	prison|arrest|arrested|relapse|use again|using again|drink again|back there|bottle again|ruin|ruined|wasted|regret|too late|irrelevant|useless|
		worthless|mediocre|nobody reads|nobody comes|nobody left|no one left|
	two sundays|every other weekend|custody|adopted away|foster care|moved away|moves away|move away|drift apart|stranger to|hate me|hates me|resent me|
		despise|disappointed in me|not forgive|never forgive|burn out|break down|
	breakdown|crack|snap|lose control|go mad|locked up|scar|scarred|disfigured|miscarry|stillborn|stillbirth|premature|disabled|sick child|sids`}
