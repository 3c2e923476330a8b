package local

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// roleClues are what people may be to each other over and over. Content: person, roles.
var roleClues = []bondClue{
	// the user's own part
	freeClue("giving in", .62, `(?:i|we|me) ~(?:give in|giving in|gave in|given in|back down|backing down|backed down|back off|backing off|yield|yielding|cave|caving|caved|concede|conceding|relent|surrender|bend|bending|fold|folding|submit|defer|deferring|go along|going along|comply|swallow|swallowing|bite my tongue|biting my tongue|hold my tongue|holding my tongue|say yes|saying yes|agree to everything|agree with everything|agreeing to everything|let (?:{them}) (?:win|decide|have {his})|letting (?:{them}) (?:win|decide|have {his})|put {his} needs|putting {his} needs|keep quiet|keeping quiet|do what {they} wants?|doing what {they} wants?|sacrifice|sacrificing|accommodate|accommodating|adjust|adapt|adapting)`),
	freeClue("giving in", .62, `{they} ~(?:gets? {his} way|has the last word|have the last word|gets the last word|get the last word|decides? everything|wins?)`),
	freeClue("making peace", .62, `(?:i|me) ~(?:apologi(?:s|z)e|apologi(?:s|z)ing|say sorry|saying sorry|make up first|reach out first|reaching out first|keep the peace|keeping the peace|smooth|smoothing|mediate|mediating|play referee|playing referee|play mediator|playing mediator|make the first move|making the first move|calm (?:{them}) down|calming (?:{them}) down|translate between|translating between|defend|defending)`),
	freeClue("the part that is left", .68, `(?:being|be|i am|am|was|become|becoming|became|as|play|playing|into) ~(?:the one|the only one|the adult|the grown up|the parent|the responsible|the strong one|the fixer|the bad guy|the villain|the therapist|the caretaker|the caregiver|the peacemaker|the peace maker|the mediator|the referee|the glue|the clown|the black sheep|the scapegoat|the mother|the father|the good daughter|the good son|the good girl|the good boy|the reasonable one|the buffer|the middleman|the go between|the messenger|the doormat|the sidekick|the shadow|the spare|the punching bag|the emotional support|the cheerleader|the rescuer|the martyr|the nag|the teacher|the student|the child|a child|a teenager|a little (?:kid|girl|boy|child)|the little (?:brother|sister|kid|girl|boy|child|one)|the older (?:brother|sister|one)|the referee|the therapist|{his} (?:therapist|mother|parent|fixer|rescuer|punching bag|doormat|crutch|audience|sidekick|shadow))`),
	freeClue("rescuing", .62, `(?:i|me) ~(?:rescue|rescuing|fix everything|fix {his}|fixing {his}|fixing everything|fix things|fixing things|bail (?:{them}) out|bailing (?:{them}) out|pick up the pieces|picking up the pieces|pick up the slack|clean up {his}|cleaning up {his}|cleaning up after|clean up after|cover for {him}|covering for {him}|carry (?:everything|the)|carrying (?:everything|the)|parent {him}|parenting {him}|mothering {him}|save {him}|saving {him}|solve {his}|solving {his}|manage {his}|managing {his}|absorb|absorbing|hold everything together|holding everything together|make excuses|making excuses|do everything|doing everything|do all the|doing all the|put out {his}|overfunction|over function|take on {his}|taking on {his}|worry about {him}|worrying about {him})`),
	freeClue("avoiding", .65, `(?:i|we|us|both) ~(?:walk on eggshells|walking on eggshells|tiptoe|tiptoeing|tip toe|avoid|avoiding|change the subject|changing the subject|dance around|dancing around|circle|circling|skirt|skirting|joke ~away|go quiet|going quiet|go silent|going silent|fall silent|shut down|shutting down|withdraw|withdrawing|retreat|retreating|clam up|clamming up|freeze|freezing|shrink|shrinking|disappear|hide|hiding|pull away|pulling away|pull back|stonewall|hold back|holding back|pretend|pretending|brush ~under|sweep ~under|talk around|stay on the surface|talk about the weather|say nothing|saying nothing|drift apart|brace|bracing|edit myself|editing myself|filter|watch what i say|rehearse|keep it superficial|lose my voice|losing my voice|go mute|go numb|tense up|leave the room|go cold)`),
	freeClue("avoiding", .65, `(?:{they}) ~(?:walks? away|shuts? down|goes quiet|goes silent|go quiet|withdraws?|pulls? away|changes? the subject|storms? off|stonewalls?|retreats?|disappears?|ghosts me|avoids? me|gives? me the silent treatment|goes cold|turns? cold|backs? off|runs? away)`, `(?:i|me|my)`),
	freeClue("pursuing", .65, `(?:i|we|me) ~(?:chase|chasing|pursue|pursuing|run after|running after|beg|begging|plead|trying to (?:earn|win|please|impress|prove|fix|get {him})|try to (?:earn|win|please|impress|prove|fix|get {him})|seek {his}|seeking {his}|crave {his}|fish for|fishing for|perform|performing|audition|auditioning|prove myself|proving myself|justify|justifying|explain myself|explaining myself|defend myself|defending myself|please|pleasing|people please|initiate|initiating|push harder)`),
	freeClue("pursuing", .65, `(?:push and pull|push pull|push me pull|cat and mouse|hot and cold|on and off|tug of war|power struggle|the same dance|the same roles|the same pattern|same old pattern|same old roles|this pattern|this dance|this cycle|that cycle|a pattern|a cycle|vicious circle|vicious cycle|our roles|old roles|usual roles|usual dance|old pattern|old patterns|old dance|same script|old script|the script|one sided|onesided|same movie|same loop|a loop|this loop)`),
	freeClue("the part that is left", .64, `(?:always|usually|mostly|only|forever|ever) (?:me|i|the one) who (?:_ )?(?:_ )?(?:first|calls?|rings?|texts?|writes?|apologi(?:s|z)es?|gives? in|saves?|plans?|pays?|asks?|reaches|listens?|waits?|forgives?|drops?|travels?|visits?|remembers?|backs|cleans?|fixes|smooths|yields?|makes?|keeps?|has to|have to)`),
	// the other's part
	freeClue("being treated so", .62, `(?:{they}) ~(?:critici(?:s|z)es? (?:me|my|everything i|how i)|critici(?:s|z)ing (?:me|my|everything|how i)|critiques? (?:me|my)|corrects? (?:me|my|how i)|correcting me|belittles? (?:me|my)|dismiss(?:es)? (?:me|my|what i|everything i|anything i)|dismissing (?:me|my)|talks? over me|talking over me|interrupts? me|interrupting me|cuts? me off|cutting me off|lectures? me|lecturing me|guilt trips? me|guilt tripping me|guilts me|makes? me feel|making me feel|blames? me|blaming me|compares? me|comparing me|treats? me|treating me|expects? me|puts? me down|putting me down|undermines? me|takes? me for granted|takes? credit|taking credit|takes? over|taking over|talks? down to me|talking down to me|ignores? me|ignoring me|controls? (?:me|my|what i)|manipulates? me|overrules? (?:me|my)|second guess(?:es)? (?:me|my)|dumps? {his}|dumping {his}|dumps? everything|leans? on me|leaning on me|unloads? (?:on|onto|to|everything|{his})|vents? to me|vents? at me|turns? to me|comes? to me|depends? on me|takes? it out on me|only calls?|calls? (?:me )?only|remembers? me only|reaches? out only|only reaches? out|only texts?|rolls? {his} eyes|mocks? me|teas(?:es|ing|e) me|laughs? at me|finds? fault|picks? at me|picks? on me|nags? me|nagging me|pushes? me away|keeps? score|one ups? me|outdoes me|patroni(?:s|z)es? me|moves? the goalposts|shoots? down|shooting down|steamrolls? me|bulldozes? me|micromanages? me|micromanaging me|hovers? over|needs? me to (?:fix|save|rescue|calm)|gets? defensive|turns? everything|makes? everything about|makes? it about|sides? against me|cancels? on me|flakes? on me|jokes? at my expense)`),
	freeClue("competing", .62, `(?:compet(?:e|es|ing)|competition|outdo|outdoing|outshine|one up|one upping|keep score|keeping score|rivals?|rivalry|measure up|compare ourselves|compared to {him}|compare myself|comparing myself|comparing ourselves|jealous|in {his} shadow)`, `(?:i|we|me|us)`),
	freeClue("feeling small", .65, `(?:i|me) ~(?:turn (?:back )?into (?:a|an|the|my)|turning (?:back )?into (?:a|an|the|my)|become (?:a|an|the|my|smaller|quiet|invisible|someone|that|twelve|ten|fifteen|sixteen|small)|feel like (?:a|an|the|i am (?:a|an|ten|twelve|six|eight|fifteen|sixteen|five|seven|on trial|being tested|walking|auditioning|performing|back in))|feeling like (?:a|an|the|i am)|feel (?:so )?(?:small|smaller|invisible|stupid|judged|inadequate|young|twelve|ten|fifteen|sixteen|unseen|unheard|guilty|inferior|tiny|stuck in|responsible for)|feeling (?:so )?(?:small|smaller|invisible|stupid|judged|inadequate|unseen|unheard|guilty|inferior|tiny|responsible for)|am (?:twelve|ten|fifteen|sixteen|seven|eight|six|five|fourteen|thirteen|nine)|regress|regressing|shrink|revert|reverting|play dumb|make myself small|making myself small|doubt myself|doubting myself)`),
	freeClue("the part that is left", .62, `(?:i am|i was|me being|i become|i play|i end up) (?:_ )?(?:forever|always|still|once again|usually|again|automatically) (?:_ )?(?:the|a|an|{his}) (?:_ )?(?:student|pupil|daughter|son|kid|child|girl|boy|guest|fool|clown|audience|maid|servant|bank|nurse|secretary|second choice|backup|afterthought|outsider|listener|translator|driver|bad one|good one|loser|beggar|judge|boss|fan|mother|father|parent|adult|grown up)`),
	freeClue("where it ends", .62, `(?:we|i) (?:both |always |still |usually )?(?:end up|ended up|wind up|wound up) (?:_ )?(?:shouting|silent|crying|fighting|arguing|apologi(?:s|z)ing|laughing|explaining|defending|paying|feeling|doing|saying|angry|in tears|hurt|sulking|giving|lying|hiding|begging|comforting|fixing|cleaning|yelling|screaming|guilty|on the couch|where we|in the same|not talking|alone|agreeing|doubting|talking about|listening|the same)`),
	// and what is good between people
	freeClue("good for each other", .6, `(?:we|us|0p) ~(?:make {each} laugh|making {each} laugh|bring out the (?:best|worst) in|brings out the (?:best|worst) in|balance {each}|finish {each}|complement {each}|lift {each} up|lifting {each} up|keep {each} honest|push {each}|challenge {each}|feed off|speak the same language|know what the other|understand {each} without|pick up where we left off|picks up where we left off|pick up right where|lose track of time|cheer {each}|bicker|take turns|mirror {each}|trigger {each}|set {each} off|hurt {each}|miss {each}|misread {each}|misunderstand {each}|talk past {each}|talking past {each}|test {each}|circle {each}|circling {each}|orbit {each}|orbiting {each}|provoke {each}|wind {each} up|need {each}|blame {each}|out do {each})`),
	freeClue("good for each other", .6, `(?:makes? me laugh|making me laugh|calms? me|grounds? me|brings out the (?:best|worst) in me|bring out the (?:best|worst) in me|pushes my buttons|push my buttons|gets under my skin|knows exactly how to|challenges? me|keeps me honest|balances? me|{they} leads? and i follow|{they} talks? and i listen|i talk and {they} listens?|{they} plans? and i|{they} decides? and i|{they} pushes? and i|{they} pulls? away and i|{they} criticises? and i|i lead and {they}|i chase and {they}|i push and {they}|i plan and {they}|i give and {they}|{they} takes? and i give|i give and i give)`),
}

