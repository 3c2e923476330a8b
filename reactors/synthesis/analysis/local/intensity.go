package local

import (
	"cmp"
	"math"
	"slices"
)

// growing is a feeling that gets stronger.
var growing = cues(
	`(?:{feel_noun}|feeling|feelings|it|they|this|pain) (?:about _ _ |for _ |inside me |in me )?(?:is|are|keeps?|gets?|got|has
		been|have been|grows?|becomes?|has become|was|feels|now|just) (?:only |now |just |on |so much |much |getting |becoming |growing
		|always )?(?:getting |becoming |growing )?(?:stronger|worse|bigger|heavier|deeper|louder|sharper|darker|more intense|more and more
		intense|more and more|unbearable|climbing|rising|growing|building|intensifying|harder to (?:bear|carry|control|hide)|out of
		control|at its worst|off the charts|through the roof|sky high|increasing|spreading)`,
	`{feel_noun} (?:_ )?(?:_ )?(?:has |have |had )?(?:grown into|turned into|swollen|weighs more|weigh more|is bigger than|is worse
		than|are worse than|is stronger than|is deeper than|is more than)`,
	`(?:harder|heavier|darker|worse|stronger|bigger) (?:each|every) (?:day|morning|night|week|time|month|evening|hour)`,
	`{feel_noun} (?:has |have |had )?(?:only |just |really |since
		)?(?:doubled|tripled|grown|exploded|spiralled|spiraled|intensified|escalated|skyrocketed|mounts|swells|grows|keeps climbing|keeps
		growing|keeps rising|climbs)`,
	`i (?:am|feel|get|am getting|am feeling) (?:more and more|increasingly|ever more) {feel_adj}`,
	`(?:angrier and angrier|sadder and sadder|more and more
		(?:angry|sad|anxious|afraid|scared|lonely|hopeless|desperate|jealous|ashamed|overwhelmed|furious|in love|happy))`,
	`(?:angrier|sadder|lonelier|happier|more (?:anxious|afraid|scared|angry|hopeless|desperate|jealous|overwhelmed|in love))
		(?:every|each|by the|with every|with each) (?:day|week|time|hour|minute)`,
	`(?:grows?|growing|bigger|stronger|heavier|worse) (?:by the|with every|with each|every|each) (?:day|week|hour|minute|time|month)`,
	`(?:every|each) (?:day|week|time|month) (?:it is |it is getting |it gets |it |its )?(?:is
		)?(?:stronger|heavier|bigger|worse|more|deeper)`,
	`(?:now|today) it is (?:crushing|unbearable|rage|fury|despair|terror|panic|agony|all i)`, `much stronger than`,
	`(?:{feel_noun}|it|this|that|they|which|feeling) (?:_ )?(?:_ )?(?:ramps? up|ramped
		up|rises|rising|swells|swelled|swelling|mounts|mounting|mounted|doubles|doubling|builds|building|creeps up
		|climbs|climbing|grows|growing|spreads|deepens|deepened|deepening|intensifies|escalates|multiplies|snowballs|thickens|piles up)`,
	`(?:{feel_noun}|it|this) (?:has not|have not|is not|does not|will not|had not) (?:_ )?(?:gone down|go down|stop|stopped growing|get less|getting
		less|let up|ease|eased|easing|fade|shrink|lessen)`,
	`(?:now|today|tonight|by now|these days|meanwhile|yesterday) (?:_ )?(?:it is|they are|is it|is|i am|there is) (?:_ )?(?:_
		)?(?:agony|fire|torture|hell|deafening|everything|a roar|a scream|a storm|a flood|a river|an ocean|a mountain
		|a boil|boil|boiling|so big|huge|enormous|everywhere|all of me|overwhelming|constant|unbearable|a wall|a wildfire|a blaze|an
		inferno|screaming|roaring|nine|ten)`,
	`(?:began|begins|started|starts|used to be|was|were) (?:_ )?(?:as |only |just |out as )?(?:a |an )?(?:_
		)?(?:pinch|hum|nuisance|whisper|flicker|tickle|trickle|spark|seed|murmur|background
		hum|niggle|twinge|simmer|itch|drizzle|drip|little|bit|pebble|puddle)`,
	`(?:more|stronger|worse|heavier|deeper|bigger|fiercer|wilder|darker) (?:still|again|even|by far|than ever|than before|than anything|than any|than
		last|than yesterday|than the|than on|and more|and stronger|and worse|and heavier|with each|with every|each|every)`,
	`(?:even )?more (?:extreme|intense|violent|violently|strongly|overwhelming|powerful|fierce)`,
	`(?:two|three|four|five|ten|twenty|hundred|thousand) times (?:_ )?(?:stronger|worse|more|heavier|bigger|deeper|as)`,
	`(?:bigger|heavier|stronger|worse|deeper|greater|larger|more) than (?:_ )?(?:_ )?(?:i|me|last|the day|yesterday|in|bed|house|body|before|any|anything)`,
	`(?:a little|a bit|bit|even|still|much|far|getting|ever) (?:more|stronger|worse|heavier|bigger|deeper) (?:each|every|with|by)`,
	`(?:each|every|day by day|by the|with each|with every) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:a little|a bit|even|still|gets?|got|grows?|is|was|ever)?
		(?:_ )?(?:more|stronger|worse|heavier|bigger|deeper|thicker|darker|louder)`,
	`how (?:strong|big|deep|huge|intense|violent|fierce|bad) (?:_ )?(?:it|this|that|they|the)`,
)

