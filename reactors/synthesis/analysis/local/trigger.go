package local

import (
	"slices"
	"strings"
)

// recurrent is how one tells that something happens again and again.
var recurrent = cues(
	`(?:whenever|every time|each time|every single time|always|as usual|as always|like always|again and again|on cue|every morning|each
		morning|every night|each night|every evening|every week|each week|every day|each day|most days|most weekdays|never fails|without
		fail)`,
	`(?:as|like) (?:i|it|they|he|she) (?:always|usually) (?:do|does|is)`,
	`(?:as|that) happens every time`,
	`like i do with`,
	`same as (?:each|every|always)`,
	`same thing`,
	`(?:was|is|were) back (?:again|within|in|at)`,
	`(?:it is )?always like that`,
	`(?:every|each) _ the same`,
	`(?:gets|get) me every time`,
	`as ever`,
	`same old (?:story|song|thing)`,
	`like every (?:_ )?(?:time|month|week|year|day|morning|evening|night)`,
	`as it is with (?:every|each|all)`,
	`(?:ever )?since (?:the|my|that|i was|he|she|we|childhood)`,
	`can not … without (?:getting|feeling|becoming|crying|panicking|being|weeping|thinking|worrying)`,
	`the (?:second|minute|moment|instant) (?:i|he|she|it|they|the|my|that|somebody|someone)`,
	`(?:each|every) (?:year|month|visit|call|meeting|phone|letter|trip|review|shift)`,
	`(?:once again|yet again|as ever|here we go again|there it is|every year|all over again|routinely|invariably|keeps? happening)`,
	`(?:third|fourth|second|fifth|sixth|tenth|hundredth|umpteenth) time`,
	`again`,
	`once more`,
	`nothing (?:sets|gets|makes|drives) me`,
	`(?:every|each) (?:_ )?(?:sunday|monday|tuesday|wednesday|thursday|friday|saturday|sundays|winter|christmas|one of them)`,
	`sets? me off`,
	`takes me (?:right )?back`,
	`triggers? me`,
	`as with (?:all|every)`,
	`tends? to`,
	`(?:sends?|takes?) me (?:straight |right )?back`,
	`(?:before|after|during|in|at) (?:every|each|any) `,
	`(?:on|most) (?:sunday|monday|friday)s? evenings?`,
	`a trigger for me`,
	`in no time`,
	`(?:does|do|did|has done|have done) (?:that|it|this) to me`,
	`(?:has|have|had) (?:that|this) effect`,
	`(?:gets?|got) me (?:like that|that way|every|right|each)`,
	`(?:it|all it) (?:only )?takes (?:only )?(?:is )?(?:a|one|just)`,
	`(?:it )?(?:comes?|came) with (?:the|that|it|this)`,
	`like (?:they|it|he|she|i|on|at|in) (?:always|usually|every|each|all)`,
	`(?:year after year|day after day|time after time|time and again|week after week|night after night|over and over|all the time|never fails|a
		pattern|without exception)`,
)

// prompt is how one tells that a feeling follows from something. It says less than that
// it does so again and again: two texts about the same have to say so.
var prompt = cues(
	`(?:alone|just|only) (?:has to|have to|makes?|is enough|does it|and)`, `(?:has|have|had) only to|only has to`, `(?:never|does not|will not)
		(?:wears? off|fail|gets? old|change|changes)`,
	`(?:comes|came) (?:up|back) again`, `after (?:all these|forty|thirty|twenty|ten|so many|_) years`, `still`,
	`and i (?:am|feel|go|get|want|could|cry|shake|start|freeze|panic|nearly)`,
	`one (?:look|word|sigh|note|glance|second|whiff|step|sniff) `,
	`so (?:sad|angry|happy|anxious|scared|ashamed) every`,
	`(?:every|each|any|whenever|always|keeps?|happens|usually)`,
	`(?:as soon as|the moment|one _ is enough|like nothing else|no different|do not even|does not even)`,
	`i am (?:_ )?(?:four|five|six|seven|eight|nine|ten|fourteen) (?:years )?(?:old|again)`,
	`_ and me $`,
	`(?:since|from) (?:school|then|the|my|dad|mum|that|childhood|he|she|i|we|2) `,
	`(?:it is|it was only|just|is) the (?:_ )?(?:words?|smell|sound|sight|logo|tone|voice|look|feeling|thought|name|ink|song|place)`,
	`(?:the )?same (?:result|feeling|story|reaction|terror|panic|fear|sadness|anger|joy|thing|as|again|every|each|old|way)`,
	`(?:right )?on (?:schedule|cue)`,
	`(?:exactly )?(?:as|like) (?:it did |i did |it was |i was )?(?:when|back when|in) (?:i|we|the)`,
	`back (?:in|at|on) (?:the|my) `,
	`(?:mean|means|meant|equals?|spells?) (?:that )?(?:i|_ for me|me)`,
	`(?:i was|am|i am) (?:_ )?(?:back|eight|seven|six|nine|ten|five|twelve|fourteen|a child|a kid|a little)`,
	`(?:straight|right) (?:away|off|after)|at once|instantly|immediately|within (?:a|one|seconds?|minutes?|two)|in (?:like )?(?:a|one|two|three) seconds?`,
	`before (?:i|he|she|they|it|even|the|anybody|anyone|a)`,
	`even (?:if|when|though|the thought)`,
	`(?:these|those|such) _ (?:always|make|makes)`,
	`(?:all|just) it takes|all the same|so it is with me`,
	`if (?:somebody|someone|people|anyone|anybody|he|she|they|the|i) `,
)

