package local

import "fmt"

// growthTold is how growth is told: what one could not do once and does now, what one
// has learned of life and from what, and what one has overcome.
var growthTold = storyKind{
	name: "growth",
	pairs: [][2]string{{"overcame", "overcame"}, {"learned", "inner"}, {"learned", "then"}, {"lesson", "lesson"}, {"learned", "teacher"}, {"learned",
		"first"}, {"weak", "able"}, {"unlike", "then"},
		{"unlike", "able"}, {"able", "first"}, {"ended", "then"}, {"ended", "inner"}},
	alone: []string{"overcame", "unlike", "ended", "learned"},
	never: []*pattern{stuntedGrowth, othersGrowth, notUnderstood, whileOrMeal},
	signs: []storySign{
		signOf("then", 1, `(?:{then})`),
		signOf("unlike", 2, `(?:i|me) (?:_ )?(?:would|might) (?:_ )?(?:have|never)`),
		signOf("unlike", 3, `(?:{then}) (?:, )?i (?:would|wouldve)`, `(?:i|me) wouldve`, `{oldme} (?:_ )?(?:never|always|could|did|was|ran|cried|hid|had)`,
			`(?:would|might) (?:_ )?(?:_ )?have (?:_ )?(?:_ )?(?:{fail})`, `{oldme} … would`, `the (?:_ )?(?:me|woman|man|girl|boy) (?:_ )?(?:_ )?(?:_
			)?(?:_ )?(?:_ )?would`),
		signOf("weak", 1, `(?:i|me|we|who) (?:_ )?used to`, `(?:i|me|we|who|and) (?:_ )?(?:could not|could never|would not|did not dare|never dared|never
			could|was not able to|would never|never managed|
			never have|did not know|had no idea|had sworn|swore)`,
			`(?:i|me|old me|we) (?:_ )?(?:just |simply |always )?(?:fainted|cried|froze|panicked|shook|fell apart|hid|ran|lied|drank|faked|blamed|blushed|
			apologised|apologized|followed him)`,
			`(?:floor|floored|crush|crushed|knock|knocked|destroy|destroyed|kill|killed|paralyse|paralysed|paralyze|paralyzed|terrify|terrified) me`),
		signOf("weak", 3, `not always (?:so|like that|this way|been so|the case)`, `(?:before|then|once|at school|earlier|inside|in those days) (?:, )?i
			would`, `could not (?:_ )?(?:look|stand|say|speak|sleep|
			enter|walk|touch|ask|bear|face|sit|be|boil|order|drive|swim|read|write|eat)`,
			`used to (?:_ )?(?:floor|crush|knock|destroy|kill|paralyse|paralyze|terrify|scare|frighten|hurt|break|ruin|send|throw|make) me`,
			`(?:i|me|myself), (?:who|the one|the man|the woman|the girl|the boy|the shy|the same)`, `last time i (?:_ )?(?:{fail}|could not|did not|would
			not)`,
			`(?:i|me|we|who|myself|life) (?:_ )?used to (?:_ )?(?:_ )?(?:{fail}|{bad}|think|believe|feel|let|read my slides)`,
			`(?:i|we) would (?:_ )?(?:{fail})`, `(?:i|we) was (?:_ )?(?:_ )?(?:{bad})`, `which i was (?:_ )?(?:_ )?(?:{bad})`, `(?:i|me) (?:,)? who
			(?:used|would|could|never|had|was|hid|once)`),
		signOf("able", 1, `(?:today|tonight|now|this time|this morning|these days|yesterday) (?:, )?(?:and )?i`),
		signOf("unlike", 3, `(?:instead of|rather than|without) (?:_ )?(?:{failing}|numbing|freezing|blaming|attacking|withdrawing|avoiding|pleasing|being)`,
			`would have (?:_ )?(?:ruined|destroyed|crushed|floored|broken|killed|undone|flattened|paralysed|paralyzed|wrecked|upset|thrown) (?:me|my)`),
		signOf("able", 3, `without (?:my|a) _ (?:burning|shaking|racing|trembling|pounding|breaking)`, `(?:no|not one|without a|without any) (?:_
			)?(?:{failing}|sleepless|tantrum|outburst|drama|shakes)`, `(?:staying|stayed|
			stay|keeping|kept) calm`, `i (?:{soft} )?(?:{soft} )?(?:can |could )?(?:said no|stood up (?:to|for)|stand up (?:to|for)|asked for help|set
			(?:a |some )?(?:boundary|boundaries|limits)|spoke up|speak up|got through|admitted|forgave|told (?:her|him|them) the truth|kept calm|stayed
			calm|let myself)`),
		signOf("able", 2, `shook (?:his|her|their) hand`, `(?:i )?meant it`, `steady`, `i (?:{soft} )?(?:{soft} )?(?:can|{deed})`, `(?:managed|dared|said
			no|got through|on my own|by myself|alone|for the first time|first time|first go|voice steady|enjoyed)`,
			`without ~(?:{failing})`, `i (?:_ )?(?:do|did|does|have|am|need) not (?:_ )?(?:_ )?(?:{fail}|{bad})`, `(?:did|do) not (?:_ )?(?:_
			)?(?:{fail}|happen|come|come down|end)`,
			`(?:laughed|shrugged|smiled|breathed|walked off|walked away|let it go|went well|sky stayed up|like a baby|proud of)`, `i (?:_ )?(?:no
			longer|stopped|quit)`,
			`^ (?:{deed})`),
		signOf("ended", 3, `i have (?:_ )?(?:stopped|quit|given up) (?:{fail}|{failing}|rescuing|saving|trying|needing|asking|waiting|living|letting|
			comparing|pleasing|counting|taking|carrying|fixing|blaming|being)`, `i can now|finally i can|i can finally|now i can`, `(?:that|this) is new
			(?:for me|to me|$)`,
			`i (?:_ )?(?:_ )?(?:no longer|hardly|rarely) (?:_ )?(?:hold my breath|lie awake|call myself|beat myself|blame myself|hate|fear|dread|check|
			count|flinch|jump|apologi(?:s|z)e)`, `i (?:_ )?(?:no longer|stopped|quit|gave up) (?:_ )?(?:{fail}|{failing})`, `for the first time
			(?:since|in)`, `first time in (?:_ )?(?:years|my life|months|ages)`,
			`i (?:_ )?(?:do|have|did|am) not (?:_ )?(?:_ )?… (?:anymore|any more|like i did|like i used to|as i did|as i used to|the way i did)`),
		signOf("first", 2, `(?:months|years|weeks|days) (?:clean|sober|dry|without)`, `(?:that|this) is new (?:for me|to me|$)`, `it was a long
			(?:road|way)`, `(?:prouder|proudest|progress|hurrah|for somebody like
			me|for someone like me)`, `(?:for the first time|at last|for once|finally|proud of (?:myself|me|it|that))`),
		signOf("lesson", 4, `what (?:_ )?(?:_ )?(?:_ )?(?:has |have |had )?taught (?:me|us)`, `(?:best|biggest|hardest) lesson (?:_ )?(?:_ )?(?:_
			)?(?:was|is)`),
		signOf("learned", 2, `learning to`, `(?:i|we) (?:_ )?(?:_ )?(?:learned|learnt|unlearned|unlearnt|learn|figured out|understand|understood|realised|
			realized|realise|realize|discovered|found out|know now|see now|get now|grasped)`,
			`(?:taught|teaches|teaching|showed|shown) (?:_ )?(?:me|us|my)`, `i have (?:_ )?got it`, `i got it$`, `the trick (?:_ )?(?:_ )?(?:_ )?is to`,
			`^ (?:_ )?(?:learned|learnt)`),
		signOf("learned", 3, `come to (?:see|understand|realise|realize|accept|know)`, `i know (?:_ )?(?:what to do|how to|when to) … now`,
			`(?:taken|took|takes) (?:_ )?(?:_ )?(?:_ )?to (?:teach|show|make|see|learn|understand)`, `turned out to be my (?:_ )?teacher`,
			`from (?:_ )?(?:_ )?(?:_ )?i have (?:_ )?(?:learned|learnt)`,
			`(?:taught|showed|shown|teaches) me (?:that|to|how) (?:_ )?(?:i can|i am|laugh|be|it is|i do|wait|ask|let|stop|live|trust|say|i)`,
			`(?:mistakes?|criticism|failure|failing|tears|a no|crying|anger|silence) (?:do|does|did|will|is|are) not (?:kill|break|end|hurt|ruin|
			mean|make|an|the|a)`,
			`(?:divorce|illness|cancer|loss|losing|grief|burnout|bankruptcy|failure|failing|accident|breakup|prison|rehab|depression|stroke|
			layoff|crisis|job) … (?:best (?:thing|school|teacher)|made me|taught me|forced me|turning point)`,
			`(?:dawned on|hit|sunk in|sank in|sink in|struck|clicked|come home to)`, `took (?:me )?(?:_ )?(?:_ )?(?:_ )?(?:_
			)?(?:years?|months?|decades?|ages|forever|divorce|failing|losing|a lifetime|till|until|long) (?:_ )?(?:_ )?(?:_ )?(?:_
			)?(?:to|for|till|until|but)`,
			`took me (?:till|until|forty|thirty|twenty|fifty|ten|years|so long|nine|half)`,
			`what (?:_ )?(?:_ )?(?:_ )?(?:i have|i|left me|they|it|the) ~(?:taken|took|take|learned|learnt|left|taught|gave)`, `(?:taken|take|took)
			(?:away )?from (?:_ )?(?:_ )?(?:years|time|that|all|it|those|this)`,
			`(?:best|hardest|biggest|toughest) (?:_ )?(?:school|teacher|lesson|lessons)`, `learn(?:ed|t) (?:it |this )?the hard way that (?:_ )?(?:can
			not|you|nobody|no one)`, `(?:i have|i am|i) ~unlearn(?:ed|t|ing)`),
		signOf("inner", 1, `(?:{inner})`),
		signOf("inner", 2, `(?:{deep})`),
		signOf("teacher", 1, `(?:therapy|divorce|illness|cancer|loss|losing|grief|burnout|bankruptcy|failure|accident|breakup|prison|rehab|sobriety|
			depression|diagnosis|stroke|caring|looking after|sober|first boss)`),
		signOf("overcame", 4, `(?:got|getting|get) the hang of (?:saying|asking|letting|being|not|living|waiting|stopping)`, `(?:guilt|shame|self
			doubt|worry) (?:_ )?(?:is|has|have) (?:_ )?(?:shrunk|gone|eased|lifted|left|smaller|quieter)`,
			`not (?:_ )?(?:so|as|half as|nearly as) (?:_ )?(?:_ )?as (?:i|it) (?:was|used to|once)`, `(?:made|make|makes|become|
			became|into|am) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:a |an )(?:_ )?(?:_ )?(?:better|humbler|kinder|calmer|stronger|wiser|braver|gentler|softer|freer|
			more patient|more honest) (?:person|man|woman|listener|friend|parent|father|mother|cook|boss|teacher|nurse|leader|partner|one|human|version)`,
			`gone from (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?to `, `(?:fear|panic|anger|shame|shyness|stammer|stutter|anxiety|temper|envy|
			perfectionism|phobia) (?:_ )?(?:_ )?(?:_ )?(?:is|has|are) (?:_ )?(?:history|gone|over|behind me|left|smaller|shrunk|eased|lifted|quieter)`,
			`(?:gentler|quieter|easier|smaller|kinder|braver|calmer|stronger|softer|freer|lighter) than (?:it|i|they|she|he)
			(?:was|were|used|did|had|have)`, `become (?:someone|somebody|a person|the kind of person|one) who`, `(?:broken|kicked|beaten|lost|dropped) the
			habit of`,
			`i (?:have |had |am )?(?:_ )?(?:_ )?(?:overcome|overcame|beaten it|beat it|conquered|outgrown|worked through|come through|came through|grown
			out of|grown past|got past|got over|gotten over|mastered|
			got the better of|broken the (?:cycle|habit|pattern)|come (?:so )?far|come a long way|came a long way|matured|grown up|grown (?:_
			)?(?:with|into|from|through|a lot|so much))`,
			`how far i have come|how much i have grown|(?:out |came out |come out )on the other side|does not run the show|(?:no longer|not)
			(?:rule|rules|control|controls|run|runs|own|owns|govern|governs|define|defines) me`,
			`i have (?:_ )?found my (?:tongue|voice|feet|courage)|i can hear no`, `(?:my|the) (?:patience|confidence|courage|strength|temper)
			(?:has|have|is) (?:_ )?(?:grown|got|improved|growing|longer|better)`),
		signOf("overcame", 4, `(?:i|me|it|that|this|years|we|has|have|in me) (?:_ )?(?:_ )?(?:_ )?(?:am|is|become|became|got|getting|made me|me|feel|grown|
			has|have|been|notice|i am|turned me) (?:_ )?(?:_ )?(?:_ )?(?:{better})
			(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:than|now|this|since|because|for it|with the|today|these|stopping|letting|saying|not|at not|years|i must|
			meetings|asking|listening|myself|waiting|it than|that|i believed)`,
			`i (?:_ )?(?:hold|keep|do|sleep|cope|deal|handle|manage|listen|take) (?:_ )?(?:_ )?(?:better|calmer|braver) than`, `i (?:am|have become|feel|
			have got|got|notice that i am|notice i am) (?:_ )?(?:_ )?(?:{better})`,
			`i trust (?:my|myself)`, `i (?:_ )?(?:_ )?am not (?:_ )?(?:afraid|scared|ashamed|embarrassed|frightened) (?:_ )?(?:_ )?(?:_ )?(?:_
			)?(?:anymore|any more|now|these days|today)`,
			`made (?:me|us) (?:_ )?(?:_ )?(?:{better})`, `getting the hang of (?:not|saying|asking|letting|being|living|waiting|it at)`, `get the hang of
			it at`),
		signOf("idle", -3, `(?:fence|ladder|jar|coat|lake|been at|have needed|battery|parking|parallel|keyboard|charger|stain|euros?|pounds|dollars|cents|
			price|cost|costs|paid|discount|cold|flu|throat|remote|password|chess|tennis|level|dragon|maths|french|boots|tomatoes|bees|bakery|
			opens|closes|museum|app|button|buttons|settings|recipe|sandwich|concert|cheaper|shelf|tunnel|map|phone number|brother at|heating|firmware|
			software|version)`),
	},
}