// utmost is what is said of a feeling that is very strong, in a text that tells of one.
var utmost = cues(
	`never (?:in my (?:_ )?(?:_ )?(?:life|years) )?(?:have i |been |felt |known |had |been so |_ )?(?:_ )?(?:this|so|such|anything|it
		this|as) `,
	`(?:in|of) my (?:whole |entire )?life`,
	`(?:worst|strongest|happiest|saddest|angriest|most|deepest|darkest) (?:_ )?(?:_ )?(?:i have ever|i ever|ever|of my life|day of my
		life)`,
	`(?:ten|10) out of (?:ten|10)`,
	`(?:unbearable|all consuming|overpowering|bottomless|excruciating|indescribable)`,
	`i (?:could|can) (?:burst|scream|explode)`,
	`i could have (?:torn|smashed|screamed|killed|broken|thrown|punched|died|hugged|cried|kissed)`,
	`(?:cried|sobbed|wept|howled|screamed|bawled) (?:_ )?(?:_ )?(?:for (?:an hour|hours|days|_ hours)|all
		(?:night|day|evening|morning)|my eyes out|myself to sleep|uncontrollably|on the (?:_ )?floor|into (?:my|the) pillow)`,
	`could(?: not)? (?:not )?(?:stop (?:crying|shaking|sobbing|trembling|screaming|smiling|laughing|grinning)|stand up|get
		up|breathe|speak|move|hold a|get out of bed|eat|think of)`,
	`i (?:can|could) (?:hardly|barely|not) (?:breathe|speak|stand|move|bear|hold|eat|sleep|think of|take it|contain)`,
	`(?:whole )?body (?:shook|was shaking|trembled|went)`,
	`(?:floored|flattened|knocks?|knocked|crushed|swallowed|consumed|overwhelmed|destroyed|broke|breaks|shattered|engulfed|drowns|drowned)
		me`,
	`(?:shook|shaken|shattered) (?:me )?to (?:the|my) core`,
	`(?:shaking|trembling|shook|trembled) (?:with|from) (?:it|{feel_noun})`,
	`literally (?:trembling|shaking|sobbing|crying|screaming|bursting|exploding)`,
	`beside myself`,
	`(?:is|are|was) (?:eating|killing|crushing|drowning|burning|tearing|suffocating|swallowing|breaking|choking) me`,
	`tears (?:pouring|streaming|running|rolling)`,
	`eats? me (?:alive|up)?`,
	`(?:more than|too much) (?:i can|to|than i can) (?:bear|carry|take|handle|hold)`,
	`(?:physically|really) hurts`,
	`so much (?:that )?it (?:physically )?(?:hurts|aches)`,
	`heart (?:is|was|felt like it was)? (?:exploding|bursting|breaking|broken|shattered|pounding out|in pieces|shattering)`,
	`(?:wanted|want) (?:the )?(?:earth|ground|floor) (?:to|would) swallow me`,
	`(?:fills?|filled) (?:every|all) (?:corner|part|fibre|fiber|inch|of)`,
	`(?:i|and) (?:thought|think) (?:that )?i would (?:die|explode|burst|faint|lose my mind|pass out)`,
	`(?:head to toe|out of my mind|out of my skin|out of my wits|to bits|to pieces|beyond words|knocks me flat|through the roof|off the
		charts)`,
	`such a (?:violent|strong|huge|massive|fierce|powerful|overwhelming) (?:wave|rush|surge|feeling|fit)`,
	`so i could (?:scream|burst|cry)`,
	`(?:the )?(?:grief|sadness|anger|fear|joy|love|shame|rage|panic|despair|happiness|loneliness|anxiety)
		(?:came|hit|hits|crashed|crashes|slammed) (?:me )?(?:like|over)`,
	`howled`,
	`like (?:a child|never before|an animal|a baby|a madman|crazy|mad)`,
	`could not (?:help it|stop|stop myself|contain)`,
	`(?:it|so much it|that it) (?:hurts|hurt|aches|ached|burns|burned) (?:physically|so much)?`,
	`(?:fills?|filled|takes? over|took over|swallows?|rules?|consumes?|consumed) (?:the whole|my whole|my entire|all my|everything|the
		entire|my every) `,
	`so (?:big|huge|strong|fierce|deep|great|intense) (?:that )?(?:it|i)`,
	`more than (?:i have )?ever`,
	`(?:off|beyond|over|through) (?:the|all|any) (?:scale|scales|charts|words|measure|roof|limit|limits|top|edge)`,
	`(?:every|each) (?:_ )?(?:cell|fibre|fiber|inch|bone|nerve|pore|muscle|part) (?:in|of) (?:me|my)`,
	`(?:from|down to) (?:_ )?(?:my|the) (?:_ )?(?:scalp|head|toes|bones|shoes|soles|core|marrow)`,
	`(?:can|could|do|did) (?:not|hardly|barely) (?:even )?(?:type|think|see straight|stop|stand|sit|eat|sleep|talk|write|swallow|hold|move|get up|get
		out|believe how|feel my|face|walk|drive|read|contain|bear|breathe|finish)`,
	`i (?:_ )?(?:can|could) (?:almost |nearly )?(?:taste|burst|scream|explode|weep|howl|cry|die|sing|kiss|hug|fly)`,
	`(?:i|i (?:_ )?(?:will|would|nearly|almost|soon|could|am going to|was going to|am about to)|about to|fit to|want to)
		(?:explode|burst|combust|crack|shatter|snap|pass out|faint|collapse|die|suffocate|drown|drowning|suffocating)`,
	`(?:takes?|took|taking|robs?|robbed|steals?|stole|knocks?|knocked) (?:away )?my (?:breath|sight|sleep|voice|appetite|words)`,
	`(?:sank|fell|dropped|sunk|went|brings?|brought|was) (?:_ )?(?:to|on) my knees`,
	`had to (?:_ )?(?:sit down|lie down|hold on|hold onto|pull over|stop|lean|leave|run out|get out|kneel|crouch|bite|hold|grip|grab|go outside|go out)`,
	`so (?:strong|strongly|thick|heavy|loud|sharp|fierce|badly|violently|much|hard|intense|big|deep|deeply|overwhelming|bad|great|huge|powerful) (?:_
		)?(?:that|i|it|my)`,
	`so {feel_adj} (?:_ )?(?:_ )?(?:_ )?(?:_ )?i
		(?:thought|could|had|nearly|almost|can|forgot|forget|want|wanted|did|do|threw|broke|cried|sat|ran|lay|shook|laughed)`,
	`{feel_noun} (?:like|that) i (?:have |had )?(?:never|not)`, `than i (?:knew|thought|imagined|dreamed|have ever|ever|can|could)`,
	`hurts (?:_ )?more`, `(?:at a|to a|on a) level`, `to the (?:bone|core|marrow)`, `(?:is|was) (?:unreal|indescribable|out of this world|beyond)`,
	`(?:there is |there was )?nothing left of me`, `(?:knees|legs) gave (?:way|in|out)`, `(?:does|did) not (?:_ )?cover it`, `(?:comes|came|starts)
		(?:_ )?earlier`, `(?:lasts|stays|lasted) longer`, `(?:turned|grown|swollen|turns|grows) into (?:something|a )`,
	`(?:is|was) (?:an animal|a wolf|a monster|a beast|a sea|an ocean|a fire|a flood|a storm|a black hole|an abyss)`, `out of hand`, `something else`,
	`i did not know (?:_ )?(?:_ )?(?:_ )?(?:could|that|had|this|such|so|possible)`, `nothing else`, `so great`,
	`so (?:much )?(?:{feel_adj}|{feel_noun}) (?:that |, )?(?:i|it|my|the|he|she) `,
	`(?:this|that) (?:{feel_adj}|strongly|much|badly|strong|intense|fierce|violent)`,
	`never (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:{feel_noun}|{feel_adj}) (?:like|so|as|$|of this|in)`,
	`(?:never|not) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:like (?:this|it|that|tonight|today)|so (?:_
		)?(?:{feel_adj}|{feel_noun}|strongly|much|low|badly|intensely)|as low|this (?:_ )?{feel_adj}|anything so)`,
	`never (?:sunk|been|felt|sobbed|cried|laughed|shaken|raged|screamed|hated|loved|missed|wanted|known) (?:_ )?(?:_
		)?(?:so|as|this|like|such|more|anything|harder)`,
	`(?:nothing|nobody|no one) (?:has )?(?:ever|in my life)`,
	`(?:no|not any|without|has no|have no) (?:edges|bottom|end|limit|limits|floor|words|word|smaller word|brakes)`,
	`with a (?:_ )?(?:force|violence|strength|power|intensity|fury) `,
	`(?:is|was|it is|feels|felt|almost|hurts) (?:_
		)?(?:physical|physically|animal|total|absolute|bottomless|endless|monstrous|volcanic|primal|extreme|infinite|all consuming|savage)`,
	`thought (?:that )?(?:i|my _|it) (?:_ )?(?:was|would|am|could|will|might) (?:_ )?(?:_ )?(?:dying|die|explode|burst|crack|faint|stop|going
		mad|choke|break|mad|drown|split|crack|snap|give)`,
	`(?:i|it) (?:will|would|could|am going to|is going to|was going to|shall) (?:burst|explode|kill|break|swallow|drown|choke|crush|split)`,
	`(?:eating|tearing|tears?|ripping|rips|burning|burns|crushing|crushes|choking|chokes|swallowing|swallows|smothering|flooding|drowning|gnawing|gnaws|consuming|consumes|owns?|eats|rules|devours|grips|holds) (?:_ )?(?:at |through |up )?(?:me|my|the nights)`,
	`me (?:_ )?by the throat`,
	`(?:laugh(?:ing)?|laughed|smil(?:e|ing)|smiled) and (?:cry|crying|cried|sob|sobbing|sobbed|weep|wept|weeping)`,
	`(?:wept|weep|cried|sobbed|howled|howling|screamed|screaming|sobbing|squealing|shrieked|shrieking|shaking|trembling|drunk|delirious|dizzy|mad|sick|ill|retched|fainted|vomited|threw up) (?:_ )?(?:_ )?(?:with|from|for|of) (?:_ )?(?:{feel_noun}|it)`,
	`(?:retched|vomited|threw up|was sick|blacked out|passed out|fainted|hyperventilated|bit through|punched|threw a|smashed|ripped|tore)`,
	`(?:ecstasy|ecstatic|incandescent|delirious|apoplectic|inconsolable|agony|rapture|frenzy)`,
	`(?:electric|white hot|red hot|blazing|on fire|burning up|all of me|my whole (?:body|being|self|chest|soul))`,
	`(?:blown|blew|goes|went|tears|tore|ripped|shot|ran|surged) through me`,
	`(?:until|up to|to) (?:the|my) (?:throat|neck|brim|bones|fingertips)`,
	`(?:actually|literally|honestly|physically|properly|uncontrollably) (?:_
		)?(?:shaking|crying|trembling|screaming|sobbing|sick|hurts|ill|jumping|shook|cried|screamed|could|cannot|can)`,
	`(?:strongest|worst|fiercest|deepest|greatest|biggest|purest|sharpest|blackest|most intense|most violent) (?:_ )?(?:_ )?(?:i|of my|ever|yet|in
		my|so far)`,
	`(?:worse|stronger|deeper|bigger|more) than (?:_ )?(?:anything|any|ever)`,
	`(?:too|almost too) (?:much|big|great|strong|heavy|large) (?:for|to)`,
	`(?:badly|violently|fiercely|desperately|strongly|intensely|overwhelmingly|unbearably|indescribably|insanely|ridiculously|stupidly)`,
	`(?:very very|very , very|so so|so , so|really really) {feel_adj}`,
	`(?:enormous|immense|gigantic|overwhelming|boundless|endless|indescribably|excruciating)`,
)