// habitual is a feeling told in the present with what brings it.
var habitual = []*pattern{
	cue(`(?:whenever|every time|each time|any time|as soon as|the moment|the minute|the second|the instant) (?P<what>_ … …) (?:,
		)?(?:i|my|it|and|then|that|something|there) `),
	cue(`^ (?:when|if|once|after|before|during) (?P<what>_ … …) (?:, )?(?:i|my|something in me|it) `),
	cue(`(?:whenever|every time|each time|any time|as soon as|the moment|the minute|the second|the instant|always
		when|when|if|before|around|during|in front of|at the thought of|at the sight of|in) (?P<what>_ … …) $`),
}

// causes is a situation that is the subject of what it does to the user.
var causes = []*pattern{
	cue(`(?P<what>…) (?:always |just |really |usually |often |still |never fails to |can
		)?(?:makes|make|leaves|leave|gets|turns|keeps|drives|sends) me (?:feel |go |into |to |in |want to )?(?:a |an |such a |so |very
		|really |all )?(?:{adv} )?(?P<f>{feel_adj}|{feel_does}|{feel_noun}|tears|tears|panic mode|want to cry|spiral)`),
	cue(`(?P<what>…) (?:always |just |really |usually |often |still |never fails to
		)?(?P<f>scares|scare|terrifies|terrify|frightens|frighten|panics|unsettles|unsettle|stresses|stress|overwhelms|overwhelm|upsets|enrages|enrage|infuriates|infuriate|frustrates|frustrate|saddens|sadden|depresses|depress|devastates|humiliates|humiliate|embarrasses|embarrass|unnerves|unnerve|angers|freaks|freak|intimidates|intimidate|disgusts)
		me (?:out)?`),
	cue(`(?P<what>…) (?:always |just |really |usually |often |still )?(?:gives?|brings?|fills?|causes?|triggers?|hits?|floods?) (?:me|my|in
		me|up) (?:with |in me )?(?:a |an |this |so much |such )?(?:_ )?(?:_ of )?(?P<f>{feel_noun})`),
	cue(`(?P<what>…) (?:always |just |really |usually |often |still )?(?:sets me off|triggers me|gets under my skin|puts me on edge|makes
		my (?:heart race|pulse race|heart pound|stomach turn|stomach drop|stomach churn|blood boil|skin crawl|chest tight|chest tighten|hands
		shake|palms sweat|throat close)|gets me down|stresses me out|freaks me out|brings me to tears|is a trigger for me)`),
	cue(`(?:my|the) (?:biggest |main |worst )?triggers? (?:is|are|for (?:my|me) _ is|for my _ are) (?P<what>_ … …) $`),
	cue(`i (?:always |really |just |absolutely )?(?:dread|hate it when|can not stand it when|can not bear it when) (?P<what>_ … …) $`),
	cue(`i (?:always |usually |often )?(?:get|feel|become) (?:{adv} )?(?P<f>{feel_adj}) (?:around|in|before|during|at|on|near|about)
		(?P<what>_ … …) $`),
}

// bare is subjects that do not say what it is.
var bare = wordSet("it this that which what you he she they these those and so but who i there")

var you = wordSet("you")

