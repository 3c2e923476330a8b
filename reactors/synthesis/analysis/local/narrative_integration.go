package local

import "fmt"

// integrationTold is how making sense of, or peace with, one's life is told: something
// of one's life, and that one accepts it, sees how it fits, or has ended a fight in it.
var integrationTold = storyKind{
	name: "integration",
	pairs: [][2]string{{"life", "peace"}, {"life", "whole"}, {"life", "sense"}, {"life", "truce"}, {"two", "whole"}, {"two", "truce"}, {"two", "peace"},
		{"made", "made"}, {"truce", "sense"}, {"two", "sense"}, {"peace", "sense"}},
	alone: []string{"made", "whole", "truce"},
	never: []*pattern{sameSelf, unmadePeace, lackingSense, othersPeace, whileOrMeal},
	signs: []storySign{
		signOf("life", 2, `why i _`, `(?:i was|i am) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:i am|i was)`, `(?:{being}) in (?:that|the|this)
			(?:photo|picture|mirror)`, `(?:my|our|his|her) (?:_ )?(?:{life})`, `(?:the|that|this|those|these|all|all the|both) (?:_ )?(?:_ )?(?:{life})`,
			`(?:{lot})`, `(?:who|what|where|why|how) i (?:_ )?(?:_ )?(?:am|was|be|come from|came from|became|left|left|stayed|kept|ran|draw|always|could
			never|have been|came back|had to|do today|am today)`,
			`(?:in|of|inside|about) me`, `part of (?:me|my|the story|who)`, `the (?:_ )?(?:{being}|me) (?:_ )?(?:_ )?(?:in me|i was|i am|i had been|me)`,
			`my (?:father|mother|parents|dad|mum|brother|sister|grandfather|grandmother|family|son|daughter|ex|husband|wife|past)`,
			`(?:everything|all of it|it all|whatever happened|what happened|all that|it began|old self|inner child|myself)`),
		signOf("two", 2, `(?:both|two|the one and the other|either|neither|the same|one (?:life|story|person|road|man|woman)|halves|each other|one another)`),
		signOf("two", 3, `in me and the`, `the _ me and the _ me`, `the _ and the _ in me`, `used to be two`, `both _ and _$`, `(?:both|two|three|all)
			(?:_ )?(?:_ )?(?:{side})`, `the (?:_ )?(?:_
			)?(?:in me|i was|me) (?:_ )?(?:_ )?and the`, `(?:side by side|both of (?:them|me|us|it)|the two of|hold both|hold the two|two mothers|both are|
			both is|the one and)`,
			`(?:the|my) (?:_ )?(?:_ )?(?:side|half|part|me) and (?:the|my) (?:_ )?(?:_ )?(?:side|half|part|me)`, `the (?:{being}|girl|boy) (?:_ )?(?:_
			)?(?:_ )?(?:_ )?and the (?:{being}|garden|sponsor|choirmaster|professor|midwife)`),
		signOf("peace", 2, `(?:do|does|did) not (?:_ )?(?:bother|hurt|sting|burn|haunt|shame|frighten|scare|weigh|trouble)`, `felt nothing bad`, `not
			strike`, `(?:can live with|live with|let it rest|at rest|content with|content|fine with|ok with|okay with|all right with|be at ease|at ease|
			grateful|thankful|glad of|no bitterness|no shame|not bitter|friends with|good terms|
			on terms|home in|no grudge|smile at|look at it|allowed|is ok|are ok|is okay|fits me|suits me|does not hurt|no longer hurts|does not rule|no
			longer rules|shake|share the house|window seat|get along|lets me|settled|let go of)`,
			`(?:do|did|would) not (?:_ )?(?:regret|hate|mind|resent|wish|want|have to be angry|trade|change|call)`, `no longer (?:_ )?(?:regret|hate|mind|
			resent|wish|angry|ashamed|hurts|wish that)`, `(?:hold|carry|bear|look at|wear|keep|say|talk about) (?:_ )?(?:_ )?(?:_ )?(?:differently|without|
			and mean|both|the two|it now|too)`),
		signOf("peace", 3, `(?:anger|grudge|bitterness|hate|hatred|resentment|shame|blame) (?:_ )?(?:_ )?(?:_ )?(?:is|has|have) (?:_
			)?(?:gone|left|lifted|over|faded)`, `stopped (?:_ )?(?:telling|leaving|skipping|hiding)`, `(?:laid|lay|put|drop|dropped|buried|bury|let go of|
			given up|gave up)
			(?:down )?(?:the|my|our|that) (?:_ )?(?:grudge|hatchet|anger|resentment|bitterness|blame|weapons)`, `not (?:the|an|my) (?:_ )?enemy`,
			`(?:made|make|found|find) (?:room|space|a place) (?:for|in)`, `(?:do|can|could|did) not (?:_ )?(?:blame|be cross|be angry|be mad) (?:with
			)?(?:him|her|them|it|myself|anybody|anyone|me)`, `thank(?:ed)? (?:him|her|it|them|you for)`, `(?:accept|accepted|accepting|acceptance|forgive|
			forgave|forgiven|forgiving|reconciled|reconcile|reconciliation|embrace|embraced|embracing|honou?r|befriended|welcome|welcomed)`,
			`(?:peace|terms) with`, `at peace`, `(?:my|our) peace`,
			`(?:come|came|coming) to terms`, `stopped (?:_ )?(?:being angry|asking why|fighting|treating|hating|blaming|wishing|cutting|hiding|running|
			resenting|being ashamed)`, `settled (?:my|the|our) (?:account|score|accounts)`,
			`(?:do|did) not (?:_ )?(?:_ )?(?:hate|regret|resent) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:anymore|any more|now|any longer)`),
		signOf("whole", 3, `part of (?:me|who i am)`, `part of (?:my|our|the) (?:_ )?(?:story|life|history|past|whole|self)`, `belongs? to (?:then|now|the
			past|what was)`, `it is (?:just |only )?a chapter`, `(?:as|into) one$`, `(?:it is|is) all me$`, `makes? (?:_ )?(?:_ )?(?:_ )?sense`, `the same
			(?:water|person|hands|heart|river)`, `(?:fits?|fitted|fell|fall|falls|fallen|hangs?|held|holds?|belongs?|came|come|comes|bring|brought|put|
			click|clicked|sit|sat|add|adds|weaves?|grown|live|lives) (?:_ )?(?:_ )?(?:together|into place|side by side|in a row|up for me|up now)`,
			`(?:connects?|connected|coheres?|clicked|adds? up|make sense|makes sense|made sense|making sense|makes sense|pieces (?:_ )?(?:_ )?together|a
			thread|one thread|red thread|straight line|full circle|hold each other|explains? (?:_ )?(?:the rest|why|it|me|each))`,
			`(?:is|was|are|it is|become|became|be|as) (?:_ )?(?:_ )?(?:one|the same|a single|one long|all one) (?:life|story|person|road|man|woman|piece|
			thing|river|line|path|song|house|tree)`, `(?:has|have|had|found|took|take|taken|takes|got|gets) (?:_ )?(?:its|their|a|his|her) (?:_
			)?(?:place|chair|room|seat|corner)`,
			`(?:is|was|are|become|became|it is|all|be) (?:_ )?(?:_ )?part of (?:me|my|the|who|our|what)`, `(?:belongs?|belonged) to (?:me|my|the
			story|it|us|this)`, `(?:where|how) (?:she|he|it|they) belongs?`, `woven into`, `(?:chapter|page) (?:_ )?(?:_ )?(?:in|of) my`, `(?:the|my|this)
			bridge`,
			`(?:all|it all|they) counts?`, `(?:are|is) mine`, `(?:both|neither|they) (?:_ )?(?:live|are|stay|are both) in me`, `i am both`,
			`(?:are|is|were) both (?:_ )?(?:true|me|mine|in me|ok|part|where|necessary|needed)`, `(?:be|are|is) (?:both )?true`, `no longer split|not
			split|undivided`, `(?:feel|am|felt|become|became) (?:_ )?whole`, `whole person`,
			`(?:same|one) (?:man|woman|person|life|story|house|road)`, `(?:into|in) one (?:sentence|story|life|piece|line)`, `a place for`, `in the book
			now|missing page`, `the ground`, `(?:made|make|makes|making) me (?:who|what|the|into|_ i am)`, `what i am made of`),
		signOf("sense", 3, `i see (?:_ )?(?:_ )?(?:{being})`, `the one explains the other`, `i (?:_ )?(?:_ )?(?:see|understand|understood|realise|realize|
			know|get|recogni(?:s|z)e|can see|hear) (?:_ )?(?:_ )?(?:now
			|today |finally |at last )?(?:_ )?(?:why|how|what|that|the line|him|her|my (?:father|mother|parents|dad|mum)|both|_ _ silence|them)`,
			`(?:see|saw|understand|understood) (?:_ )?(?:_ )?(?:_ )?(?:as|like) (?:a|an|somebody|someone)`, `(?:looks?|looked|seems?) (?:_ )?(?:to me |now
			|different )(?:_ )?(?:like|as|now)?`, `i get it now`, `(?:led|leads|leading|brought|carried|took) (?:_ )?(?:_ )?(?:here|to the|me|up to|to
			what|to this)`, `(?:without|had it not been for) (?:it|that|those|them|her|him|the _|all) (?:_ )?(?:_ )?(?:_ )?i (?:would|might|could) not`,
			`(?:i|would|could) not (?:_ )?(?:be|have been|have found|be half|be here|be who|have become)`, `(?:comes?|came|stems?|grew|grown|born) (?:_
			)?(?:from|out of) (?:_ )?(?:that|there|those|this|it|them|the)`, `that is why|its why|is why i|it is why|was why`, `on the way$`,
			`(?:what|that) (?:_ )?(?:_ )?was for`, `was (?:all )?needed`, `one thing led`,
			`(?:not|not just) because of me|not my fault`, `(?:gave|taught|given|showed) me`, `made the rest possible`, `turned out to be`, `out of it
			came`, `not (?:the|a) (?:title|whole|end)`),
		signOf("truce", 3, `talk to each other`, `have agreed`, `went to both`, `(?:no longer|not) (?:_ )?(?:_ )?(?:_ )?(?:have|need) to
			(?:choose|pick|hide|decide
			between|explain)`, `not (?:_ )?(?:tear|tears|torn|pull|pulls) (?:me )?(?:apart|in two|_)`, `fond of each other`, `used to (?:be )?(?:_
			)?(?:embarrassed|ashamed)`, `(?:do|did|does|have|had|need|needed|could|can|no longer|not) (?:not )?(?:_ )?(?:_ )?(?:need to |have to |needed
			to |need anymore to |want to )?(?:choose|pick|fight|hide|deny|flinch|split|compete|argue|quarrel|forget|be torn|bleed|shout|run)`,
			`(?:stopped|stop|without|no|not|no longer) (?:_ )?(?:at war|arguing|fighting|quarrell?ing|hiding|shouting|running|choosing|elbowing|flinching|
			stumbling|torn|ashamed|denying|cutting|competing|apologi(?:s|z)ing for|sits on|two lives|split)`,
			`(?:used to|for years|for so long|for long) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:hide|hid|cut|deny|denied|kept|keep|ashamed|act|acted|think|thought|
			allowed|choose|pretend|pretended|be ashamed|the _ was|be something i hid)`, `neither had to`, `(?:nodded|shook hands|sat|talked|met|had lunch)
			(?:at|with|to|so|side|together|the same)`, `get along`, `no shouting`, `(?:hold|carry) (?:_ )?(?:both|the two|all of it|them all|it all)`, `i
			let (?:them|the|her|him|it) (?:_ )?(?:_ )?(?:_ )?(?:in|sit|be|have|rest|stay)`, `(?:can|let) (?:_ )?(?:both |all )?(?:stay|be|sit|go home)`),
		signOf("made", 4, `made up with (?:_ )?(?:_ )?(?:_ )?(?:i was|my|myself|me)`, `(?:it|everything|my (?:_ )?life|all of it|the (?:_
			)?(?:years|pieces)) (?:_ )?(?:_ )?(?:hangs?|held|holds?|fits?|fit|comes?|came|fell|clicked) (?:_ )?(?:together|into place|to me) (?:now|at
			last|finally|for me|since)`,
			`(?:wrong turns|detours|failures|mistakes|losses|bad years|lost years|detour) (?:_ )?(?:_ )?(?:was|were|are|led|had|brought|belong)`, `at
			peace with (?:_ )?(?:road|past|life|path|choice|years|me|it)`, `(?:sides|halves|parts) of me (?:_ )?(?:belong|live|get|have|are|can|need)`,
			`(?:_ )?belong together`, `i (?:_ )?(?:_ )?(?:accept|accepted) that (?:he|she|they|i|it|my)`, `happened to me and not`, `come from the same`,
			`i am (?:_ )?my (?:mother's|father's) (?:daughter|son) and`,
			`(?:made|making|make|found|find|come to|came to) (?:my |our |a |some |a kind of )?peace with (?:_ )?(?:_ )?(?:it|my|that|what|who|how|where|
			him|her|them|the|having|being|not)`, `^ i have made my peace`, `i am (?:_ )?at peace with (?:_ )?(?:it|my|her|him|what|who|how|myself|the
			(?:road|past|years|loss))`,
			`i am (?:_ )?reconciled`, `(?:come|came|coming) to terms with`, `i have (?:_ )?(?:forgiven|accepted|forgave) (?:_ )?(?:_ )?(?:the
			(?:{being})|myself|that i|who|what|how|my|him|her|them|having)`, `i (?:_ )?(?:am|feel|have become|felt) (?:_ )?(?:_ )?(?:whole|no longer split|
			no longer torn|in one piece|undivided)`,
			`(?:my past|my history|my story|my life|those years|the years) (?:_ )?(?:_ )?(?:_ )?(?:on good terms|made me who|make me who|belongs? to
			me|are mine|is mine)`, `(?:is|are|was|were|as) (?:_ )?(?:part|a part) of (?:me|who i am|my story|what made me)`, `(?:belongs?|belonged) to
			(?:my|the|our) story`,
			`(?:made|make|makes) me who i am`, `woven into (?:me|my|who)`, `a chapter (?:_ )?(?:in|of) my (?:life|story)`, `come full circle`, `friends
			with (?:_ )?(?:_ )?(?:part|my|the|who|myself|girl|boy|child)`),
		signOf("idle", -5, `(?:glue|cookies|library books|carpet|curtains|jug|clip|keys|queue|stall|bags|trains|buses|bus|melon|terms and
			conditions|screws?|lamp|shelf|sofa|euros?|heating|closed on|schedule|romans|builders|invoice|password|app|menu|recipe|price|cardigan|plan|
			staircase|parcel|timer|book early|train|tickets?|quiz|firmware|version|code|tests?|cable|wifi|socks|wardrobe|ikea|spreadsheet|
			budget|receipts?|printer|sum|total|numbers)`),
	},
}