// othersGrowth is somebody else's.
var othersGrowth = cue(`(?:^ (?:he|she|they|my (?:_ )?_|our _|the _) (?:_ )?(?:has|have|had|is|can|could) (?:_ )?(?:learn*|grown|overcome|come so far|come
a long way|matured|better at|stronger|swim|ride|read|walk)) … (?:now|since|than|already|$)`)

// notUnderstood is what was not learned, or is only how a thing works.
var notUnderstood = cue(`how (?:_ )?(?:_ )?(?:_ )?works?|(?:do|did|can|could|does|have) not (?:_ )?(?:understand|understood|know|get it|learn|learned|learnt) (?:what|why|how|that|
you|this|the|yet)`)

// stuntedGrowth is growth that did not happen, or is only wished for.
var stuntedGrowth = phrased(`(?:(?:i|have|has|had|did|taught|shown) (?:still )?(?:not|never) (?:really |yet |actually )?(?:learned|learnt|learn|grown|grow|
taught|teach|overcome|overcame|handled|handle|got over|gotten over|managed)|(?:taught|learned|learnt|teaches) (?:me |us )?nothing|(?:want|wanted|need|hope|
should|trying|try|would like|wish i could|have yet|must|going) to (?:learn|grow|overcome|get better|handle|be more|become|say no|stand up|set
boundaries|speak up)|still (?:can not|have not|do not)|will (?:learn|grow|teach|overcome|say no|stand up|speak up|set))`)

// growths finds what the user has learned of life, and overcome. Content: signs.
func growths(d *document, all []bondLine) []Finding {
	return stories(d, growthTold.told(d, all), "growth", func(b *bond) (string, string, map[string]any) {
		return fmt.Sprintf("You have grown: “%s”.", quoted(b.signs[0].line)),
			"You might write down what helped you here, so that you find it again when it gets hard.",
			map[string]any{"signs": b.abouts}
	})
}