// triggers finds situations that bring a feeling again and again.
//
// Content: situation, in the user's words; emotion, a word for the feeling; family, of
// the feelings; texts, how many tell of it.
func triggers(d *document) []Finding {
	recurs := map[int]bool{}  // texts that tell of something that happens again and again
	certain := map[int]bool{} // texts that tell of a feeling for certain: two of these happened again
	c := collector{enough: func(g *group) bool {
		all := g.texts()
		return len(all) > 1 && (slices.ContainsFunc(all, func(of int) bool { return recurs[of] }) ||
			!slices.ContainsFunc(all, func(of int) bool { return !certain[of] }))
	}}
	d.perText(func(of int, sentences []sentence) {
		again := false
		for i := range sentences {
			if sentences[i].question {
				continue
			}
			if _, ok := first(recurrent, &sentences[i]); ok {
				again, recurs[of] = true, true
			} else if _, ok := first(prompt, &sentences[i]); ok {
				recurs[of] = true
			}
		}
		for i := range sentences {
			s := &sentences[i]
			if s.anywhere(technical) && !again || s.anywhere(kitchen) {
				continue
			}
			found := signs(s)
			certain[of] = certain[of] || len(s.felt) > 0 && !over.in(s)
			what, family, chance := "", "", 0.0
			if e, ok := strongest(found); ok && e.level >= 2 {
				family, what, chance = e.family, s.text(0, len(s.words)), weak
				good := !negative[e.family]
				for k, h := range habitual {
					if m, ok := h.find(s); ok && !within(m, "what", e) {
						what = m.text("what")
						if past := s.has(wordSetPast, 0, len(s.words)); (!good || k == 0) && !past && len(s.felt) > 0 || again && len(s.felt) > 0 {
							chance = sure
						}
						break
					}
				}
				if again && len(s.felt) > 0 {
					chance = sure
				}
			}
			if chance < sure && !aside(s) {
				for _, k := range causes {
					m, ok := k.find(s)
					if !ok {
						continue
					}
					at, to := m.span("what")
					if s.words[m.from].text == "i" && m.text("f") == "" && (s.anywhere(shopping) || s.anywhere(thinking)) {
						continue
					}
					if s.denied(to) || to-at == 1 && bare[s.words[at].text] || at == to || s.has(you, at, to) {
						continue
					}
					f, ok := felt.any[m.text("f")]
					if !ok {
						f = feeling{"anxiety", 2}
					}
					if f.level < 2 {
						continue
					}
					what, family, chance = m.text("what"), either(m.text("f") == "" && family != "", family, f.family), sure
					if !negative[f.family] && !again {
						chance = weak
					}
					break
				}
			}
			if family != "" {
				about := what
				if len(stemsOf(about)) == 0 || chance == weak { // what it is about stands in the sentence before
					about = unfelt(around(sentences, i))
				}
				c.add(statement{of: of, about: about, kind: either(negative[family], "bad", "good"), chance: chance, beside: unfelt(around(sentences, i)), detail: what + "\x00" + family})
			}
		}
	})
	c.alike(d, recurs)
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		what, family := halves(b.detail)
		return Finding{
			Type:        "trigger",
			Description: "Some situations seem to bring up " + nameOf(family) + " in you again and again: “" + shown(what) + "”.",
			Content:     map[string]any{"situation": shown(what), "emotion": nameOf(family), "family": family, "texts": len(g.texts())},
			Recommendation: either(negative[family],
				"When this comes up again, it may help to notice it early and to decide beforehand what would do you good.",
				"It may be worth making room for this on purpose."),
		}
	})
}

// alike puts what is weak with what is clear if it tells of the same feeling, again: in
// few texts, of which all that is clear is about one feeling.
func (c *collector) alike(d *document, again map[int]bool) {
	if len(d.texts) > fewTexts {
		return
	}
	var clear *statement
	for i := range c.all {
		s := &c.all[i]
		if s.chance < sure {
			continue
		}
		if clear != nil && kin[feelingOf(s)] != kin[feelingOf(clear)] {
			return
		}
		clear = s
	}
	for i := range c.all {
		if s := &c.all[i]; clear != nil && s.chance < sure && again[s.of] && kin[feelingOf(s)] == kin[feelingOf(clear)] {
			s.about += " " + clear.about
		}
	}
}

func feelingOf(s *statement) string {
	_, family := halves(s.detail)
	return family
}

// over is how one tells that a worry was for nothing.
var over = cue(`(?:but|and|then|though|,) (?:_ )?(?:_ )?(?:it|all|that|they|he|she|we|everything)? (?:_ )?(?:did|stayed|was
		(?:fine|ok|okay|nothing|nice|all right)|went (?:well|fine|ok)|turned out|worked out|passed)`)

// unfelt gives words without those of feelings: two texts are not about the same thing
// only because both are sad.
func unfelt(about string) string {
	words := strings.Fields(about)
	return strings.Join(slices.DeleteFunc(words, func(w string) bool {
		_, feeling := felt.any[strings.Trim(w, ",")]
		return feeling || tellWords[w]
	}), " ")
}

var tellWords = wordSet("absolutely second minute moment worried afraid thrilled excited new today tomorrow got said home evening")

var thinking = wordSet("think lol")

// wordSetPast is words that tell of one time in the past.
var wordSetPast = wordSet("was were felt got went had made became came left did")

// within says that an emotion is inside of a name's words.
func within(m match, name string, e emotion) bool {
	from, to := m.span(name)
	return e.from >= from && e.to <= to
}
