package local

import "slices"

// coping is classes of what people do with feelings.
var coping = map[string]string{
	"soothes": `helps?|helped|calms?|calmed|soothes?|soothed|grounds?|grounded|relaxes|relaxed|settles?|settled|steadies|steadied|comforts?|
		comforted|cheers|cheered|lifts|lifted|eases|eased|quiets|quietens|quieted|centres|centers|distracts?|distracted|saves|saved`,
	"emotion_word": "feelings?|emotions?|{feel_noun}|nerves|upset|hurt|anger|mood|thoughts|worry|tension|it all|stress",
	"copes": `run|ran|jog|jogged|walk|walked|swim|swam|cycle|cycled|took the (?:dog|bike|long|stairs|boat|kayak)|take the (?:dog|bike|boat)|took
		(?:a|myself|out my|my) (?:_ )?(?:walk|bath|shower|bike|nap|break|breath|breaths|pill|run|drive|swim|guitar|camera)|take
		(?:a|myself) (?:_ )?(?:walk|bath|shower|nap|break|breath|run|drive|swim)|went (?:for|out|to (?:the
		(?:gym|forest|woods|sea|garden|allotment|workshop|shed|river|pool|park|church|bathroom|pub|fridge)|bed)|into the
		(?:garden|woods|forest|shed))|go (?:for a|out|outside|to (?:the
		(?:gym|forest|woods|sea|garden|allotment|workshop|shed|river|pool|park|church|bathroom|pub)|bed)|into the
		(?:garden|woods|forest|shed))|play|played|put (?:on|the music|my headphones|headphones)|turn(?:ed)? (?:the music|the
		radio|everything)|listen(?:ed)? to|sing|sang|dance|danced|clean|cleaned|scrub|scrubbed|tidy|tidied|bake|baked|knead|kneaded|cook|
		cooked|knit|knitted|paint|painted|draw|drew|sketch|sketched|write|wrote|journal|journalled|journaled|pray|prayed|meditate|
		meditated|breathe|breathed|did (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:breathing|yoga|breaths|stretches|meditation|push ups)|do (?:_ )?(?:_
		)?(?:_ )?(?:breathing|yoga|breaths|stretches)|count|counted|call|called|ring|rang|phone|phoned|text|texted|talk to|talked
		(?:to|it|about)|told (?:_ )?myself|tell myself|repeat|repeated|remind|reminded|hug|hugged|cuddle|cuddled|stroke|stroked|lie|lay
		down|lay on|sit|sat (?:by|in|on|under|down)|dig|dug|weed|weeded|chop|chopped|garden|drive|drove|drink|drank|poured|pour|opened
		(?:a|the|another) (?:bottle|beer|wine)|smoke|smoked|lit|eat|ate|finished (?:the|a) (?:_ )?(?:bottle|tub|bar|box|bag)|binge|binged|
		snack|snacked|shop|shopped|bought|ordered|order|scroll|scrolled|watch|watched|stay(?:ed)? in bed|sleep|slept|crawl(?:ed)?
		(?:into|under|back)|hide|hid|lock|locked|shut|avoid|avoided|cancel|cancelled|worked (?:till|until|late|through|on)|work
		(?:till|until|late|through)|threw myself|throw myself|distract|distracted|logged|gamed|gambled|bet|punch|punched|scream into|
		screamed into|splash|splashed|smile|smiled|pretend|pretended|ignore|ignored|swallow|swallowed|look at|step(?:ped)?
		(?:out|outside|away|back)|left the room|leave the room|close my eyes|closed my eyes|stretch|stretched|lift|lifted|climb|climbed|
		iron|ironed|sanded|sand|split|sawed|scrub|scrubbed|hoover|hoovered|vacuumed|polish|polished|wash|washed|soaked|soak|held|hold|tensed|tense|hum|hummed|
		pace|paced|pat|groom|groomed|sew|sewed|crochet|mow|mowed|rake|raked|shuffled|drum|drummed|strum|strummed|plunged|plunge|dunk|dunked|chant|chanted|
		bounce|squeeze|squeezed|hit the (?:gym|bag|pool|bottle)|hit|kick|kicked|curl|curled|burrow|burrowed|drew the curtains|close the door|closed the door|
		took on|take on|opened the (?:laptop|fridge|biscuits|wine)|stay under|stayed under|lie in|lay in|stay in|stayed in|snap|snapped
		at|vape|vaped|went under|go under|
		rock|rocked|swear|swore|stand under|stood under|stood with|stand with|put my hands|went round|go round|walk round|did my|do my|do the|did
		the|give my|gave my|
		skate|row|rowed|surf|surfed|ride|rode|stared at|made (?:myself )?(?:a|some) (?:cup of )?tea|make (?:myself )?(?:a|some) (?:cup of
		)?tea|named|name it|imagine|pictured|picture|laugh it off|laughed it off|made a joke|make a joke|crack a joke|cracked a joke`,
	"hides": `bottle|bottled|bottling|push|pushed|pushing|swallow|swallowed|swallowing|bury|buried|burying|suppress|suppressed|suppressing|
		stuff|stuffed|shove|shoved|hide|hid|hiding|mask|masked|block|blocked|lock|locked|keep|kept|keeping|choke|choked|squash|squashed|
		stifle|stifled|repress|repressed|ignore|ignored`,
	"feels_bad": `(?:am|feel|feeling|felt|get|getting|become|was|start to feel|start feeling|start getting|am feeling) (?:{adv} )?(?:{adv}
		)?(?:{strongly} )?(?:{feel_adj_bad}|like that|that way|it coming|it building|bad|awful|terrible|rough|off|upset|a panic attack
		coming)|(?:can feel|feel|notice|sense) (?:the |my |a )?(?:_ )?{feel_noun_bad}|my (?:head|heart|mind|chest) is (?:so )?full of
		{feel_noun_bad}|have (?:a bad day|had a bad day|had a hard day|a
		panic attack|a rough day|had a rough day)`,
	"bad_time": `(?:i )?{feels_bad}|(?:things|everything|life|it all|it) (?:get|gets|is|are|got|was) (?:too
		much|overwhelming|hard|tough|dark|heavy|on top of me)|{feel_noun_bad} (?:hits|comes|rises|kicks in|strikes|builds|gets|takes
		over|creeps)|(?:the |my |that )?(?:_ )?{feel_noun_bad} (?:hits|comes|rises|kicks in|strikes|builds|gets|takes
		over|creeps|flares|spikes|is|starts)`,
}