var oftenCue = phrased(`{often}`)

// ritualCue is what says that something is their way with each other, habit what may say
// so of anything.
var (
	ritualCue = phrased(`(?:every single time|as usual|like always|as ever|same as ever|like last time|like every time|like i always do|like (?:he|she|they) always (?:does|do)|keep ending up|ends? the same|same dance|same old dance|
		the same way|same as always|same story|same old story|same script|same scene|same loop|same pattern|usual pattern|our pattern|old pattern|the pattern|our (?:_ )?(?:_ )?(?:ritual|game|dance|routine|script|way|roles|cycle|loop|thing)|
		we do this (?:daily|every|each|all)|years of this|like this for|this way for|it is always like (?:that|this)|always like that|that is how we are|that is how it is with us|this is how we are|that is us|that is how it goes|goes like this|it goes like|happens the same|
		all over again|loop|vicious circle|vicious cycle|merry go round|as i have since|since school|since childhood|ever since we|this thing where|^ (?:always|every time|each time|every day|every week|daily) $|always me who|always (?:him|her) who|always the one|every week the same|every day the same|every _ the same|the same every|we work like this|like this since|without it turning into|
		as (?:he|she|they) tends? to|as i tend to|the more (?:i|he|she|they|0p)|again today|the usual|between us|the two of us|ever with us|always with us|no matter what i|whatever i|the moment i|before i (?:have|had|can)|never (?:tells?|asks?|answers?|says?|listens?|lets?|thanks?|apologi(?:s|z)es?))`)
	habitCue = phrased(`(?:every time|each time|each visit|every visit|as always|again and again|over and over|time after time|once again|whenever|the same|tends to|tend to|every (?:_ )?(?:evening|morning|week|sunday|call|visit|phone call|meeting|christmas|holiday|conversation|dinner|weekend)|
		forty years|thirty years|twenty years|ten years|for years|since we were|since childhood|all my life|my whole life|again|daily|always|somehow|keeps?|as soon as i|each|every)`)
)

