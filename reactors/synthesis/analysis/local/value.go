package local

// holds is what somebody tells as dear or right.
var holds = []*pattern{
	cue(`(?P<what>…) {matters}`),
	cue(`(?:it )?(?:really |deeply |truly |always )?matters to me (?:more than anything |most |a lot |deeply )?(?:that|to|how|whether|when)
		(?P<what>_ … …) $`),
	cue(`(?:what|the thing that|the one thing that) (?:really |truly |most )?(?:matters|counts|is important|is most important|is sacred|i
		value|i hold) (?:most |to me |for me |most to me |more than |above all |in life |dear )?(?:on _ _ )?(?:is|are) (?:that |to
		)?(?P<what>_ … …) $`),
	cue(`(?P<what>… {virtue} …) (?:comes?|came|goes) (?:first|before|above) (?:for me|to me|with me|in
		my|everything|anything|all|work|money|career|the)?`),
	cue(`(?P<what>_ …) comes? (?:first|before everything|before anything|above everything|above all) (?:for|to|with) me`),
	cue(`(?:for|to) me (?:, )?(?:it is )?(?P<what>… {virtue} …) (?:comes?|is|are|means?|matters?|stands)
		(?:first|before|above|everything|the most|more important|sacred|worth|a form of|not negotiable|non negotiable|what|all|most|the)`),
	cue(`(?:for|to) me (?:is|it is) (?:very |so |most |really )?important (?:to |that )?(?P<what>(?:the )?{virtue}) `),
	cue(`(?:for|to) me (?P<what>… {virtue}) (?:is|are|comes|means|matters)
		(?:everything|sacred|important|very|more|most|the|first|above|not)`),
	cue(`i (?:really |deeply |strongly |truly |do |firmly |still |always |have always )?(?:value|cherish|treasure|prize|hold dear)
		(?P<what>(?:_ )?(?:_ )?{virtue} …) $`),
	cue(`i (?:really |deeply |strongly |truly |do |firmly |still |always )?(?:value|cherish|prize|put|place) (?P<what>_ (?:_
		)?(?:above|over|more than|before|higher than) … …) $`),
	cue(`i (?:really |deeply |strongly |truly |do |firmly |still |always |passionately )?believe (?:in (?P<what>(?:_ )?(?:_ )?{virtue}
		…|always _ …|being _ …|treating _ …|giving _ …|standing _ …|doing _ …|helping _ …)) $`),
	cue(`i (?:really |deeply |strongly |truly |do |firmly |still |always |passionately )?believe (?:that
		)?(?P<what>(?:everyone|everybody|people|we|you|every _|all _|one|nobody|no one|a _|the _|learning|children|work|it is
		(?:my|our|wrong|right)) (?:_ )?(?:_ )?(?:_ )?(?:should|deserves?|owe|owes|must|have to|has to|ought|has a right|have a right|have
		the right|are equal|is equal|need to be|be treated|matters?) … …) $`),
	cue(`i (?:would )?(?:rather|sooner) (?P<what>_ … (?:than) … …) $`),
	cue(`i (?:refuse|would never|will never|could never|can never|will not ever|never|do not want to make my living|will not make my
		living) (?:to |by )?(?P<what>(?:lie to|lying|betray|cheat|compromise|abandon|break (?:a|my) promise|break my word|turn my
		back|sell out|keeping quiet|build|leave _ behind|look away|forget and never leave|be silent|stay silent|deceive|exploit|hurt) …) $`),
	cue(`(?:against|matter of|by|of|out of|from) (?P<what>(?:my|our) (?:_
		)?(?:principles?|values?|conscience|beliefs?|convictions?|morals?|creed)|(?:everything|what|all) i (?:stand for|believe
		in)|principle) `),
	cue(`(?P<what>…) (?:that |which )?(?:is|are) (?:what|how|all|the rule|the code|the principle|something|a principle|a rule) i (?:live
		by|stand for|was raised|believe in|stand by|hold to|try to live)`),
	cue(`(?:what i live by|what i stand for|my motto|my rule|my principle|my principles|my core value|my core values|my values|my
		compass|my guiding principle) (?:is|are|, |in life is) (?P<what>_ … …) $`),
	cue(`(?P<what>…) (?:is|are|has always been|was always) (?:_ )?(?:at the heart of who i am|sacred to me|non negotiable for me|non
		negotiable|not negotiable|everything to me|the most important thing (?:to|for|in my)|(?:so |very |really |deeply |incredibly
		|extremely |hugely |terribly )?(?:important|precious|dear|essential|vital|sacred) (?:to|for) me|worth more (?:to me )?than|a
		matter of principle|(?:like )?the thing for me|one of my (?:values|core values|principles)|what i (?:hold most dear|care about
		most|value most|hold dear))`),
	cue(`i (?:really |deeply |truly |do |always |have always )?care (?:so much |deeply |a lot |very much |more |most )?(?:about|that)
		(?P<what>(?:doing|being|how|whether|people|the|my|that|{virtue}|_) … …) $`),
	cue(`i (?:stand|stood|fight|will always stand|speak|live) (?:up )?(?:for|by) (?P<what>(?:_ )?(?:_ )?(?:{virtue}|what is right|what i
		believe|those|people|the weak) …) $`),
	cue(`(?:nothing|no amount of money|no money|not even money) (?:is|matters|means|counts|can be|comes) (?:more |above |worth |before
		)(?:important |precious |sacred )?(?:to me |for me )?(?:than )?(?P<what>_ … …) $`),
	cue(`(?:it is|it has always been) (?:so |very |really |deeply |extremely |most )?(?:important|essential|a matter of
		principle|vital|sacred|a point of honour|a point of honor) (?:to|for) me (?:that|to) (?P<what>_ … …) $`),
	cue(`(?P<what>being … |_ … ) is worth more than (?:a |any |the |money|all)`),
	cue(`(?:i was (?:raised|brought up) to (?:believe |value )?|my parents taught me (?:that |to )?)(?P<what>(?:_ )?(?:_
		)?(?:{virtue}|tell|keep|help|respect|share|treat|work) … …) $`),
	cue(`you (?:have to|should|must|stand by|own up|keep|treat|never) (?P<what>_ … … (?:what i live by|no matter who|no matter what|that is
		my rule|always)) `),
	cue(`(?:law or not|no matter what|whatever it costs|whatever happens) (?:, )?i (?:believe|think|will|stand|try|always) (?P<what>_ … …)
		$`),
	cue(`(?P<what>… {virtue} …) (?:is|are) (?:by far )?(?:the most important thing|the highest good|above everything|sacred|what life is
		about|what makes life)`),
	cue(`(?P<what>_ …) (?:is|are) (?:what|the thing that) (?:really |truly |most )?(?:counts|matters) (?:most )?(?:for|to) me`),
	cue(`i (?:will not|would not|can not|refuse to|never) compromise (?:on|my) (?P<what>_ …) $`),
	cue(`(?P<what>_ …) (?:is|are|lies|has always been) (?:very |so |really )?(?:close to my heart|dear to my heart|at the
		(?:centre|center|core|heart) of (?:my life|everything i do|who i am)|the (?:centre|center|core|heart|foundation) of my life|in my
		blood)`),
	cue(`i (?:try to |always |have always )?live by (?P<what>(?:one|a|the|my|this|that) (?:_
		)?(?:rule|rules|motto|principle|principles|code|word|belief|creed|faith|saying) …|{virtue}) `),
	cue(`i (?:do not|would not|never) want to (?:live|earn|make|be part) (?:_ )?(?:_ )?(?:_ )?(?P<what>_ (?:that|which|by|of|off) _ …) $`),
	cue(`(?:for|to) me (?:, )?(?P<what>a (?:promise is a promise|deal is a deal|word is a word|friend is a friend|handshake) …) `),
	cue(`(?:how|the way) i was (?P<what>raised|brought up) `),
	cue(`(?:could|can) not (?:look at myself|look myself|live with myself|sleep at night) … if i (?P<what>_ …) $`),
	cue(`i (?:really |strongly |firmly |do )?(?:believe|think) (?:that )?(?P<what>… (?:the same rights?|equal rights|a right to|the right to|are equal|
		worth the same) …) $`),
	cue(`(?P<what>{virtue}) (?:really |truly |deeply )?matters to me`),
	cue(`(?P<what>my word is my bond|a word is a word) `),
	cue(`(?P<what>…) , that is where i draw the line`),
	cue(`nothing beats (?P<what>(?:time with my |being with my |my )?(?:{kin}|{virtue}) …) $`),
	cue(`(?:for|to) me (?:, )?(?:it|life|everything) is (?:all )?about (?P<what>(?:_ )?{virtue})`),
	cue(`(?P<what>being {moral} …) (?:matters|means|counts|is) (?:more|most|everything)`),
	cue(`i (?:value|cherish|treasure|prize) (?P<what>my _ …) $`),
	cue(`(?P<what>_ … …) , that has always been important to me`),
	cue(`(?:above all|more than anything|most of all|first of all|whatever happens|no matter what) (?:, )?i (?:want|try|need|have) to be
		(?P<what>{moral} …) $`),
	cue(`i (?:will )?(?:always |do |really )?(?:try|strive|aim|want|do my best) (?:hard )?to (?:always )?(?:be|stay|remain)
		(?P<what>{moral}) (?:with|to|about|even|and|no matter|in|towards|, that|, because|, always|, whatever|, even|, no)`),
	cue(`i (?:do not|never|would never|will not|can not) (?:ever )?(?P<what>lie|cheat|steal|betray|gossip|go back on my word|break my
		word|break promises|break a promise|let (?:people|friends|my friends|anyone) down) (?:$|to|on|about|not|, |behind|no
		matter|even|for|in|anybody|anyone|people)`),
	cue(`(?:my )?(?P<what>{virtue}) (?:is|are) (?:my everything|the most (?:precious|important|valuable|sacred) (?:thing|things)|everything
		$|everything i have|all i need|what carries me|what keeps me|what holds me|why i|worth (?:everything|more|fighting))`),
	cue(`(?P<what>{virtue}) (?:carries|guides|grounds|sustains|keeps|defines|holds) me`),
	cue(`(?P<what>{virtue}) is not (?:just )?(?:a|an|some|only) (?:_ )?(?:_ )?(?:for|to) me`),
	cue(`(?P<what>{virtue}) is not (?:up for|negotiable|for sale|optional|something)`),
	cue(`(?:could|can|would) not (?:live|be|breathe|imagine (?:my )?life) without (?:my |the )?(?P<what>(?:_ )?{virtue})`),
	cue(`(?:would|could|will) (?:not|never) (?:trade|sell|swap|sacrifice|exchange|give up|risk|betray|compromise) (?:my |our |on
		)?(?P<what>(?:_ )?{virtue}|principles|values|beliefs)`),
	cue(`(?P<what>{virtue}) … (?:what i was taught|what i believe in|how i was raised|what i live for|what drives me|how i live|why i
		do|the ground i stand|who i am|what i am about|what makes me)`),
	cue(`(?:question|matter|point) of (?P<what>conscience|principle|honour|honor|decency|respect|faith|dignity) `),
	cue(`i (?:strongly |really |honestly |do |firmly |also )?(?:think|feel|find|am convinced|believe) (?:that
		)?(?P<what>(?:everyone|everybody|all people|people|every child|each person|every person|nobody|no one|all children|children)
		(?:should|deserves?|has a right|must|ought to|has the right) (?:to )?(?:be
		(?:treated|allowed|free|heard|equal|judged|forced|left|respected)|have|get|_ the same|deserve|live) … …) $`),
	cue(`i would (?:drop|give up|do|give|leave) (?:everything|anything|it all) for (?P<what>(?:my _|them|her|him|a friend|those) …) $`),
	cue(`(?:that is|this is|it is) (?:just )?(?:how i (?:am|was raised|was brought up)|who i am|my way|what i (?:believe|stand for|believe
		in|live by|was taught)) (?P<what>…) $`),
	cue(`(?P<what>(?:a person's|everyone's|people's|human) (?:dignity|privacy|freedom|trust|life) … (?:not|right|sacred) …) $`),
	cue(`(?P<what>(?:privacy|housing|education|health|freedom|dignity|equality|fairness|honesty|loyalty|justice) is a (?:human
		)?(?:right|duty|must|promise)) `),
}