// Ways of coping, by their words; a sentence that has none of them needs more to be one.
var (
	adaptive = wordSet(`run ran running jog jogged jogging walk walked walking walks hike hiked hiking swim swam swimming bike biking cycle cycled cycling
		exercise exercised gym yoga stretch stretched meditate meditated meditating meditation pray prayed praying prayer breathe breathed breathing
		breath breaths inhale exhale count counted counting journal journaled journalling journaling write wrote writing written draw drew drawing paint
		painted painting sketch knit knitted knitting crochet sew bake baked baking cook cooked cooking clean cleaned cleaning tidy tidied garden gardened
		gardening weed weeded weeding seedlings soil sing sang singing dance danced dancing piano guitar music song songs playlist call called calling
		ring rang phone
		phoned talk talked talking hug hugged cuddle cuddled dog cat read reading nap bath shower tea remind reminded tell told named name naming grounding
		mindfulness notice noticed asked listed list lists look looked imagine reframe step stepped outside pause paused box puzzle lego woodwork
		workshop lift
		lifting weights climb climbing drive drove drives sit sat bench sea forest woods nature fresh air therapist friend vent paper puzzle sudoku
		colouring coloring craft crafts pottery play played playing skate skating surf surfing row rowing football boxing bag tai chi visualise
		visualize affirmations mantra
		distract distracted distracting work working busy breath shoulders choir bike knead kneaded dough rosary swim splash bathroom repeat repeated
		saying aloud worked purr cold water splash candle rosary notebook diary goats sheep hens chickens cows rabbit parrot garden grass clouds sky
		sea lake tiles trees stars recited row rowed busy attic cellar garage drafts draft paint knit needles row rows pantry horses hand lighthouse
		parcel swing climb boots
		church mosque temple horse stable fishing birdwatching
		iron ironed ironing steam crossword crosswords dig digging dug log logs axe split sand sanded sanding muscle muscles exercise exercises
		counted laugh laughed joke jokes
		tap headphones floor dark scrub scrubbed scrubbing hoover polish letter letters playlist kitchen beads patience chess aloud block wrists hum
		hummed worries quarter
		telling say squeeze massage blanket bubbles sauna sorted sorting sort recite recited poem poems alphabet knot rope
		loud face ten prayed tense
		five things senses technique trick method routine ritual motorway muscle release drum drums mow rake soil compost dough clay wheel trumpet
		violin cello harp fiddle`)
	maladaptive = wordSet(`drink drank drinking wine beer whisky whiskey vodka gin alcohol drunk bottle glasses pint pints smoke smoked smoking
		cigarette cigarettes vape
		pills pill binge binged bingeing eat ate eating eaten snack snacked snacking chocolate biscuit biscuits cookies crisps chips fridge tub shop
		shopping shopped buy buying bought scroll scrolled scrolling doomscroll gamble gambled gambling bet betting gaming game games
		hide hid hiding withdraw withdrew
		isolate isolated lock locked avoid avoided avoiding cancel cancelled canceled canceling ignore ignored bury buried push pushed bottle bottled
		swallow swallowed shut snap snapped yell yelled shout shouted scream punch punched cut cutting scratch scratched bite bit overwork numb numbed
		numbing disappear
		ghost ghosted pretend pretended pretending procrastinate procrastinated smile smiled suppress suppressed mask masked bed sleep slept headphones
		duvet covers curtains order ordered parcels bought joke jokes projects billing laptop anaesthetic overtime episodes series
		takeaway pizza brownies cake sweets crisps spend spent spending
		checkout cart basket videos phone flirt flirted tinder hookup smoke vape ghosted excuses joke away scab pick picked nails hair starve starved
		logged ground stuff stuffed choke choked repress deny denied`)
	hard = wordSet(`drink drank drinking wine beer whisky whiskey vodka gin alcohol drunk smoke smoking cigarette binge binged gamble numb bottle
		bottled swallow swallowed suppress
		scroll scrolling snack snacking ate eat eating biscuit ice chocolate pretend avoid avoiding ignore hide hid lock gaming duvet covers curtains
		brownies billing anaesthetic overtime logged buried bury push pushed shut scrolled`)
)

