package local

// aimings is what is told as a goal by itself; rest is what it is.
var aimings = []*pattern{
	cue(`(?:my|our|one|another|personal) (?:_ )?(?:_ )?(?:goal|goals|aim|aims|target|ambition|ambitions|dream|life
		goal|dream job|mission|objective|resolution|resolutions|bucket list|aspiration|project) (?:for … |in life |now |right now |at the moment
		|this year |this season )?(?:is|are|remains|has always been|would be|,) (?:still |simply |now )?(?:to )?(?P<what>_ … …) $`),
	cue(`(?:the |my |our )?(?:goal|plan|aim|target|dream|resolution|new year's resolution) , (?:to )?(?P<what>(?:{strive} … …|… {feat}
		…|have … {horizon} …)) $`),
	cue(`i (?:am|have been) (?:still |now |really |actively |currently |seriously |slowly
		)?(?:striving|aiming|determined|training|saving|saving up|saving money|studying|practising|practicing|preparing|working
		hard|working my way|working|building|on my way|on track|fighting|putting money aside|putting aside) (?:hard |really hard |every
		day )?(?:to|for|towards?|up to|up for|on becoming|on getting) (?P<what>_ … …) $`),
	cue(`we (?:are|have been) (?:still |now )?(?:saving|saving up|working|planning|putting money aside|trying) (?:hard )?(?:to buy|to
		have|for|towards?|to build|to move|to start) (?P<what>_ … …) $`),
	cue(`i (?:have )?(?:always |secretly |long )?(?:dreamed|dreamt|dream|am dreaming) of
		(?P<what>(?:{attain}|opening|running|writing|living|moving|owning|having|studying|working|starting|building|travelling|traveling|seeing|publishing|
		playing|climbing|crossing|owning|earning|teaching)
		… …) $`),
	cue(`i (?:have )?(?:always|long|secretly) wanted to (?P<what>{attain} … …) $`),
	cue(`i (?:have )?(?:set myself|promised myself|made it my goal|made it my mission|made up my mind|vowed|sworn|swore|committed) (?:the
		goal |a goal |a target |that |to |of |on )?(?P<what>_ … …) $`),
	cue(`i (?:am )?(?:really |absolutely |so )?(?:determined|committed|resolved) to (?P<what>_ … …) $`),
	cue(`i have (?:finally )?decided to (?P<what>(?:become|learn|train|study|go back|quit|stop|give
		up|write|open|start|move|retrain|save|lose|run|apply|change|build|get) … …) $`),
	cue(`(?:one day|someday|some day|eventually) (?:i will|i am going to|there will be|i want to|i would like to|we will|i hope to)
		(?P<what>(?:have|own|open|run|live|write|build|there|a|buy|move|publish|study|finish|speak|play|learn|teach|{strive}) … …) $`),
	cue(`i am (?:going to|gonna) (?P<what>(?:get into|become|make it|finish my|pass|quit|graduate|learn|run a|write a|write my|start
		my|open my|build my|lose|save) … …) $`),
	cue(`i (?:really |still |finally |just )?(?:want|hope|plan|intend|mean|aim|aspire|would like|would love) (?:us )?to
		(?P<what>(?:{strive} … …|… {feat} …|have … (?:written|written down|finished|done|paid
		off|built|learned|learnt|saved|published|mastered|completed) …) {horizon}) `),
	cue(`(?:{horizon}) (?:, )?(?:i|we) (?:really |still |finally |just )?(?:(?:want|hope|plan|intend|mean|aim|aspire|would like|would
		love|am going) (?:us )?to|will) (?:finally )?(?P<what>(?:{strive}|… {feat}) … …) $`),
	cue(`(?:i am|i have been|^) (?:still |currently |really )?(?:trying|working
		hard|working|hoping|learning|studying|saving|training|practising|practicing) (?:hard )?(?:_ )?(?:_ )?to (?P<what>(?:{strive} …
		{feat}|become (?:a|an|the|more|fluent)|quit|stop (?:smoking|drinking)|lose _ (?:kilos|kg|pounds)) …) `),
	cue(`(?:i|we) (?:am|are|have been) (?:practising|practicing|saving|training|studying|working|putting money aside|putting
		aside|learning|rehearsing) … (?:so that|so|until) (?:i|we) (?:can|am|are|could|will) (?P<what>_ … …) $`),
	cue(`i (?:have )?set (?:myself )?(?:a|the) (?:target|goal) (?:of|to|for) (?P<what>_ … …) $`),
	cue(`i am going to (?P<what>(?:{strive}) … {feat} …) `),
	cue(`i (?:really |still |so |badly |just )?(?:{intend}) (?:finally |really |one day |eventually |properly )?(?P<what>(?:{attain}) …
		{feat}) `),
	cue(`i (?:am|have been) (?:really |still |now )?(?:aiming|shooting|pushing|working|training|saving|studying) (?:for|towards?)
		(?P<what>_ … …) $`),
	cue(`i (?:really |still )?(?:want|aspire|hope) to (?P<what>become (?:a|an|the|more|fluent|independent|better|_ enough) … …) $`),
	cue(`(?:paid off|debt free|finished|done|written|written down|ready|sober|licensed|certified|qualified|fluent) by (?P<what>(?:next|the
		end|my|christmas|summer|spring|autumn|_ ) … ) $`),
	cue(`(?:towards?|closer to|one more step to|a step towards?|another step to|working towards?|halfway to|on the way to|on my way to)
		(?:my|the|our|becoming|being|getting|a) (?P<what>… (?:{feat}|goal|dream|release|certificate)) `),
	cue(`(?:goes|going|went|put aside|set aside) (?:to|towards?|for) (?:getting us out of |getting me out of |getting out of |paying off
		|the |our |my )(?P<what>… (?:debt|loan|house|deposit|mortgage|savings|dream|degree)) `),
	cue(`until (?:i|we) (?:am|are) (?P<what>(?:debt free|free|licensed|qualified|fluent|there|certified)) `),
	cue(`(?P<what>i can apply for the …|get into (?:med|medical|law|art|drama) school|that place in …|if i want (?:that|the|a) place … ) $`),
}