// trifles is what is dear in a shop or at work only.
var trifles = wordSet(`sound looks towels minutes copy draft queue boarding mattress phone laptop battery camera tv price delivery shipping size
		colour color seat window hotel room coffee sauce crust tires
	deadline report formatting font layout review reviews latency uptime performance readability column cell replicas tea bus train weather
	sofa sofas couch lamp curtains curtain lasagne sew sewing knife knives fork cushion shelf drawer carpet battery zip hand cream soap towel handouts
		heat celery
	parking receipt receipts email emails messages breakfast wifi`)

// values finds what somebody holds dear or thinks right. Its signs add up in a sentence
// and the next one; what says less counts beside a text about the same.
//
// Content: value, in the user's words, or the word for it where there is one; statement,
// how it was told; texts, how many tell of it.
func values(d *document) []Finding {
	var c collector
	var same topics
	var late []passage
	d.perText(func(of int, sentences []sentence) {
		told := false
		read := make([]mark, len(sentences))
		for i := range sentences {
			read[i] = valueMarks(&sentences[i])
		}
		for i := range sentences {
			s := &sentences[i]
			if read[i] == 0 {
				continue
			}
			m := read[i]
			p := passage{of: of, words: s.text(0, len(s.words)), marks: m}
			own := s.anywhere(firstPerson)
			if i > 0 && read[i-1] != 0 {
				m |= read[i-1]
				p.words = around(sentences, i)
				own = own || sentences[i-1].anywhere(firstPerson)
			}
			own = own || s.anywhere(ourOwn)
			if !own && m&creed == 0 {
				continue
			}
			if !own || !clearValue(m, read[i]) {
				late = append(late, p)
				continue
			}
			about := valueIn(s, p.words)
			if !told {
				same.add(p.words, about)
			}
			told = true
			c.add(statement{of: of, about: about, chance: sure, detail: p.words})
		}
	})
	for _, p := range late {
		if valueSigns.weight(p.marks) < 2 {
			continue
		}
		if i, ok := same.stem(p.words); ok {
			c.add(statement{of: p.of, about: same.about[i], chance: weak, detail: p.words})
		}
	}
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		told := shown(b.detail)
		name := shown(b.about)
		if m, ok := virtueIn(b.about); ok {
			name = m
		}
		return Finding{
			Type:           "value",
			Description:    "Something that matters to you: “" + told + "”.",
			Content:        map[string]any{"value": name, "statement": told, "texts": len(g.texts())},
			Recommendation: "When you have to decide something, you might ask which way is truer to this.",
		}
	})
}

