package local

import "strings"

// dreads is fears with what they are of.
var dreads = []*pattern{
	cue(`i (?:am|feel|was|have been|get|have always been|am still|am always|am just|live) (?:{adv} )?(?:{adv} )?(?:{strongly}
		)?(?:terrified|petrified|scared|frightened|scared to death|so afraid|really afraid|panicked|in fear|in dread) (?:that |of |about
		|because )?(?P<what>_ … …) $`),
	cue(`i (?:am|feel|was|have been|get|have always been|am still|am always|am just) (?:{adv} )?(?:{adv} )?(?:{strongly} )?{afraid} (?:that
		|of |about |to |because )?(?P<what>(?:_ )?… {dire} …) $`),
	cue(`i (?:am|feel|have always been) (?:{adv} )?(?:{adv} )?(?:{strongly} )?{afraid} of (?P<gerund>_ _ … …) $`),
	cue(`i (?:really |always |often |secretly |just |deeply |constantly |also |do |still )?(?:worry|fear|dread|panic|fret|keep worrying|am
		worrying|lie awake thinking|lie awake worrying|lie awake) (?:that |about |over |because )?(?P<what>… {dire} …) $`),
	cue(`i (?:fear|dread) (?:having to|becoming|the day|going|losing|being|the moment|that i will|ending|dying|growing|the time|what)
		(?P<what>_ … …) $`),
	cue(`(?:my|the|our) (?:_ )?(?:_ )?(?:fear|nightmare|worry|dread|terror|horror|fears|worries) (?:is|would be|are|has always been|,
		|of|about|that) (?:that |of )?(?P<what>_ … …) $`),
	cue(`(?:there is|i have|i have got|i live with|i feel) (?:a |this |the |that |an )?(?:_ )?(?:_ )?(?:fear|dread|terror|worry) (?:in me
		|inside me )?(?:that|of|about) (?P<what>_ … …) $`),
	cue(`what (?:if|will become of|will happen (?:to|if)|happens if|would become of|would i do if|will i do if|would happen if|becomes of)
		(?P<what>… {dire} …) $`),
	cue(`what will become of (?P<what>_ …) $`),
	cue(`what (?:happens|will happen|becomes) (?:to|of|with) (?P<what>(?:my {kin}|our {kin}|me|us|them) … (?:if|when|once) i …) $`),
	cue(`i (?:lie|lay) awake and (?:see|imagine|picture|think of|hear) (?P<what>_ … …) $`),
	cue(`i (?:panic|shudder|go cold|feel sick|freeze) at the (?:idea|thought) (?:that|of) (?P<what>_ … …) $`),
	cue(`(?P<what>if … , … ) , i (?:can not stop thinking|keep thinking|can not sleep|lie awake|am terrified|am scared|could not bear)`),
	cue(`(?P<what>_ … …) , (?:and )?(?:that|this|it) is (?:what|the thing|all) (?:i (?:_ )?(?:fear|dread|am afraid of|am scared of|am
		terrified of)|(?:scares|frightens|terrifies|haunts) me)`),
	cue(`(?:nightmares?|bad dreams?|dream) (?:in which|where|that|about|of) (?P<what>… {dire} …) $`),
	cue(`i (?:think|am sure|am certain|am convinced) (?:that )?it is (?P<what>(?:a |the |my )?(?:tumour|tumor|cancer|stroke|heart attack)) `),
	cue(`^ (?:i am (?:{adv} )?)?(?:terrified|scared|frightened|petrified|afraid) (?:that |of )(?P<what>_ … {dire} …) $`),
	cue(`(?:the )?(?:thought|idea|prospect|possibility|image|risk) (?:of|that) (?P<what>_ … …) (?:{adv}
		)?(?:terrifies|scares|frightens|horrifies|haunts|petrifies|fills|keeps|paralyses|paralyzes|makes me (?:panic|sick|shake|go
		cold|cry)|will not let|sends) `),
	cue(`(?P<what>… {dire} … ) (?:, )?(?:and )?(?:it|that|which|the thought|this) (?:{adv}
		)?(?:frightens|terrifies|scares|haunts|horrifies|petrifies|keeps me (?:awake|up)|makes me (?:go cold|panic|shake|sick)|will not
		let me sleep|fills me)`),
	cue(`(?:what|the thing that) (?:really |most )?(?:scares|frightens|terrifies|worries|haunts) me (?:most |the most |more than anything
		)?(?:is|are) (?:that |the idea of |the thought of )?(?P<what>_ … …) $`),
	cue(`(?:it|nothing) (?:{adv} )?(?:scares|frightens|terrifies|haunts) me (?:more than |most |so much )?(?:that |to think |to imagine
		|the thought of |the idea of )?(?P<what>… {dire} …) $`),
	cue(`i (?:keep|can not stop|could not stop|am always|often|always|constantly|already)
		(?:picturing|picture|imagining|imagine|seeing|see|thinking|think|dreaming|dream) (?:that |about |of |how |what |it |the
		)?(?P<what>… (?:{dire}|arriving|end up|mine|letter|funeral|diagnosis|worst) …) $`),
	cue(`(?:can not|cant|could not) stop imagining (?P<what>_ …) $`),
	cue(`(?:i|we) (?:can not|could not|do not think i can|do not think i could) (?:bear|face|stand|survive|cope with|live with|handle)
		(?:to )?(?:the (?:thought|idea) of )?(?P<what>… {dire} …) $`),
	cue(`(?:i (?:really )?do not want to|i never want to|please do not let me|i refuse to) (?P<what>(?:end up|lose
		(?:him|her|them|my|everything|you)|die|be alone|grow old alone|turn into|become like|disappoint|fail|be a burden|be forgotten) …) `),
	cue(`(?:in my (?:head|mind|dreams|nightmares)|at night) (?:i )?(?:already )?(?:i )?(?:already )?(?:see|picture|watch|imagine)
		(?P<what>_ … …) $`),
	cue(`(?:keeps? me (?:awake|up)|lie awake|lose sleep|can not sleep) (?:at night )?(?:, )?(?:over |because |about |thinking |, )(?:that
		|about |of )?(?P<what>… {dire} …) $`),
	cue(`(?P<what>(?:if (?:i|we|he|she|it|they) … {dire} …|… {dire} …) (?:, )?everything is over) `),
	cue(`(?:part of me|something in me|some days i|a voice in me) (?:fears?|dreads?|worries|is (?:afraid|scared|terrified|convinced))
		(?:that |of |about )?(?P<what>_ … …) $`),
	cue(`i (?:imagine|see|picture) (?P<what>… {dire} …) (?:, )?(?:and )?i am (?:{adv} )?{afraid}`),
	cue(`i (?:see|imagine|picture) myself (?P<what>… (?:alone|nobody|dead|homeless|dying|abandoned|no one|on the street) …) $`),
}