// intensity finds feelings that are told as very strong, or as growing; and, where
// texts have a valence, a trend of it.
//
// Content: emotion and family, of the feelings; trend, growing, steady, or (of valence)
// rising or falling; texts, how many tell of it; for valence mean, slope (a text) and p.
func intensity(d *document) []Finding {
	var c, open collector
	grows := map[string]bool{}
	d.perText(func(of int, sentences []sentence) {
		var felt emotion
		any := false
		for i := range sentences {
			if e, ok := strongest(signs(&sentences[i])); ok && (!any || e.strong && !felt.strong) {
				felt, any = e, true
			}
		}
		for i := range sentences {
			s := &sentences[i]
			if aside(s) || s.anywhere(shoppingTalk) || s.anywhere(technical) && !any {
				continue
			}
			e, ok := strongest(signs(s))
			m, most := first(utmost, s)
			g, more := first(growing, s)
			most = most && !s.has(another, s.start(m.from), m.from)
			more = more && mine(s, g.from) && !s.denied(g.from)
			switch {
			case ok && (e.strong || (most || more) && e.level >= 1):
				if more {
					grows[e.family] = true
				}
				c.add(statement{of: of, about: kin[e.family], kind: kin[e.family], chance: sure, detail: e.family})
			case more && nounFamily(s) != "":
				f := nounFamily(s)
				grows[f] = true
				c.add(statement{of: of, about: kin[f], kind: kin[f], chance: sure, detail: f})
			case (most || more) && any && felt.level >= 2:
				if more {
					grows[felt.family] = true
				}
				c.add(statement{of: of, about: kin[felt.family], kind: kin[felt.family], chance: sure, detail: felt.family})
			case (most || more) && (s.anywhere(inward) || more && !s.has(thing, 0, 1) && s.anywhere(heavier)):
				open.add(statement{of: of, chance: weak})
			}
		}
	})
	// What names no feeling goes with the one that is told most often.
	if most := commonest(c.all); most.kind != "" {
		for _, s := range open.all {
			c.add(statement{of: s.of, about: most.about, kind: most.kind, chance: weak, detail: most.detail})
		}
	}
	found := c.findings(d, func(g *group) Finding {
		family := g.best().detail
		trend := either(grows[family], "growing", "steady")
		return Finding{
			Type: "intensity",
			Description: either(grows[family], "Your "+nameOf(family)+" seems to be getting stronger.",
				"You tell of very strong "+nameOf(family)+"."),
			Content: map[string]any{"emotion": nameOf(family), "family": family, "trend": trend, "texts": len(g.texts())},
			Recommendation: either(negative[family],
				"When a feeling is this strong, it may help to slow down and to share it with somebody you trust.",
				"It may be good to hold on to what brought this, for instance by writing it down."),
		}
	})
	return append(found, d.valence()...)
}