// valueMarks gives the marks of a sentence; none where it is a joke, a question, or about
// what one buys and uses.
func valueMarks(s *sentence) mark {
	m := valueSigns.of(s, 0)
	if m == 0 || apart(s) || noPrinciple.in(s) || s.anywhere(trifles) || s.anywhere(thanking) || s.anywhere(kitchen) ||
		s.anywhere(soon) && m&creed == 0 || technicalWords(s) > 1 {
		return 0
	}
	if heldDear(s) {
		m |= creed
	}
	return m
}

var noPrinciple = cue(`not (?:really |even )?(?:a|my|about) (?:matter|question|principle|point|rule|case)`)

// heldDear says that a sentence has one of holds.
func heldDear(s *sentence) bool {
	if aside(s) && !s.anywhere(rathers) {
		return false
	}
	for k, h := range holds {
		m, ok := h.find(s)
		if !ok || s.denied(m.from) && !s.anywhere(refuses) || s.has(thirdPerson, s.start(m.from), m.from) ||
			len(stemsOf(m.text("what"))) == 0 && !s.anywhere(principled) {
			continue
		}
		if s.has(shouldWord, m.from, m.to) && !s.anywhere(rights) || k == 12 && !rather(s) || k < 2 && s.has(takenBack, m.from, m.to) && !s.anywhere(refuses) {
			continue
		}
		return true
	}
	return false
}