// everyDeed is what people do, one beside the other, that says nothing of them both: what
// tells of an exchange is more.
var everyDeed = wordSet(`read reads buy buys bought get got take takes took go goes went drive drives drove eat eats ate cook cooks cooked send sends sent pick picks picked
	work works worked live lives lived have has had do does did is are was were am be been will would can could should may might must need needs want wants wanted like likes liked
	look looks looked make makes made bring brings brought share shares shared meet meets met play plays played gets give gives gave keep keeps kept watch watches watched use uses used sleep sleeps slept
	walk walks walked wash washes washed set sets check checks checked add adds added put puts sit sits sat see sees saw order orders ordered drink drinks drank pay pays paid
	book books booked meets deploy deploys run runs ran start starts started finish finishes finished leave leaves left arrive arrives arrived come comes came stay stays
	stayed help helps helped call calls called move moves moved know knows think thinks hear hears heard review reviews reviewed write writes wrote test tests tested`)

// dailyMatters are matters of every day, in which giving in or taking over means little.
var dailyMatters = phrased(`(?:groceries|dishes|laundry|trash|bins|pizza|restaurant|takeout|lunch order|remote|parking|bus|train|tickets?|invoice|invoices|printer|deploy|deploys|deployment|build|builds|server|standup|agenda|calendar|spreadsheet|repo|branch|commit|pull request|merge|sprint|recipe|oven|budget sheet|slides|coffee|the bill|bill|cab|taxi|airport)`)