// Ways to keep a feeling down, which need no more words.
var suppression = cues(
	`{hides} (?:it|them|everything|all|things|how i feel|what i feel|the _|my (?:_ )?(?:{emotion_word})|my _|feelings|that) (?:_ )?(?:_
		)?(?:up|down|in|inside|away|back|out|deep|bottled up|to myself|from everyone|from them)`,
	`{hides} (?:my|the|these|those|all my|any) (?:_
		)?(?:feelings?|emotions?|tears|anger|sadness|hurt|grief|rage|fear|anxiety|pain|resentment)`,
	`i (?:just |always |usually |tend to |keep )?{hides} (?:it|everything) (?:again|all)?`,
	`(?:i|and|^) (?:just |always |usually |tend to )?(?:pretend|pretended) (?:that )?(?:i am|i was|it is|it was|everything|nothing|to
		be) (?:_ )?(?:fine|ok|okay|happy|alright|all right|great|good|wrong|happened)`,
	`(?:put|puts|putting) on (?:a|my) (?:brave|happy|fake|good|strong) (?:face|smile|front)`,
	`plaster(?:ed)? (?:on )?a smile`,
	`bit(?:e|ing)? my tongue`,
	`(?:smiled|smile) and (?:say|said|nod|nodded|carry on|carried on)`,
	`i (?:just |always |usually |tend to |completely |simply )?(?:shut down|withdraw|retreat|shut everyone out|push (?:people|everyone)
		away|isolate myself|close off|crawl into bed|hide in (?:my room|bed|the _)|shut myself (?:in|away|off)|lock myself in|go
		quiet|stop talking|go silent|disappear for)`,
	`i (?:never|do not|can not|will not|did not) (?:let (?:myself|anyone|anybody|them|people) (?:_ )?(?:cry|feel|see|know|notice)|show
		(?:it|my feelings|emotions|how i feel|anyone))`,
	`(?:whatever|what) i feel … (?:lock|hide|push|keep|bury|swallow)`,
	`i (?:try|tried) not to (?:feel|think about it|cry|show)`,
	`throw myself into (?:work|my work|cleaning)`,
	`bur(?:y|ied|ying) (?:myself|my (?:_ )?(?:{emotion_word})|it|everything) (?:in|under|with)`,
	`so (?:that )?(?:no one|nobody|they|he|she|people|mum|the kids|the children) (?:would |will |can |could |does |do )?(?:not
		)?(?:hears?|sees?|knows?|notices?|asks?|guess(?:es)?|heard|saw|knew) (?:me|that i|how i|i|my|it)`,
	`(?:nobody|no one|they|people) (?:_ )?(?:has any idea|have no idea|knows?|guess(?:es)?|suspects?|never see|never know) (?:how|that|what) (?:_ )?(?:i|it)`,
	`drown(?:ed|ing)? (?:my|the|it|them) (?:_ )?(?:sorrows?|in|with)`,
)

