package local

import "strings"

// emotion is a feeling of the user's own in a sentence.
type emotion struct {
	feeling
	words    string
	from, to int
	strong   bool // told as very strong
}

// Classes of how a feeling is told.
var tellings = map[string]string{
	"be": `am|was|feel|felt|get|got|become|became|turn|turned|go|went|grow|grew|stay|am feeling|was feeling|have been|have been feeling|
		feeling|getting|end up|ended up|end up feeling|start feeling|start to feel|started to feel|start getting|start to get|found
		myself|find myself|sat there|lay there|stood there|left|came home|went home|walked home|woke up|wake up`,
	"adv": `so|very|really|just|too|quite|still|already|always|often|usually|again|all|that|even|more|instantly|immediately|suddenly|straight
		away|at once|almost|far too|much too|always so|just so|so very|both|also|literally|honestly|actually|genuinely|physically|such|
		now|more and more|increasingly`,
	"strongly": `absolutely|utterly|completely|totally|deeply|so deeply|truly|unbelievably|incredibly|extremely|overwhelmingly|insanely|madly|
		beyond|wildly|intensely|terribly|immensely|profoundly|seriously|ridiculously|impossibly|entirely|thoroughly|painfully|fiercely|
		desperately|violently|blindingly|insanely`,
	"makes": "makes|make|made|making|leaves|leave|left|turns|turned|keeps|kept|has|had|gets|get|got|drives|drove|drive",
	"surge": "wave|waves|rush|jolt|pang|surge|stab|burst|flood|fit|feeling|feelings|sense|tears|flash|pit|knot|storm|bout|flicker|spike|mix",
	"with": `sick|fainted|died|cried|wept|screamed|howled|trembling|grinning|beaming|shaking|burning|filled|overwhelmed|overcome|consumed|numb|
		bursting|crying|speechless|flooded|seized|paralysed|paralyzed|gripped|dizzy|weak|frozen|hot|trembled|shook|wild|mad|blind|white|
		crippled`,
	"sheer": `sheer|pure|total|utter|blind|violent|bottomless|black|complete|absolute|overwhelming|crushing|unbearable|raw|intense|crippling|
		paralysing|paralyzing|searing|white hot|burning|deep|blinding|debilitating|indescribable|uncontrollable`,
	"body_drops": `drop|drops|dropped|sink|sinks|sank|knots|knotted|churn|churns|churned|churning|turns|turned|lurches|lurched|tightens|tightened|
		clenches|clenched|pound|pounds|pounded|pounding|race|races|raced|racing|hammers|hammered|hammering|thumps|thumped|thumping|
		flutters|flips|flipped|closes|closed|close up|closes up|tight|tightening|shake|shakes|shook|shaking|tremble|trembles|trembled|
		trembling|sweat|sweats|sweating|sweaty|goes blank|went blank|stops|stopped|skips|boil|boils|boiled|boiling|crawl|crawls|crawled|
		runs cold|ran cold|aches|ached|breaks|broke|breaking|constricts|seizes up|tenses|tensed|freezes|in knots|went cold|go cold|goes
		cold|jumps|jumped`,
}