// dynamics finds recurring ways of being with somebody.
func dynamics(d *document, all []bondLine) []Finding {
	var found []bondSign
	eachClue(all, roleClues, func(l *bondLine, c *bondClue, m match) {
		who := personOf(l, match{sentence: &l.sentence, to: len(l.words)})
		if who == "" || dailyMatters.in(&l.sentence) || settledCue.in(&l.sentence) {
			return
		}
		weight := c.weight
		if !oftenCue.in(&l.sentence) {
			// it may have been said just before, of the same person
			if l.last == nil || l.last.whom != who || !l.last.claims || !oftenCue.in(&l.last.sentence) {
				return
			}
			weight -= .08
		}
		if whom(l.words) == "" {
			weight -= .05
		}
		found = append(found, bondSign{line: l, key: who, about: c.key, weight: weight})
	})
	found = append(found, exchanges(all)...)
	slices.SortStableFunc(found, func(a, b bondSign) int { return cmp.Compare(a.line.of, b.line.of) })
	found = withHints(found, all, dynamicHints, dynamicWeight)
	var findings []Finding
	for _, b := range gatherBonds(found) {
		findings = append(findings, b.finding(d, "dynamic",
			fmt.Sprintf("With %s you come back to the same way of being together: “%s”.", calledPerson(b.key), quoted(b.signs[0].line)),
			fmt.Sprintf("You might notice the next time it happens with %s, and try one small thing differently.", calledPerson(b.key)),
			map[string]any{"person": strings.TrimPrefix(calledPerson(b.key), "your "), "roles": b.abouts}))
	}
	return findings
}