// conditional is doing something when one feels bad.
var conditional = []*pattern{
	cue(`(?:when|whenever|every time|each time|any time|as soon as|the moment|if|after|before) {bad_time} (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_
		)?(?:, )?i (?:always |just |usually |often |go and |then |try to |tend to |will |automatically |immediately |really |find myself
		)?(?P<do>_ …) $`),
	cue(`i (?:always |just |usually |often |tend to |try to |will |immediately |automatically |keep |end up |find myself )?(?P<do>_ …)
		(?:when|whenever|every time|each time|any time|as soon as|the moment|if) {bad_time}`),
	cue(`(?:when|whenever) {bad_time} … , (?P<do>_ …) $`),
	cue(`{bad_time} (?:_ )?(?:_ )?(?:_ )?(?:_ )?so (?:that )?i (?:just |then |went and |went |also )?(?P<do>_ …) $`),
	cue(`{feel_adj_bad} (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:and|so|,) (?:once again |again |then |so |just |i |have |i have )(?:just |once again
		|again |have )?(?P<do>_ …) $`),
}

var notDoing = wordSet(`am feel get become need want can think know would could should was felt got have had like do did is hope wish
	forget lose stammer stutter cry shake tremble freeze sweat panic snap never always not will have just could turn blush overthink spiral worry see
		hear never
	wonder remember notice realise realize love hate miss say make look seem believe start begin see mean find fall hurt keep`)

// isFeeling says that a word is one for a feeling.
func isFeeling(s *sentence, at int) bool {
	_, ok := felt.any[s.words[at].text]
	return ok
}