func clearValue(m, own mark) bool {
	return own&creed != 0 || own&(prizes|weighs) != 0 && valueSigns.weight(m) >= 3 || own&virtue != 0 && valueSigns.weight(m) >= 4
}

// valueIn gives the words for a value in a sentence, else all of them.
func valueIn(s *sentence, words string) string {
	for _, h := range holds {
		if m, ok := h.find(s); ok && len(stemsOf(m.text("what"))) > 0 {
			return m.text("what")
		}
	}
	return words
}

var (
	ourOwn      = wordSet("mine ours")
	rathers     = wordSet("rather sooner never")
	refuses     = wordSet("never refuse nothing negotiable rather nobody not")
	principled  = wordSet("principle principles values conscience stand believe")
	thanking    = wordSet("thank thanks ty invoice paid downs")
	shouldWord  = wordSet("should")
	rights      = wordSet("same equal equally chance second treated free heard right rights dignity respect respected love home healthcare education honest help helped judged kind fair fairly care access safe themselves choose decide vote learn live")
	takenBack   = wordSet("not hardly")
	thirdPerson = wordSet("he she they his her their who someone somebody everyone people fans town party company")
)

// weighty is words of weight: "I'd rather be late than lie", not "tea than coffee".
var weighty = wordSet(`honest lie lying poor owe carry alone fail lose truth respect fair betray cheat hurt talk dignity free kind people anyone
		somebody someone family
	children kids friends money career comfort happy right wrong principles conscience promise myself true pretend fake rich quit beg late help silent speak`)

func rather(s *sentence) bool {
	return s.anywhere(weighty) && !s.anywhere(soon) && !s.anywhere(shopping) && !s.anywhere(kitchen) && !s.anywhere(technical)
}

var virtueCue = cue(`(?P<virtue>{virtue})`)

// virtueIn gives the word for a value in words, or false.
func virtueIn(words string) (string, bool) {
	d := document{texts: []Text{{Text: words}}}
	d.split(0, words, &tally{})
	for i := range d.sentences {
		if m, ok := virtueCue.find(&d.sentences[i]); ok {
			return shown(m.text("virtue")), true
		}
	}
	return "", false
}
