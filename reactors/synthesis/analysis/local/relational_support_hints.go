package local

import "slices"

// supportHints are ways in which help is told beside those that name it.
var supportHints = slices.Concat(
	hintsOf("there", 3, `
		(?:there for (?:me|us)|by my side|at my side|have my back|has my back|had my back|in my corner|behind me all|stood by|stands by|stuck by|
		looks? after (?:me|us)|looked after (?:me|us)|looking after (?:me|us)|took care of (?:me|us|everything)|takes care of (?:me|us|everything)|
		take care of (?:me|us)|carry me|carried me|carries me|being carried|carry us|got (?:me|us) (?:_ )?through|gets? (?:me|us) (?:_ )?through|
		pulled me|pulls me|keeps? me (?:going|sane|afloat|alive|upright|company|standing|from)|kept me (?:going|sane|afloat|alive|upright|company|
		standing|from)|keeps? my (?:chin|head|spirits)|saved (?:me|my|us)|my (?:rock|lifeline|anchor|safety net|saviour|savior|angel|guardian|backbone|
		cavalry)|lifeline|godsend|guardian angel|could not (?:do|have done|manage|cope|survive) (?:_ )?(?:_ )?without|without (?:{him}|that lot|
		those (?:two|women|men|girls|people)|their|his|her) (?:_ )?(?:i|we|it)|i would be lost|would have (?:dropped out|given up|gone under|quit|drowned|
		fallen|starved|sunk|ended up|collapsed|lost it)|would not (?:manage|be here|have (?:got|made|managed|finished|survived|coped))|
		do not know (?:what|how) (?:i|we) would|reason i am still|not alone|not so alone|less alone|never alone|am i lucky|luckier|lucky to have|blessed|
		count on (?:{him}|that lot)|lean on (?:{him}|that lot)|rely on {him}|turn to {him}|i can (?:always )?(?:ring|call|phone|text|go to|ask|knock)|
		only have to (?:say|ask|call|ring)|at any hour|any time of|day or night|no matter (?:what|when)|like a (?:mother|father|sister|brother|second|
		family) (?:_ )?(?:to|for)|like family|rallied|rally round|rallied round)
		(?:help|helps|helped|helping|support|supports|supported|supporting|comfort|comforts|comforted|comforting|encourag*|cheer(?:s|ed)? (?:me|us)|
		back(?:s|ed) me|protect*|defend*|stood up for|sticks up for|stuck up for|coach(?:es|ed) me|talk(?:s|ed) me (?:down|through|out|round)|calm(?:s|
		ed) me|reassur*|console*|listen(?:s|ed) to me|hear(?:s|d) me out|let me (?:talk|cry|vent|rant|sleep|stay|borrow|use|rest)|lets me (?:talk|cry|
		vent|rant|sleep|stay|borrow|use|rest)|believ(?:es|ed) in me|check(?:s|ed)? (?:in |up )?on (?:me|us)|check(?:s|ed)? in|checking in) `),
	hintsOf("practical", 3, `
		(?:they|he|she|0p|who|one|two|three|lot|them|neighbours|everybody|everyone|people|street|group|house|women|men|girls|lads|someone|somebody|team|
		colleagues|quilters|church|community|nurse|carers?) (?:_ )?(?:_ )?(?:_ )?(?:drove|drives|drive|took|takes|take|taken|brought|brings|bring|cooked|
		cooks|cook|lent|lends|lend|gave|gives|give|sat|sits|sit|stayed|stays|stay|came|comes|come|held|holds|hold|covers|covered|cover|covering|sent|
		sends|send|picked|picks|pick|watched|watches|watch|minds|minded|babysat|babysits|filled|fills|wrote|writes|paid|pays|pay|fixed|fixes|fix|mended|
		walked|walks|walk|waited|waits|rang|rings|ring|called|calls|phoned|phones|phone|texts|texted|messages|visited|visits|visit|cleaned|cleans|washed|
		washes|shopped|shops|does|do|did|made|makes|make|read|reads|records|recorded|translated|translates|spoke|speaks|went|goes|go|slept|sleeps|noticed|
		organised|organized|arranged|found|put|handles|handled|deals|shared|shares|showed|shows|taught|teaches|explained|explains|passed|lifted|dropped|
		opened|opens|collected|collects|raised|fed|feeds|keeps|kept|set up|moved|rebuilt|repaired|shovelled|mows|mowed|knocks|knocked|turns up|turned up|
		shows up|showed up|swapped|swaps|remembered|remember|types|typed|ran|runs) … (?:me|us|my|our)
		(?:for|to|with|by|beside|over|round|around|after|on behalf of|on|in|through) (?:me|us)|on my behalf|my side|my (?:floor|bed|sofa|couch|step|
		doorstep|hand|arm|shoulder|kitchen|shopping|gutters|garden|kids|children|shift|shifts|bay|boxes|essays|hair|roof|notes)|our (?:roof|kitchen|kids|
		shopping|boxes|garden)|to the (?:hospital|clinic|doctor|appointment|court|airport|chemo)|all (?:the )?(?:night|way|day|sunday|saturday|evening|
		weekend|four hours|two hours)|every (?:evening|morning|night|week|day|tuesday|wednesday|thursday|friday|saturday|sunday|monday)|each (?:morning|
		evening|tuesday|week|day|thursday)`),
	hintsOf("there", 3, `
		(?:moved in|flown in|flew (?:in|over)|drove (?:over|out|down|up|all)|come(?:s)? (?:over|round|to every)|came (?:over|round|to)|taken over|
		takes over|took over|stayed up|stays up|stayed (?:with|till|until|on)|sat (?:with|next to|beside|on)|sits (?:with|beside)|waited (?:outside|with|
		for)|waits|never (?:asked|left|asks|leaves) (?:_ )?(?:_ )?|ha(?:s|ve) taken (?:_ )?(?:in|on)|gave (?:me|us) (?:his|her|their|the|
		a) (?:_ )?(?:room|spare|sofa|couch|bed|key|upstairs|flat|car|number)|took (?:me|us) (?:in|to|home|out)|tak(?:es|ing) (?:me|us) (?:to|out|in)|
		mak(?:es|ing) me (?:eat|laugh|sleep|rest|get|tea|go)|made me (?:eat|laugh|sleep|rest|get|tea|go|a|soup)|sent me (?:to bed|home|openings|links|
		flowers|a card|money|food|notes)|sends me (?:his|her|a|the|notes|jokes)|kept (?:checking|calling|texting|asking)|(?:noticed|saw|knew|
		sensed) (?:_ )?(?:_ )?(?:_ )?(?:struggling|pale|low|not eating|something|before i|wrong|off|quiet|crying)|practi(?:s|c)ed (?:_ )?(?:_ )?with me|
		went (?:to|through) (?:_ )?(?:_ )?(?:_ )?(?:_ )?with me|goes (?:to|through) (?:_ )?(?:_ )?(?:_ )?with me|(?:go|come) with me|
		do not have to pretend|not have to (?:explain|pretend|ask|be strong|be clever|say)|would (?:_ )?never have (?:got|made|managed|finished|done|
		survived|passed)|never have (?:got|made|managed|finished|done|survived|passed) (?:_ )?(?:_ )?without|could not have (?:_ )?(?:done|managed|coped|
		made|got|survived)|only reason i|reason i (?:get|am|got|did|can|have)|dug out|leaves the meter|off the meter|before every|to every (?:appointment|
		scan|hearing|session|match|check)|(?:writes|wrote) (?:_ )?down (?:what|every)|on (?:his|her|their) (?:day off|lunch|own time|free)|gave up (?:his|
		her|their)|drops? everything|dropped everything|out of (?:his|her|their) (?:way|own pocket)|had (?:everyone|us|me) round|an afternoon to myself|
		so (?:that )?(?:i|we) (?:can|could|do not|did not|would not|get|got) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:alone|sleep|rest|work|breathe|go|eat|cope|
		myself|worry|sit|have|study)?)`),
	hintsOf("practical", 2, `
		(?:for nothing|for free|free of charge|no questions|not a word about|without (?:my )?(?:asking|being asked|a fuss|a word|complaining|question)|
		would not (?:hear of|take|accept)|never (?:sent|asked|sighed|complained|said|charged|made)|not one of them|no bill|no fuss|pretends (?:he|
		she) was|was going anyway|because somebody did|just because|in turns|take turns|takes turns|taking turns|passed a hat|whip round|
		collected (?:money|for)|chipped in|pitched in|dropped everything|stood (?:there|on|at|in) (?:_ )?(?:with|my|our|the)|turned up with|
		showed up with|came (?:over|round|with|by)|came straight|at (?:midnight|two|three|four|five) (?:in the|with)|four in the morning|
		in the middle of the night|after (?:his|her|their) shift|overnight|as long as it (?:lasts|takes)|upstairs|their (?:spare|upstairs|sofa)|soup|
		casserole|lasagne|pizza|cocoa|tea|cake|meal|meals|flask|blanket|flowers|lift|ride|tools|toolbox|heaters|bag of|stew)
		(?:wept|cried|grateful|gratitude|thankful|thank|thanks|touched|moved|relief|relieved|lucky|bless|kiss (?:her|him|them)|kindness|kind|warmth|
		could have (?:kissed|hugged)|owe|first time (?:an|any)|bearable|gets? along|got along|manage|managed|not (?:so )?alone|chin up|going|standing|
		afloat|safe|calm|breathe)`),
	hintsOf("", 2, `
		{hardship}|frightened|unwell|crutches|wrists?|wheelchair|dialysis|stroke|storm|burglary|bankrupt|exam|exams|thesis|panic attack|not eating|needle|
		tether|too much|gave up|insurance|newborn|baby|twins|forms|moved (?:here|countries)|foreign|refugee|job hunt|search|reference|deadline|
		bad (?:night|day|week|spell)|wobble|relapse|craving|dark|winter|broken|back was bad|could not|can not|migraine|collapse|nights`),
	hintsOf("there", 3, `
		(?:lets?|let|letting) (?:me|us) (?:sleep|stay|live|use|talk|cry|vent|be|have|rest|in)|got me (?:the|a|an|into|out|back|through)|believed me|
		believes me|patience (?:for|with) (?:me|my)|(?:have|has|take|takes|took|minds?|watch|watches) (?:our|my|the) (?:_ )?(?:boys|girls|kids|children|
		son|daughter|twins|baby)|(?:helps|helped) me|(?:corrected|proofread|checked|typed|printed|filled) (?:_ )?(?:my|the) (?:_ )?(?:application|forms?|
		letters?|thesis|essay|cv|papers)|after (?:his|her|their) (?:work|shift)|(?:lay|sat|stood|knelt) (?:_ )?(?:down )?(?:_ )?(?:on|beside|with|next|
		by)|sends me (?:a|his|her)|i can (?:text|ring|call|phone|wake|knock|ask|tell|go)|(?:call|calls|ring|rings|rang|answers?|picks? up) (?:within|
		at the|on the|straight|right|every|any|back)|felt human|feel human|human again|held (?:my|me)|dries my|wip(?:es|ed) my|propped|picked me up|
		lifts? me|lifted me`),
	hintsOf("", 1, `
		again|always|every|each|whenever|ever since|since|all|whole|even|still|till|until|everything|anything
		friend|friends|lady|coach|in_laws|neighbour|neighbours|aunt|uncle|group|circle|team|colleague|church|street|family|nurse|therapist|teacher|mentor
		me|us|my|our`),
)