// regulation finds what somebody does about their feelings.
//
// Content: action, in the user's words; strategy, adaptive or maladaptive (avoiding,
// holding down, numbing); texts, how many tell of it.
func regulation(d *document) []Finding {
	hurts, eases := map[int]bool{}, map[int]bool{} // texts that tell of a bad feeling, of what became of it
	c := collector{enough: func(g *group) bool {
		all := g.texts()
		of := func(told map[int]bool) bool { return slices.ContainsFunc(all, func(i int) bool { return told[i] }) }
		return len(all) > 1 && of(hurts) && of(eases)
	}}
	d.perText(func(of int, sentences []sentence) {
		before := len(c.all)
		feels, bad := false, make([]bool, len(sentences)) // bad: a feeling of the user's own
		for i := range sentences {
			feels = feels || tellsBad(&sentences[i])
			for _, e := range emotions(&sentences[i]) {
				bad[i] = bad[i] || negative[e.family] && e.level >= 2
			}
			_, at := first(onset, &sentences[i])
			bad[i] = bad[i] || at && !aside(&sentences[i])
		}
		for i := range sentences {
			s := &sentences[i]
			if aside(s) || errand.in(s) || s.anywhere(technical) && !feels || s.anywhere(medicine) {
				continue
			}
			near := i > 0 && s.of == sentences[i-1].of
			does := s.anywhere(adaptive) || s.anywhere(maladaptive)
			doesNear := does || near && (sentences[i-1].anywhere(adaptive) || sentences[i-1].anywhere(maladaptive)) ||
				i+1 < len(sentences) && len(s.words) < 8 && sentences[i+1].anywhere(maladaptive)
			do, chance := "", 0.0
			if m, ok := first(suppression, s); ok && !s.denied(m.from) && mine(s, m.from) {
				do, chance = s.text(m.from, m.to), sure
				if !feels && !s.anywhere(hidden) {
					chance = 0
				}
			}
			if chance == 0 {
				if m, ok := first(conditional, s); ok && !theirs(s, m.from+1) && !theirs(s, m.to) {
					at, to := m.span("do")
					if s.has(adaptive, at, to) || !notDoing[s.words[at].text] && (bad[i] && s.words[at-1].text == "i" && !isFeeling(s, at)) ||
						s.has(maladaptive, at, to) {
						do, chance = m.text("do"), sure
					}
				}
			}
			if chance == 0 && (doesNear || bad[i] || near && bad[i-1]) {
				m, ok := first(effects, s)
				if !ok && feels {
					m, ok = first(relief, s)
				}
				if ok && !s.denied(m.from) && (!s.has(another, s.start(m.from), m.from) || s.has(wordSetMe, m.from, m.to)) {
					do, chance = s.text(s.start(m.from), len(s.words)), sure
					if !does && near {
						do = around(sentences, i)
					}
					if !feels && !mentionsMe(s) && !certainEffect(s) {
						chance = 0
					}
				}
			}
			if chance == 0 && !s.has(another, 0, 1) && !s.anywhere(planned) {
				if m, ok := first(acts, s); ok && !theirs(s, m.to) && !s.denied(m.from) && (bad[i] || near && bad[i-1] || near && struggles(&sentences[i-1]) || struggles(s)) {
					do, chance = s.text(m.from, len(s.words)), sure
				}
			}
			if chance > 0 {
				strategy := "adaptive"
				if s.anywhere(hard) || near && !s.anywhere(adaptive) && sentences[i-1].anywhere(hard) || !s.anywhere(adaptive) && s.anywhere(maladaptive) {
					strategy = "maladaptive"
				}
				c.add(statement{of: of, about: do, chance: chance, detail: strategy})
			}
		}
		if len(c.all) == before {
			do, strategy := coped(sentences)
			hurts[of], eases[of] = feels || slices.ContainsFunc(sentences, hurt), slices.ContainsFunc(sentences, eased)
			if do != "" && (hurts[of] || eases[of]) {
				c.add(statement{of: of, about: do, chance: either(hurts[of] && eases[of], sure, weak), detail: strategy})
			}
		} else {
			hurts[of], eases[of] = true, true
		}
	})
	return c.findings(d, func(g *group) Finding {
		b := g.best()
		good := b.detail == "adaptive"
		return Finding{
			Type: "regulation",
			Description: either(good, "You have a way to steady yourself when feelings get strong: “", "When feelings get strong, you tend to keep them away: “") +
				shown(b.about) + "”.",
			Content: map[string]any{"action": shown(b.about), "strategy": b.detail, "texts": len(g.texts())},
			Recommendation: either(good, "This seems to do you good: it may be worth keeping time for it.",
				"You might notice what this gives you and what it costs, and try something kinder now and then."),
		}
	})
}

var hidden = wordSet("feelings feeling feel emotions emotion tears anger sadness hurt grief rage pain fine brave upset face show everything cry crying cried weep")

// tellsBad says that a sentence names a bad feeling or time.
func tellsBad(s *sentence) bool {
	for _, e := range emotions(s) {
		if negative[e.family] {
			return true
		}
	}
	_, ok := first(badTimes, s)
	return ok || s.anywhere(badNouns)
}