// How one tells of a feeling: feeling, strong if that is told as very strong.
var told = []struct {
	cue    *pattern
	strong bool
}{
	{cue(`(?:i|and|but|me) {be} (?:{adv} )?{strongly} (?:{adv} )?(?P<f>{feel_adj})`), true},
	{cue(`^ (?:{be} )?(?:{adv} )?{strongly} (?:{adv} )?(?P<f>{feel_adj})`), true},
	{cue(`{makes} me (?:feel )?(?:{adv} )?{strongly} (?P<f>{feel_adj})`), true},
	{cue(`so (?P<f>{feel_adj}) (?:that )?i (?:could|can|could not|can not|want|wanted|nearly|almost|had to) `), true},
	{cue(`{sheer} (?P<f>{feel_noun})`), true},
	{cue(`{with} (?:with|by|from) (?:{sheer} )?(?P<f>{feel_noun})`), true},
	{cue(`such a? violent {surge} of (?P<f>{feel_noun})`), true},
	{cue(`(?:never|rarely|seldom) (?:_ )?(?:_ )?(?:felt|been|known|feel) (?:_ )?(?:so|this|such|more|that|as) (?:_ )?(?P<f>{feel_adj}|{feel_noun})`), true},
	{cue(`the (?P<f>{feel_noun}) (?:as soon as|whenever|every time|each time|the moment)`), false},
	{cue(`i (?:really |just |still |always |am |was |have been |have |also |then |often |even |immediately |instantly )?(?:{be} )?(?:{adv}
		)?(?:{adv} )?(?P<f>{feel_adj})`), false},
	{cue(`(?:i|me|and) {be} (?:{adv} )?(?:{adv} )?(?:like )?(?P<f>{feel_adj})`), false},
	{cue(`^ (?:but |and |so )?{be} (?:{adv} )?(?:{adv} )?(?P<f>{feel_adj})`), false},
	{cue(`^ (?:{adv} )?(?:{adv} )?(?P<f>{feel_adj}) (?:again|all|about|over|as|like|every|each|does|today|tonight|since|whenever|when|in
		the|this|, |$)`), false},
	{cue(`^ (?:{adv} )?(?P<f>{feel_adj}) $`), false},
	{cue(`(?:i|me|and|then|^) (?:{adv} )?(?:was |am |were |started |start |keep |kept |began to |want to |wanted to |could |just
		)?(?P<f>{feel_does})`), false},
	{cue(`(?:i (?:lay|lie|lay awake|lie awake|sat|sit|am|was|spent) … )(?P<f>{feel_does})`), false},
	{cue(`the (?:worst|greatest|deepest|biggest|strongest|blackest) (?P<f>{feel_noun}) (?:i|of my|ever|in my|yet)`), true},
	{cue(`(?:the|that) old (?P<f>{feel_noun}) (?:was|is|came|comes)`), false},
	{cue(`without (?:getting|feeling|becoming|turning|being) (?:{adv} )?(?P<f>{feel_adj})`), false},
	{cue(`without (?P<f>crying|panicking|weeping|sobbing|worrying|cringing)`), false},
	{cue(`so (?P<f>{feel_adj}) (?:that )?(?:i|it|my|the) `), true},
	{cue(`(?:a|this|such) (?P<f>{feel_noun}) so (?:big|huge|deep|strong|great|fierce|heavy|loud|intense|overwhelming|immense) `), true},
	{cue(`(?:explode|exploding|burst|bursting|die|dying|burn|burning|choke|choking|mad|sick|scream|screaming|cry|crying|weep|weeping)
		(?:with|from|of|for) (?:_ )?(?P<f>{feel_noun})`), true},
	{cue(`i (?:hated|hate|loved|love|envied|envy|feared|missed|miss|resented) (?:him|her|them|it|myself) so
		(?:much|fiercely|deeply|badly|intensely|hard) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:that )?(?:it|i)
		(?P<f>scared|hurt|cried|hurts|frightened|shook|ached)`), true},
	{cue(`{makes} me (?:feel |go )?(?:so|very|really|just|quite|all|want to|even)? (?:{adv}
		)?(?P<f>{feel_adj}|{feel_does}|angrier|sadder|happier|calmer)`), false},
	{cue(`(?P<f>{feel_makes}) me`), false},
	{cue(`how (?P<f>{feel_adj}) (?:it|that|this|he|she|they|the _) (?:makes|made) me`), false},
	{cue(`(?:i|and|^) (?:could |can |already |still |always |just |suddenly |only )?(?:feel|felt|get|got|have|had|experience|experienced|am
		full of|was full of|am filled with) (?:_ )?(?:_ )?(?:_ )?(?P<f>{feel_noun})`), false},
	{cue(`nothing {makes} me (?:_ )?(?:_ )?(?P<f>{feel_adj}|angrier|sadder|happier|calmer)`), false},
	{cue(`{surge} of (?:_ )?(?P<f>{feel_noun})`), false},
	{cue(`(?:bubble|sting|stabs|lump|pinch|gush|prickle|shiver|kick|glow|cloud|fog|mist|weight) of (?:_ )?(?P<f>{feel_noun})`), false},
	{cue(`(?:that|the|this|same|old|familiar|such|heavy|hollow|cold|trapped) (?:old |same |familiar |awful |horrible |heavy |hollow |cold |trapped
		|terrible )?(?P<f>{feel_noun})
		(?:$|arrives?|arrived|crept|creeping|settles|settled|returned|returns|floods|flooded|crashed|swept|hit|that|as|like|straight|right|until|till)`), false},
	{cue(`(?:for|from|of|in|with) (?P<f>{feel_noun}) $`), false},
	{cue(`(?:the|my|this|such|that|a|of) (?:_ )?(?P<f>{feel_noun}) (?:rises?|rose|came|comes|hits?|crawl|crawls|was there|is
		there|keeps?|sat|eats|fills|filled|washes|washed|kicks in|kicked in|about|when|in
		me|is|was|gets|got|grows|again|grips|creeps|takes over|sets in|flares|spikes|over|at)`), false},
	{cue(`(?:^|pure|was|only|what a|such|_) (?P<f>{feel_noun}) $`), false},
	{cue(`i (?:miss|missed) (?:him|her|them|my|it|home|dad|mum) so`), true},
}

// uncertain is nouns that mostly mean something else when they stand alone.
var uncertain = wordSet(`pressure tension hope relief comfort shame pride love nerves strain cheer warmth calm peace regret stress fear fears interest
	horror panic outrage regrets temper agony tears delight depression`)

// feelOnly is words that tell of a feeling only after "feel": one may be lost in town.
var (
	feelOnly  = wordSet("down low blue lost broken empty heavy hurt small exposed safe moved touched cross ignored forgotten content connected alive mad torn stuck rejected accepted dismissed")
	afterFeel = wordSet("completely utterly totally absolutely feel felt feeling feels makes made leaves left so very")
	handed    = wordSet("with to for by that about")
)