var dire = cue(`{dire}`)

// polite is "I am afraid" as one says it to be kind.
var polite = []*pattern{
	cue(`i (?:am afraid|fear) (?:that )?(?:the|your|this|there|you|we are|we have|we do|so|not|it is|it was|i have|i can not
		(?:come|make|attend|join|help|find|say|offer|tell|be)|i could not|i do not (?:have|know|think|see|understand)|i did not|i missed|i
		must (?:cancel|leave|decline|ask|say)|i need to (?:cancel|leave)|i am (?:not
		(?:sure|able|available|free|in|at)|out|busy|away|late|unable|running)|i will (?:be late|have to|not be able to
		(?:come|make|attend|join)))`),
}

var phobia = cue(`(?:scared|afraid|worried|anxious|nervous) (?:of|about|that) (?:_ )?(?:dogs?|spiders?|heights|flying|the
		dark|thunder|needles|bees|clowns|snakes|water)`)

// fearMarks gives the marks of a sentence; none where it is a joke, kind words, or about a
// small thing.
func fearMarks(s *sentence) mark {
	if s.anywhere(minor) || s.anywhere(kitchen) || phobia.in(s) || technicalWords(s) > 1 {
		return 0
	}
	m := fearSigns.of(s, anybodys)
	if s.question && m&whatIf == 0 {
		return 0
	}
	if _, ok := first(joking, s); ok {
		return 0
	}
	if _, ok := first(polite, s); ok {
		return 0
	}
	if fearless.in(s) || m&(modal|bad) == 0 && brief.in(s) {
		return 0
	}
	if afraidOnly.in(s) || s.anywhere(soon) {
		m |= mildly
	}
	if dreaded(s) {
		m |= dreading | bad | ahead
	}
	return m
}