// doorCue is a courtesy.
var doorCue = phrased(`(?:held|holds|hold|opened|open|got) (?:me )?the (?:_ )?door`)

// supportWeight is what the hints of support in a talk say.
func supportWeight(p *talk, points, keyed int, line *bondLine) float64 {
	for i := range p.lines {
		s := &p.lines[i].sentence
		if doorCue.in(s) {
			return 0
		}
		if absentHelp.in(s) && !unlikeAbsent.in(s) || askedHelp.in(s) || keyed < 6 && errandHelp.in(s) && !graveNeed.in(s) {
			return 0
		}
	}
	switch {
	case keyed >= 5 && points+p.charge >= 9, keyed >= 3 && points+p.charge >= 9:
		return hintShown
	case keyed >= 3 && points+p.charge >= 5:
		return hintWeak
	case keyed >= 2 && points+p.charge >= 5, p.meets && points >= 2 && p.charge >= 2:
		return hintFaint
	}
	return 0
}

// manyHelpers makes signs that are weak count where several texts have them, be it of
// one person each: that many help says as much as that one helps often. One text of
// seven at least has to tell of help.
func manyHelpers(d *document, found []bondSign) []bondSign {
	of := map[int]bool{}
	for _, s := range found {
		if s.weight >= hintWeak {
			of[s.line.of] = true
		}
	}
	if len(of) < 2 || 7*len(of) < len(d.texts) {
		return found
	}
	for i := range found {
		if found[i].weight >= hintWeak {
			found[i].weight = max(found[i].weight, hintShown)
		}
	}
	return found
}