// thing is how a sentence about a thing begins: "my tomatoes get stronger".
var thing = wordSet("my the our your his her their a an")

// inward and heavier are words of a sentence that tells of a feeling without a name.
var (
	inward  = wordSet("me feel felt feeling inside myself")
	heavier = wordSet("heavier intense stronger unbearable deeper")
)

var shoppingTalk = wordSet(`product purchase delivery refund review service packaging recommend seller warranty queue
	index points percent percentage market indicator barometer`)

// nounFamily gives the family of a noun for a feeling in a sentence.
func nounFamily(s *sentence) string {
	for _, w := range s.words {
		if f, ok := felt.of["noun"][w.text]; ok {
			return f.family
		}
	}
	return ""
}

// commonest gives a statement of the kind that most have, the first one of these.
func commonest(all []statement) statement {
	n := map[string]int{}
	for _, s := range all {
		n[s.kind]++
	}
	var best statement
	for _, s := range all {
		if n[s.kind] > n[best.kind] || best.kind == "" {
			best = s
		}
	}
	return best
}

// Valence is looked at from eight texts on, and a trend of it is told if it is steady
// enough (Mann and Kendall's test, p < 0.01, two-sided) and moves by half a unit.
const (
	fewestValences = 8
	least          = 0.5
)

// valence gives the trend of valence over time, if there is one.
func (d *document) valence() []Finding {
	type point struct {
		text  int
		value float64
	}
	var points []point
	for i, t := range d.texts {
		if t.Valence != nil && !math.IsNaN(*t.Valence) && !t.Time.IsZero() {
			points = append(points, point{i, max(-1, min(1, *t.Valence))})
		}
	}
	n := len(points)
	if n < fewestValences {
		return nil
	}
	slices.SortStableFunc(points, func(a, b point) int { return d.texts[a.text].Time.Compare(d.texts[b.text].Time) })
	s, sum := 0, 0.0
	ties := map[float64]int{}
	for i, p := range points {
		sum += p.value
		ties[p.value]++
		for _, q := range points[:i] {
			s += cmp.Compare(p.value, q.value)
		}
	}
	variance := float64(n * (n - 1) * (2*n + 5))
	for _, t := range ties {
		variance -= float64(t * (t - 1) * (2*t + 5))
	}
	if variance = variance / 18; variance <= 0 || s == 0 {
		return nil
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(variance)
	p := math.Erfc(z / math.Sqrt2)
	third := n / 3
	early, late := 0.0, 0.0
	for i := range third {
		early += points[i].value / float64(third)
		late += points[n-1-i].value / float64(third)
	}
	if p >= 0.01 || math.Abs(late-early) < least {
		return nil
	}
	trend := either(s > 0, "rising", "falling")
	texts := []int{}
	for _, q := range points {
		if far := q.value - sum/float64(n); (far > 0) == (s > 0) && math.Abs(far) > 0.1 {
			texts = append(texts, q.text) // those that pull
		}
	}
	slices.Sort(texts)
	return []Finding{{
		Type:           "intensity",
		Description:    either(s > 0, "Over time your texts have become brighter in mood.", "Over time your texts have become darker in mood."),
		Evidence:       d.ids(texts),
		Confidence:     math.Round(100*min(0.97, 1-p)) / 100,
		Content:        map[string]any{"emotion": "mood", "family": "valence", "trend": trend, "mean": round(sum / float64(n)), "change": round(late - early), "p": p, "texts": len(texts)},
		Recommendation: either(s > 0, "It may be worth noting what has changed for the better.", "It may help to look at what has changed in this time, perhaps together with somebody close."),
	}}
}

func round(x float64) float64 { return math.Round(1000*x) / 1000 }