var (
	fearless = cue(`(?:not|never|hardly|neither) (?:very |so |really |that |even |too |at all |particularly |longer )?(?:afraid|scared|terrified|
		petrified|frightened|worried|anxious|dreading|in fear)`)
	brief = cue(`for a (?:second|moment|minute)`)
)

// afraidOnly is what one says of small things, too.
var afraidOnly = cue(`(?:afraid|worried|panicking|panic)`)

func clearFear(m mark) bool {
	switch {
	case m&dreading != 0:
		return m&modal != 0 && m&mildly == 0 || m&bad != 0 && m&(ahead|modal|ifSo|whatIf|foresees|returns) != 0
	case m&(returns|whatIf) != 0:
		return m&bad != 0
	case m&uneasy != 0:
		return m&bad != 0 && m&(ahead|modal|ifSo|foresees) != 0
	}
	return m&foresees != 0 && m&bad != 0 && m&(ahead|modal) != 0 && m&ifSo != 0
}

// dreaded says that a sentence has one of dreads.
func dreaded(s *sentence) bool {
	if _, ok := first(supposed, s); ok && !s.question {
		return false
	}
	for _, pattern := range dreads {
		m, ok := pattern.find(s)
		if !ok || s.question && s.words[m.from].text != "what" || s.negated(m.from) || s.has(another, s.start(m.from), m.from) {
			continue
		}
		if at, _ := m.span("what"); at >= 0 && s.words[at].text == "to" && !dire.in(s) {
			continue
		}
		what := m.text("what")
		if at, _ := m.span("gerund"); at >= 0 {
			if !strings.HasSuffix(s.words[at].text, "ing") {
				continue
			}
			what = m.text("gerund")
		}
		if len(stemsOf(what)) > 0 && (s.words[m.from].text != "the" || s.anywhere(firstPerson)) {
			return true
		}
	}
	return false
}

// outcomeIn gives the words for what is feared in a sentence, else all of them.
func outcomeIn(s *sentence, words string) string {
	for _, pattern := range dreads {
		if m, ok := pattern.find(s); ok {
			if what := m.text("what") + m.text("gerund"); len(stemsOf(what)) > 0 {
				return what
			}
		}
	}
	return words
}

// minor is outcomes that are of no weight.
var minor = wordSet(`train bus parcel meeting build server deploy deployment printer umbrella rain raining weather queue parking luggage milk cake
		dough sauce
	oven episode spoiler spoilers season finale match game score traffic wifi battery update version merge pipeline ticket receipt form
	delivery package order table reservation barbecue rains dishes casserole bread pasta plants tomatoes stain laundry sweater shoes keys password sofa
		fit fits file files receipt wallet charger recipe fridge sandwich vase`)

// fearedOutcomes finds what somebody is afraid will come. Its signs add up in a sentence
// and the next one; what says less counts beside a text about the same.
//
// Content: outcome, in the user's words; texts, how many tell of it.
func fearedOutcomes(d *document) []Finding {
	var c collector
	var same topics
	var late []passage
	d.perText(func(of int, sentences []sentence) {
		told := false
		read := make([]mark, len(sentences))
		for i := range sentences {
			read[i] = fearMarks(&sentences[i])
		}
		for i := range sentences {
			s := &sentences[i]
			if read[i]&(dreading|uneasy|returns|foresees|whatIf|ifSo) == 0 {
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
			p.own = own
			if !own || !clearFear(m) {
				late = append(late, p)
				continue
			}
			about := outcomeIn(s, p.words)
			if !told {
				same.add(p.words, about)
			}
			told = true
			c.add(statement{of: of, about: about, chance: sure})
		}
	})
	for _, p := range late {
		if len(same.about) == 0 || !p.own || p.marks&(dreading|uneasy|returns|whatIf|ifSo) == 0 {
			continue
		}
		i, ok := same.stem(p.words)
		if ok && fearSigns.weight(p.marks) >= 2 || p.marks&whatIf != 0 {
			c.add(statement{of: p.of, about: same.about[i], chance: weak})
		}
	}
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		return Finding{
			Type:           "feared_outcome",
			Description:    "There is something that you are afraid may happen: “" + shown(b.about) + "”.",
			Content:        map[string]any{"outcome": shown(b.about), "texts": len(g.texts())},
			Recommendation: "It may help to tell somebody of this worry, and to see which part of it lies in your hands.",
		}
	})
}