var (
	lackingSense = cue(`(?:nothing|still|can|could|does|do|will) (?:_ )?not (?:_ )?(?:fit|forgive|accept|make sense|add up|see why|understand why)`)
	othersPeace  = cue(`(?:she|he|they|my (?:_ )?(?:friend|sister|brother|mother|father|neighbour|colleague|aunt|uncle|cousin)) (?:says? |said )?(?:_
			)?(?:she |he |they )?(?:has|have|had|is) (?:_ )?(?:made (?:_ )?peace|forgiven|accepted|come to terms|at peace|reconciled)`)
)

// whileOrMeal is time that something takes, and company at a table.
var whileOrMeal = cue(`(?:takes?|took) (?:me|us) (?:_ )?(?:_ )?(?:minutes?|hours?|days?|weeks?|ages|forever)|(?:breakfast|brunch|lunch|dinner|supper|tea|coffee) with`)

// unmadePeace is a peace not made.
var unmadePeace = phrased(`(?:(?:i|have|has|had|can|do|does|did|will|could) (?:still )?(?:not|never) (?:_ )?(?:_ )?(?:made peace|make peace|come to terms|
came to terms|forgiven|forgive|forgave|accept|accepted|embrace|embraced|find peace|found peace|make sense|makes sense|fit together|fits together|come
together|see how|understand how|understand why|see why|feel whole|feel complete|add up)|(?:want|hope|need|trying|try|would like|wish i could|struggle|
struggling|going) to (?:_ )?(?:make peace|come to terms|forgive|accept|embrace|make sense|find peace|feel whole|see how|understand)|nothing (?:_
)?(?:fits|makes sense|adds up)|will (?:make peace|come to terms|make sense))`)

// integrations finds where the user's story comes together. Content: signs.
func integrations(d *document, all []bondLine) []Finding {
	return stories(d, integrationTold.told(d, all), "integration", func(b *bond) (string, string, map[string]any) {
		return fmt.Sprintf("Things in your story come together: “%s”.", quoted(b.signs[0].line)),
			"You might tell somebody close to you how you see it now.", map[string]any{"signs": b.abouts}
	})
}