// chores is things of a day: what is wanted with one of them is no goal.
var chores = wordSet(`lend member discount puppy roadworks milk eggs bread loaf groceries stamps stamp crackers fries chicken pizza coffee tea
		sandwich soup stew sauce seat seats ferry platform
	markers print printer parcel parcels chair chairs lunch supper salt restart reboot download error refund password nap shower sock socks laundry
	dishwasher dishes balloons lid lids cushion cushions kettle fridge shed fence invoices aisle cable cables charger battery batteries bulb lamp
	meeting cardboard umbrella crossword sudoku dough degrees table washed airline remote keys key bin bins lawn hedge hoover fee fees router bus tram
		train trains timetable reminder
	checking transferred shuts kit fish darts newsletter haircut barber dentist puzzle series episode film movie checkout coupon`)

// goals finds what somebody works towards. A passage, which is a sentence and the next one,
// tells of a goal if its signs add up: an aim by itself, else three of wanting it, its
// size, its time, work for it, how far it is, and not giving in. What says less is
// evidence too if another text tells of the same.
//
// Content: goal, in the user's words; horizon, when it is to be reached, if told;
// texts, how many tell of it.
func goals(d *document) []Finding {
	var c collector
	var same topics
	var late []passage
	d.perText(func(of int, sentences []sentence) {
		told := false
		read := make([]mark, len(sentences))
		for i := range sentences {
			if s := &sentences[i]; !apart(s) {
				read[i] = goalSigns.of(s, 0)
				if ordinaryGoal(s) && goalSigns.weight(read[i]) < 8 {
					read[i] = 0
				}
				if _, ok := first(aimings, s); ok && read[i] != 0 {
					read[i] |= drives
				}
			}
		}
		for i := range sentences {
			s := &sentences[i]
			m := read[i]
			if i+1 < len(sentences) {
				m |= read[i+1]
			}
			if read[i] == 0 {
				continue
			}
			p := passage{of: of, words: s.text(0, len(s.words)), horizon: horizonOf(s), marks: m, own: personal(s)}
			if i+1 < len(sentences) && read[i+1] != 0 {
				p.words += " , " + sentences[i+1].text(0, len(sentences[i+1].words))
			}
			if !clearGoal(m) {
				late = append(late, p)
				continue
			}
			about := goalIn(s)
			if !told {
				same.add(p.words, about)
			}
			c.add(statement{of: of, about: about, chance: sure, detail: p.horizon})
			told = true
		}
	})
	if len(same.about) == 0 {
		return nil
	}
	for _, p := range late {
		if p.marks&(drives|commit) == 0 && goalSigns.weight(p.marks&(undertake|ought|effort|progress)) < either(p.own, 1, 3) {
			continue
		}
		if i, ok := same.find(p.words); ok {
			c.add(statement{of: p.of, about: same.about[i], chance: weak, detail: p.horizon})
		}
	}
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		content := map[string]any{"goal": shown(b.about), "texts": len(g.texts())}
		for _, s := range g.statements {
			if s.detail != "" {
				content["horizon"] = s.detail
				break
			}
		}
		return Finding{
			Type:           "goal",
			Description:    "You are working towards something: “" + shown(b.about) + "”.",
			Content:        content,
			Recommendation: "You might name the next small step towards this, and when you will take it.",
		}
	})
}