// exchanges finds texts in which the user does one thing, somebody else another, and
// it is said that this is how it goes with them.
func exchanges(all []bondLine) []bondSign {
	var found []bondSign
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].of == all[from].of {
			to++
		}
		if s, ok := exchange(all[from:to]); ok {
			found = append(found, s)
		}
		from = to
	}
	return found
}

func exchange(of []bondLine) (bondSign, bool) {
	turns, last, again, strong, person, pronoun := 0, 0, -1, false, "", false
	together := false   // what it is that the two of them do is said at once
	var telling [2]bool // the user and the other do what is more than a matter of every day

	for i := range of {
		l := &of[i]
		if len(l.words) == 0 || !l.claims || dailyMatters.in(&l.sentence) || settledCue.in(&l.sentence) {
			continue
		}
		if ritualCue.in(&l.sentence) {
			again, strong = i, true
		} else if again < 0 && habitCue.in(&l.sentence) {
			again = i
		}
		if p := whom(l.words); p != "" && person == "" {
			person = p
		}
		together = together || sharedWays.in(&l.sentence)
		pronoun = pronoun || pronounCue.in(&l.sentence)
		for at := range l.words {
			if who := doer(l.words, at); who != 0 {
				if deed(l.words, at+1) {
					telling[who-1] = true
				}
				if who != last {
					turns++
					last = who
				}
			}
		}
	}
	if again < 0 || person == "" && !pronoun || !telling[0] && !telling[1] {
		return bondSign{}, false
	}
	if turns < 2 && !(strong && together) || turns < 4 && !strong && !(telling[0] && telling[1]) {
		return bondSign{}, false
	}
	weight := .5
	if turns > 2 {
		weight = .6
	}
	return bondSign{line: &of[again], key: person, about: "an exchange that comes again", weight: weight}, true
}

// doer says whether the user (1) or somebody else (2) does something that is told
// from a word on, or nobody (0).
func doer(words []word, at int) int {
	who := 0
	switch w := words[at].text; {
	case w == "i" || w == "me" && at+1 < len(words) && words[at+1].text == "who":
		who = 1
	case w == "he" || w == "she" || w == "they" || w[0] == '@' || w == "it" && at > 0 && words[at-1].text == "without" || w == "everything" || w == "her" && at+1 < len(words) && words[at+1].text == "who":
		who = 2
	}
	if who != 0 && deedAt(words, at+1) >= 0 {
		return who
	}
	return 0
}

// deedAt gives where the verb is that a subject has right before a word, or -1.
func deedAt(words []word, at int) int {
	for at < len(words) && exchangeAdverbs[words[at].text] {
		at++
	}
	if at >= len(words) || exchangeNoVerbs[words[at].text] {
		return -1
	}
	return at
}

// deed says that this verb tells something.
func deed(words []word, at int) bool {
	at = deedAt(words, at)
	return at >= 0 && !everyDeed[words[at].text]
}

var (
	exchangeAdverbs = wordSet("always just then only still never usually simply quickly already even mostly tends tend to really often almost again both also who do does not did had has have will would can could 'd")
	exchangeNoVerbs = wordSet(`, and or but with the a an of in on at for from by as if than that this i he she they we you me him her them us my his their our is am are was were be been 's
		about over into because so when while until since who what which there here no`)
)

var sharedWays = phrased(`(?:(?:0p|he|she) and (?:i|me)|(?:me|i) and (?:0p|him|her)|between us|our|us|for (?:him|her|them|0p)|from me|to me|at me|my)`)

// settledCue is what was so once and is not any more.
var settledCue = phrased(`(?:used to|no longer|not anymore|not any more|stopped)`)