var rare = wordSet("never rarely seldom nothing") // "I have never been so sad"

var panics = wordSet("buy buying button room sale test tests level") // after "panic" and "stress"

// bodily is words that tell of the body where a part of it is named.
var (
	bodily    = wordSet("hurt hurts hurting crush crushes wound")
	bodyParts = wordSet("knee knees back tooth teeth leg legs foot feet ankle shoulder wrist neck arm arms hip toe finger fingers ear ears eye eyes shoe shoes")
)

// mild is what makes a feeling too small to tell of.
var mild = wordSet("slight bit little slightly somewhat mildly rather fairly pretty moderately vaguely reasonably")

// another is whoever else may feel something.
var another = wordSet(`he she they him her them his their who someone somebody everyone everybody people you your fans hero heroine keeper customer
	minister widow girl boy man woman narrator character patient client neighbour's`)

// emotions gives what the user says to feel in a sentence.
func emotions(s *sentence) []emotion { return s.felt }

func findEmotions(s *sentence) []emotion {
	if s.apart {
		return nil
	}
	if _, ok := first(polite, s); ok || s.anywhere(technical) && !s.anywhere(firstPerson) && len(s.words) > 4 {
		return nil
	}
	var all []emotion
	for _, t := range told {
		m, ok := t.cue.find(s)
		if !ok {
			continue
		}
		words := m.text("f")
		from, to := m.span("f")
		f, ok := felt.any[words]
		if !ok {
			f = compared[words]
		}
		if f.family == "" {
			f = feltBy[words]
		}
		if f.family == "" || s.denied(from) && !withoutIs(s, m.from) && !s.has(because, from-1, from) && !rare[s.words[m.from].text] || s.has(mild, from-3, from) {
			continue
		}
		if lone := m.from == from || strings.HasPrefix(s.text(m.from, from), "_"); lone && uncertain[words] {
			continue
		}
		if to < len(s.words) && panics[s.words[to].text] || bodily[words] && s.anywhere(bodyParts) {
			continue
		}
		if feelOnly[words] && !s.has(afterFeel, m.from, from) {
			continue
		}
		if s.has(another, s.start(from), from) && !s.has(firstPerson, max(s.start(from), from-5), to+1) {
			continue
		}
		if theirs(s, to) {
			continue
		}
		strong := t.strong || f.level == 3
		if strong && !negative[f.family] && to < len(s.words) && handed[s.words[to].text] {
			strong = false // "absolutely delighted with the blender"
		}
		all = append(all, emotion{f, words, from, to, strong})
	}
	for _, b := range body {
		if m, ok := b.cue.find(s); ok && !s.denied(m.from) && !s.has(another, s.start(m.from), m.from) {
			all = append(all, emotion{feeling{b.family, b.level}, s.text(m.from, m.to), m.from, m.to, b.level == 3})
		}
	}
	return all
}

var (
	somebody = wordSet(`colleague sister brother mum dad mother father son daughter wife husband partner boss manager neighbour neighbor friend friends aunt
		uncle cousin grandma grandpa niece nephew roommate flatmate boyfriend girlfriend dog cat he she they`)
	myself = wordSet("i me myself we us")
)

// theirs says that up to a word a clause is about somebody near to the user, and not
// the user: "my sister is furious".
func theirs(s *sentence, to int) bool {
	from := s.start(max(to-1, 0))
	return s.has(somebody, from, to) && !s.has(myself, from, to)
}

// withoutIs says that a cue begins with "without": its own denial is meant.
func withoutIs(s *sentence, at int) bool { return s.words[at].text == "without" }

// because is what stands between a thing that one cannot do and the feeling: "I could
// not move for fear".
var because = wordSet("for from")

var feltBy = map[string]feeling{"crying": {"sadness", 2}, "panicking": {"fear", 3}, "weeping": {"sadness", 2}, "sobbing": {"sadness", 2}, "ached": {"sadness", 2},
	"shook": {"fear", 2}, "cried": {"sadness", 2}, "hurts": {"sadness", 2}}

var compared = map[string]feeling{"angrier": {"anger", 2}, "sadder": {"sadness", 2}, "happier": {"joy", 2}, "calmer": {"calm", 2}}

var firstPerson = wordSet("i me my myself we us our")

// sort of feelings that go together: what one says of a topic is rarely exact.
var kin = map[string]string{"fear": "fear", "anxiety": "fear", "stress": "fear", "anger": "anger", "disgust": "anger", "envy": "envy",
	"sadness": "sadness", "loneliness": "sadness", "disappointment": "sadness", "shame": "shame", "joy": "joy", "love": "joy", "calm": "calm"}

// strongest gives the emotion that is told strongest, the first one of these.
func strongest(all []emotion) (emotion, bool) {
	var best emotion
	for _, e := range all {
		if best.family == "" || e.strong && !best.strong || e.strong == best.strong && e.level > best.level {
			best = e
		}
	}
	return best, best.family != ""
}
