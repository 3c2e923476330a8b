package local

// selves is who one may become; feared ones are told apart by their words.
var selves = []*pattern{
	cue(`i (?:can |could |often |always |still |already |sometimes |do |keep |like to |just |totally |really |clearly )?(?:totally |really
		|clearly |already |easily |sometimes
		)?(?:see|picture|imagine|envision|imagining|picturing|seeing|visualise|visualize|pictured|imagined|saw|think of|dream of|dreamed
		of|daydream of) (?:myself|me|a me|a future me|my future self|an older me|the me) (?P<what>_ … …) $`),
	cue(`i (?:can |could |often |always |still |keep )?(?:see|imagine|picture|imagining|seeing) the (?:_ )?(?:_
		)?(?:person|man|woman|mother|father|mum|dad|doctor|teacher|old
		_|fellow|parent|friend|partner|leader|artist|writer|pensioner|girl|boy|one|_) (?:that |who |whom )?i (?:would like to|want
		to|could|might|may|am going to|hope to|will|can|long to) (?:be|become|turn into|grow into) (?P<what>…) $`),
	cue(`(?P<what>(?:the|that) (?:kind of |sort of |type of )?(?:_ )?(?:_
		)?(?:person|man|woman|mother|father|mum|dad|parent|friend|partner|doctor|teacher|leader|artist|writer|pensioner|human|someone|self|version|me|nurse|
		boss|grandmother|grandfather|one|fellow|husband|wife|daughter|son)
		(?:that |who |whom )?i (?:would like to|want to|will|could|might|may|am going to|hope to|wish to|am becoming|am turning into|want
		to have|long to|aspire to|dream of|am afraid of|fear) (?:be|become|becoming|being|turn into|grow into)?(?: …)?) `),
	cue(`i (?:really |just |never |only |do not )?(?:want|hope|would like|would love|wish|long|aspire|try|am trying|am working|strive) to
		(?:be|become) (?P<what>(?:the|that) (?:kind|sort|type) of _ (?:_ )?…|(?:a|an|the|someone|somebody|one of (?:those|the)|that|the
		kind of|the sort of) (?:_ )?(?:_ )?(?:_
		)?(?:person|man|woman|mother|father|mum|dad|parent|friend|partner|leader|someone|somebody|human|self|people|version|wife|husband|who)
		…) $`),
	cue(`(?:one day|some day|someday|in (?:_ )?(?:_ )?years|in (?:_ )?(?:_ )?years time|a year from now|years from now|when i am
		(?:old|older|_)|by the time i am _|perhaps|maybe|at (?:thirty|forty|fifty|sixty|seventy|eighty)) (?:, )?(?:from now )?(?:,
		)?(?:perhaps |maybe )?(?:i will be|i might be|i could be|i may be|i am|i would be|i am going to be|i am gonna be|i shall be|i want
		to be|i might become|i could become|i will become|i will have become)
		(?P<what>(?:a|an|the|that|one|someone|somebody|ms|mr|mrs|dr|one of|who|my own|some|old|free|sober|_) … …) $`),
	cue(`(?P<what>(?:the|that|a) (?:_ )?_ (?:that |who )?i (?:could|may|might|am becoming|am turning into|would like to|want to|hope
		to|long to|am meant to|dream of) (?:one day |still |yet |eventually )?(?:be|become|grow into|turn
		into|becoming|being|scares|frightens|worries)) `),
	cue(`(?P<what>that is me in (?:_ )?(?:_ )?years|that will be me) `),
	cue(`(?:one day|someday|some day) (?P<what>(?:people|they|everyone|my _) will (?:call|know|see|remember) me …) $`),
	cue(`there is (?P<what>(?:a|an) (?:_ )?_ (?:in|inside) me) (?:$|,|who|that|waiting|somewhere|trying|still)`),
	cue(`i (?:will|might|may|could|am going to|am afraid i will) end up (?:as )?(?P<what>(?:a|an|the|just|like) … …) $`),
	cue(`i would be (?:happiest|happy|good|great|at home) as (?P<what>(?:a|an|the) …) $`),
	cue(`(?:_ )?years from now (?:, )?i (?:will|might|could|want to) be (?P<what>_ … …) $`),
	cue(`(?P<what>what (?:kind|sort) of _ (?:will|would|could|might) i be)`),
	cue(`(?:one day|someday|some day|eventually) (?:, )?i (?:would like|want|hope|would love) to be (?P<what>(?:a|an|the|that|someone|somebody) …) $`),
	cue(`i would (?:be|make) (?P<what>a (?:_ )?(?:_ )?(?:father|mother|dad|mum|parent|teacher|nurse|doctor|leader|boss|friend|partner|wife|husband|
		grandmother|grandfather|coach|lawyer|therapist|aunt|uncle|person)) `),
	cue(`i (?:want|would like|hope|wish) to be (?P<what>(?:like|as _ as|just like) (?:_ )?(?:my|aunt|uncle|the|her|him|them|those|that|_)
		…) $`),
	cue(`i (?:often |sometimes |keep |can |could |might )?(?:imagine|imagining|picture|see myself|fear|dread) (?:being|becoming|turning
		into|ending up) (?P<what>_ … …) $`),
	cue(`(?P<what>(?:version|versions|a side) of me … (?:who|that|in|speaks|lives|is|has|wakes|could|would|says|does|knows|never)) `),
	cue(`i (?:could|might|may|can|will) (?:still |one day |eventually |slowly |really |actually )?(?:become|turn into|grow into|end up
		as|end up being|end up like|be) (?P<what>(?:a|an|the|that|someone|somebody|one of|my (?:mother|father|mum|dad)|like
		my|her|him|this) … …) $`),
	cue(`i am (?:slowly |already |afraid i am |scared i am |gradually )?(?:becoming|turning into|growing into|starting to become)
		(?P<what>(?:a|an|the|my|someone|somebody|exactly) … …) $`),
	cue(`i (?:am (?:scared|afraid|terrified) (?:that )?i am|feel myself) (?:becoming|turning into|growing into) (?P<what>_ … …) $`),
	cue(`(?:i (?:would like|want|hope) to be remembered (?:as|for)|i (?:often |sometimes )?(?:daydream|fantasise|fantasize|dream)
		(?:about|of) being) (?P<what>_ … …) $`),
	cue(`i (?:will|am going to|would) (?:turn|grow|end up) (?:into|like|as|up as) (?P<what>_ … …) $`),
	cue(`i (?:can|could) see (?:me|myself|him|her|it|a future|a version|the) (?:, )?(?P<what>(?:becoming|being|turning|the|as|in
		which|where|of me) … …) $`),
	cue(`(?P<what>(?:version|versions) of (?:me|myself|who i) (?:…)) $`),
	cue(`(?:the|a|my|an)
		(?:best|better|future|ideal|other|older|happier|calmer|gentler|braver|kinder|possible|feared|true|worst|healthier|freer|stronger|real)
		(?P<what>(?:me|self|version of (?:me|myself)) (?:who|that|in|is|will|would|could|has|does|knows|, …|$))`),
	cue(`(?:there is|there was|there might be) (?P<what>a (?:_ )?me (?:…)) $`),
	cue(`(?:in my head|in my mind|in my dreams|in my daydreams|sometimes in my dreams) (?:, )?i am (?:already
		)?(?P<what>(?:the|a|an|that|someone|somebody) … …) $`),
	cue(`(?P<what>(?:what|who|whom) i (?:am turning into|am becoming|might become|could become|may become|could be|want to become|want to
		be|will become|will be one day|am going to be|will end up as)) `),
	cue(`i (?:am|feel) (?:{adv} )?(?:{adv} )?(?:scared|afraid|terrified|frightened) (?:of|that i (?:will|may|might|could|am))
		(?:becoming|turning into|turning|ending up|become|turn into|the _ i (?:may|might|could|will) become|end up)
		(?P<what>(?:like|as|a|an|my|the|someone|somebody|into|one of|just like|bitter|cold|him|her) … …) $`),
	cue(`i (?:do not want to|never want to|refuse to|swore i would never|will not) (?:become|turn into|end up like|end up as|be like|turn
		out like|become like) (?P<what>_ … …) $`),
	cue(`(?P<what>that could be me|that might be me|that will be me one day|that is who i want to be|that is me one day|i want to be
		(?:like )?(?:her|him|that|them)(?: one day)?|i might become (?:her|him)|the person i could be|the person that i could be|my future
		self|my older self|future me) `),
	cue(`(?:could|can|might) i be (?P<what>(?:that|an actual|a real|the|one of|a|an) … …) `),
	cue(`i see (?P<what>(?:a|the|my) future (?:me|self)? … …) $`),
}