// passage is a sentence and the next one, and what they say.
type passage struct {
	of             int
	words, horizon string
	marks          mark
	own            bool // the user is its subject
}

func clearGoal(m mark) bool {
	switch {
	case m&aims != 0:
		return true
	case m&(drives|strive|undertake) == 0: // firm, and towards nothing
		return false
	case m&strive != 0 && (m&feat != 0 && m&(undertake|horizon) != 0 || m&undertake != 0 && m&horizon != 0),
		m&(drives|commit) != 0 && m&feat != 0,
		m&drives != 0 && m&(strive|horizon|progress) != 0:
		return true
	}
	return m&(drives|undertake|ought|commit) != 0 && m&(strive|feat|horizon|progress) != 0 && goalSigns.weight(m) >= 4
}

// apart says that a sentence is a joke or a question.
func apart(s *sentence) bool {
	if s.question || whyAsked.in(s) {
		return true
	}
	if _, ok := first(joking, s); ok {
		return true
	}
	_, ok := first(asked, s)
	return ok
}

// goalIn gives the words for a goal in a sentence: after what says that it is one, else all.
func goalIn(s *sentence) string {
	for _, a := range aimings {
		if m, ok := a.find(s); ok && len(stemsOf(m.text("what"))) > 0 {
			return m.text("what")
		}
	}
	return s.text(0, len(s.words))
}

var toTheShop = cue(`(?:run|ran|go|goes|went|pop|popped|drive|drove|walk|walked|cycled|head|headed|get|got) (?:over |down |up )?to the
		(?:_ )?(?:shop|shops|store|bank|post|chemist|bakery|market|library|supermarket|station|gym|pool|garden centre|garden center|mall|butcher)`)

// ordinaryGoal says that a sentence is of today's work rather than of a life: it has a
// word of technology and one of these days, or is about who works together.
func ordinaryGoal(s *sentence) bool {
	return s.anywhere(chores) || toTheShop.in(s) || s.anywhere(soon) && (s.anywhere(technical) || s.anywhere(shopping) || s.anywhere(kitchen)) ||
		s.anywhere(wordSetTeam) ||
		technicalWords(s) >= 2 && !s.anywhere(wordSetYears)
}

var (
	wordSetTeam  = wordSet("reconciler sprint stakeholders team's customer customers client clients kpi okr replicas pr ticket tickets linter endpoint config")
	wordSetYears = wordSet("year years dream quarter life career milestone")
)

func technicalWords(s *sentence) int {
	n := 0
	for _, w := range s.words {
		if technical[w.text] {
			n++
		}
	}
	return n
}

var horizonCue = cue(`(?P<when>{horizon})`)

// horizonOf gives by when something is to be, as it is said, or "".
func horizonOf(s *sentence) string {
	m, ok := horizonCue.find(s)
	if !ok {
		return ""
	}
	words, _ := s.clause(m.from, 5)
	return shown(words)
}