var badNouns = wordSet(`stress stressed stressful anxiety anxious worry worries worried grief sadness sad anger angry hurt nerves shame loneliness
		lonely panic despair rage upset
	overwhelmed catastrophising catastrophizing emotions feelings feeling heartbreak envy jealousy tension irritation frustration trembling`)

var badTimes = cues(`(?:bad|hard|rough|awful|terrible|horrible|long|tough|grim|rotten|lousy|dreadful|hellish|shit|crap|miserable|foul|black|dark)
		(?:day|week|night|news|evening|morning|shift|mood|patch|spell|call|meeting|hour|time|days|nights|thoughts)`,
	`too much`,
	`(?:instead of|rather than) (?:_
		)?(?:blow(?:ing)?|shout(?:ing)?|scream(?:ing)?|snap(?:ping)?|cry(?:ing)?|explod(?:e|ing)|griev(?:e|ing)|brood(?:ing)?|panic(?:king)?)`,
	`in such a state`,
	`(?:the|after the|our) (?:row|fight|argument|quarrel|breakup)`,
	`could not sleep`, `(?:panic attack|meltdown|breakdown)`, `on my mind`, `at night when`, `{bad_time}`)

// onset is a bad feeling or time that comes.
var onset = cues(`(?:when|whenever|if|after|before|once|every time|each time|as soon as) {bad_time}`,
	`the (?:_ )?{feel_noun_bad} (?:comes|builds|building|building up|rises|rising|starts|hits)`,
	`(?:felt|feel|feeling|was feeling|am feeling) (?:_ )?(?:rejected|down|low|awful|terrible|bad|lonely|empty|{feel_adj_bad})`,
	`(?:so|that) (?:mad|upset|angry|sad|cross|hurt|wound up)`, `when i am (?:_ )?(?:cross|mad|down|low|{feel_adj_bad})`)

// struggles says that a sentence tells of a bad time: "Row with Tom."
func struggles(s *sentence) bool {
	_, ok := first(strife, s)
	return ok || s.has(wordSetRow, 0, 2) || s.has(badNouns, 0, 2) && !s.anywhere(wordSetBeam) && !s.has(relatives, 0, 1)
}

var relatives = wordSet("mum dad mother father he she they my his her our their everyone everybody people you")

var strife = cues(`^ (?:grim|foul|black|bad|rotten|awful|terrible|horrible|lousy|dreadful) (?:mood|shift|day|night|week|call)`,
	`after (?:the|our|that|another|an|every) (?:_ )?(?:row|fight|argument|quarrel|funeral|breakup|break up|divorce|shouting|panic
		attack)`,
	`(?:could|can) not (?:bear|stand|take|cope with) (?:the |my |this |it )?(?:{feel_noun_bad}|any more)`)

var wordSetBeam = wordSet("test beam buy level fracture ball toy sale")

var wordSetRow = wordSet("row fight argument quarrel shouting divorce funeral rejection")

var (
	planned  = wordSet("will tonight tomorrow")
	medicine = wordSet("aspirin paracetamol ibuprofen tablet tablets antibiotics ointment knee cough")
)

// mentionsMe says that a sentence has the user in it.
func mentionsMe(s *sentence) bool { return s.anywhere(wordSetMe) }

var wordSetMe = wordSet("me my myself")

// acts is doing something of one's own accord, as told in passing.
var acts = cues(
	`(?:i|and|so|then|,|^|to) (?:just |then |also |always |usually |only |simply |go and |went and |had to |have to |try to |will
		|often )?{copes}`,
)

var certainEffects = cues(`(?:count|counted|counting) to (?:ten|10|five|a hundred) (?:$|before|until|till|when|and|then)`,
	`(?:_ )?deep breaths? `,
	`to (?:cope|numb|calm|unwind|destress|decompress)`,
	`{soothes} me`,
	`so i do not have to feel`)

func certainEffect(s *sentence) bool { _, ok := first(certainEffects, s); return ok }

// mine says that nobody else is the subject before a word.
func mine(s *sentence, at int) bool { return !s.has(another, s.start(at), at) }