// selfMarks gives the marks of a sentence; none where it is a joke, about the moment, or
// about the mirror in the hall.
func selfMarks(s *sentence) mark {
	m := selfSigns.of(s, version|mirrored)
	if m == 0 || m&(mirrored|version|becoming) == 0 && s.anywhere(captains) || s.anywhere(soon) || technicalWords(s) > 1 ||
		!s.anywhere(firstPerson) && m&(mirrored|version|becoming) == 0 {
		return 0
	}
	if _, ok := first(pictured, s); ok {
		return 0
	}
	if _, ok := first(selves, s); ok {
		m |= perhaps
	}
	return m
}

func clearSelf(m, own mark) bool {
	return own&(version|mirrored|becoming|perhaps) != 0 && selfSigns.weight(m) >= 3 || own&(version|mirrored) != 0 && m&^role != 0
}

var fearedSelf = wordSet(`bitter lonely alone cold grey sour angry old nobody failure scared afraid terrified turning turn refuse grumpy drunk broken
		empty sharp yelling never
	hard selfish monster worst bottles tired gone`)

// possibleSelves finds who somebody may become: hoped for, or feared. Its signs add up
// in a sentence and the next one; what says less counts beside a text about the same.
//
// Content: self, in the user's words; valence, hoped or feared; texts, how many tell
// of it.
func possibleSelves(d *document) []Finding {
	var c collector
	var same topics
	var valences []string
	var late []passage
	d.perText(func(of int, sentences []sentence) {
		told := false
		read := make([]mark, len(sentences))
		for i := range sentences {
			read[i] = selfMarks(&sentences[i])
		}
		for i := range sentences {
			s := &sentences[i]
			if read[i] == 0 {
				continue
			}
			m, words := read[i], s.text(0, len(s.words))
			p := passage{of: of, words: words, marks: m}
			if i > 0 && read[i-1] != 0 {
				m |= read[i-1]
				p.words = around(sentences, i)
			}
			if !clearSelf(m, read[i]) {
				late = append(late, p)
				continue
			}
			valence := either(s.anywhere(fearedSelf), "feared", "hoped")
			if !told {
				same.add(p.words, words)
				valences = append(valences, valence)
			}
			told = true
			c.add(statement{of: of, about: words, kind: valence, chance: sure, detail: valence})
		}
	})
	for _, p := range late {
		if selfSigns.weight(p.marks&(pictures|perhaps|becoming|likeOne|later)) < 2 {
			continue
		}
		if i, ok := same.find(p.words); ok {
			c.add(statement{of: p.of, about: same.about[i], kind: valences[i], chance: weak, detail: valences[i]})
		}
	}
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		hoped := b.detail == "hoped"
		return Finding{
			Type:           "possible_self",
			Description:    either(hoped, "You picture somebody you could become: “", "You picture somebody you would not want to become: “") + shown(b.about) + "”.",
			Content:        map[string]any{"self": shown(b.about), "valence": b.detail, "texts": len(g.texts())},
			Recommendation: either(hoped, "You might do one thing this week that this person would do.", "You might note what would lead you another way, and begin with one part of it."),
		}
	})
}

var captains = wordSet("late line queue fan member guest pirate driftwood minutes page meeting office back busy away home able ready sure available free")

var pictured = cues(`see (?:myself|me) (?:out|to the door)`,
	`(?:see|seeing) (?:herself|himself|themselves)`,
	`(?:could|might|may|can|will) be (?:a (?:bit|good idea|problem|while|little|better|mistake|typo|bug|coincidence|reason|way)|the
		(?:case|reason|problem|cause|same|one that)|that (?:the|it|i|we|you))`,
	`(?:see|saw|seeing|picture) (?:myself|me) (?:in|on) (?:the|a|that|this)
		(?:_ )?(?:mirror|window|photo|picture|video|screen|reflection|list|camera)`,
	`i (?:will|may|might|could|can) be (?:the (?:one (?:to|who|with|in)|(?:first|last|only) (?:one|to))|a few|an hour)`)
