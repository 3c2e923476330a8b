package local

import "slices"

// dynamicHints are signs that what happens between the user and somebody is their way
// with each other.
var dynamicHints = slices.Concat(
	hintsOf("a way of being together", 3, `
		(?:every single time|each time|every time|as usual|as ever|as always|like always|like every time|same as ever|same as always|same old|
		the same (?:dance|script|game|story|thing|pattern|way|loop|film|scene|act|play|routine|song|roles?|place|steps|joke|line|argument|conversation|
		question)|old (?:routine|game|dance|script|pattern|story|joke|roles?)|time after time|again and again|over and over|round and round|on repeat|
		without fail|like clockwork|by the clock|set your watch|never varies|never changes|never fails|nothing changes|it repeats|all over again|
		like last time|and the time before|month in|day in|week in|year in|year after year|month after month|week after week|day after day)
		(?:that is|this is|it is|it has (?:always )?been|it was|thats|has always been|that has been|been) (?:_ )?(?:_ )?(?:how (?:we|it|he|she|things)|
		the way (?:we|it|he|she|things)|us|always like|always so|always this|always the same|always been|like that with|like this with|so with|
		our (?:_ )?(?:way|thing|routine|deal|conversation|relationship|pattern|dance|ritual|game|whole)|what we do|what (?:he|she|i) always|that way|
		like this since|like that since|so since|our)|so it goes|it goes (?:like|so)|goes like (?:this|that)|gone like (?:this|that)|classic (?:us|him|
		her|mum|dad|me)|typical (?:us|him|her|of)|and so we|how it (?:works|goes|is|always)|works between us|the way we do|like we do|as we do|as (?:i|he|
		she|they|we) (?:tend|tends|do|does|always)|such is|so are we|that is our|we could (?:film|script|sell)
		(?:our (?:_ )?(?:_ )?(?:ritual|game|dance|routine|script|pattern|roles?|cycle|loop|deal|thing|way|ping pong|tango|theatre|play|act|merry go round|
		roundabout|duet|tradition|arrangement|unspoken)|a (?:_ )?(?:radio and|dance|game|ritual|script|pattern|cycle|seesaw|see saw|tug of war|
		merry go round)|that (?:dance|game|script|pattern|roundabout|cycle|loop|merry go round|seesaw)|script|pattern|roundabout|seesaw|push and pull|
		hot and cold|cat and mouse|one step forward|two steps forward|one step back|between (?:him|her|them|0p|us) (?:and me)?|with (?:us|
		{him}) it is (?:always|the|like|one)|our whole relationship|the two of us|both of us|we both|neither of us|we each|each other|one another|
		with {him} i (?:always|never|become|turn|am|feel|end))
		the more (?:i|he|she|they|0p|we) … the (?:more|less|further|quieter|louder|closer|faster)|i (?:become|turn into|am) (?:_ )?(?:_ )?(?:a|an|the|
		twelve|ten|five|six|small|his|her) (?:_ )?(?:_ )?(?:child|kid|year old|girl|boy|pupil|student|therapist|mother|referee|servant|audience|bank|
		translator|clown|shadow|ghost|mouse|radio|listener|parent|adult|responsible|sensible|one who)|(?:the one|me|him|her|i am the one|always the one|
		always me|always him|always her) who`),
	hintsOf("a way of being together", 3, `
		(?:you know how (?:this|it) ends|you can guess|same (?:_ )?(?:as|like) (?:last|before|always|ever|every)|last (?:month|week|time|year) (?:it|he|
		she|we)|number (?:forty|thirty|twenty|fifty|ten|twelve)|(?:five|5|ten|10|three|3|four|4|six|6|a hundred|twenty|20) times|i am the (?:villain|bad|
		good|one)|always the (?:villain|bad|good|one|same)|goes to (?:his|her) (?:father|mother|dad|mum)|before (?:he|she|they|i) (?:has|have|had|even|
		can|could|got|is|am)|heard myself|find myself|found myself|caught myself|i help (?:him|her|them)|finds a way|a new (?:note|message|list|excuse|
		plan|drama)|leaves? (?:_ )?(?:notes|lists|messages))`),
	hintsOf("a way of being together", 2, `
		(?:he|she|they|0p) (?:asks|says|wants|calls|comes|leaves|criticises|picks|finds|makes|needs|forgets|promises|cancels) … (?:i|and i) (?:_ )?(?:say|
		go|do|give|leave|help|make|run|wait|answer|pay|nod|agree|end|become|feel|put|take|write|pretend)|i (?:ask|say|want|call|come|make|need|try|
		suggest|plan|refuse|offer|tell) … (?:he|she|they|0p) (?:_ )?(?:says|goes|does|gives|leaves|makes|runs|waits|answers|nods|agrees|sighs|laughs|
		changes|refuses|forgets|has|tells|wants|asks)`),
	hintsOf("a way of being together", 3, `
		(?:this thing where|have a (?:thing|way|habit|routine)|we (?:_ )?have (?:this|our|a|the same)|i (?:am|play|played|was) the (?:_ )?(?:one|
		go between|peacemaker|referee|translator|messenger|buffer|fixer|mediator|audience|bank|therapist|parent|adult|rock|clown|villain|driver|cook|
		secretary|maid|student|listener)|go between|end up (?:_ )?(?:_ )?(?:doing|paying|driving|cooking|apologi*|cleaning|listening|shouting|watching|
		being|with|alone|giving|feeling|saying|in|his|hers)|ended up|happens (?:nearly|almost|about|every|each|whenever|all)|
		nobody (?:ever )?(?:has )?(?:ever )?(?:decided|asked|said|planned)|like i (?:always|usually) (?:do|did)|of course|everything (?:is|turns|becomes|
		was) (?:_ )?(?:into )?(?:a|an) (?:_ )?(?:competition|contest|joke|test|fight|race|negotiation|game|lecture)|competition|contest|contests|one up|
		waits? (?:for|until|till) i|then expects|and then (?:expects|wants|asks|blames|forgets|goes|he|she|i)|only (?:when|to|if) (?:_ )?(?:money|needs|
		wants|something|complain|he|she)|without (?:a word|asking|telling|thanks)|we both (?:know|pretend|enjoy|laugh|do|say|act)|known each other|
		knows exactly|know the (?:steps|lines|drill|script|rest)|the drill|the rest is|as if (?:nothing|i|there|he|she)|i jump(?:ed)?|i (?:give|
		gave) (?:in|him|her the look|the look)|got to (?:sit|choose|decide|say)|never (?:varies|discuss|mention|ask|asks|thank|thanks|answers?)|
		neither of us|no wonder|same as (?:when|last|with)|could (?:film|set|draw|write|recite|predict|time) (?:_ )?)`),
	hintsOf("a way of being together", 2, `
		(?:always|usually|every|each|whenever|again|another|once more|daily|weekly|nightly|constantly|forever|never|ever|only ever|all (?:five|four|three|
		six|ten)|only (?:rings|calls|talk|talks|writes|comes|texts)|only when|as soon as|the moment|the minute|the second|since (?:i|we|he|she|then|
		childhood|school|january|the|u14|u12)|in all (?:these|our|my)|for (?:_ )?years|(?:ten|twenty|thirty|forty|fifty|two|three|five|six|eight|
		fifteen) years|by now|still|keep|keeps|kept|tend|tends|used to it|got used to|here we go|the usual|number (?:two|three|four|eighteen)|eighteenth|
		seventeen)`),
	hintsOf("a way of being together", 2, `
		^ (?:he|she|they|0p|i|we) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and |then )(?:and |then |but |so )?(?:i|he|she|they|0p|
		we) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and |then )(?:and |then |but |so )?(?:i|he|she|they|0p|we)
		i (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and )(?:and )?(?:he|she|they|0p) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and )(?:and )?i|(?:he|she|they|
		0p) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and )(?:and )?i (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:, |and )(?:and )?(?:he|she|they|0p)`),
	hintsOf("", 1, `
		nod|nodded|nods|give in|gave in|gives in|apologis*|apologiz*|chase|chased|wait|waited|waits|beg|begged|smile|smiled|smiles|pretend|pretends|
		pretended|joke|joked|jokes|laugh|laughed|laughs|sulk|sulks|sulked|nag|nags|nagged|tease|teases|teased|test|tests|moan|moans|moaned|grumble|
		grumbles|grumbled|tiptoe|rescue|rescued|save|saves|fix|fixed|fixes|teach|follow|hint|hints|snap|snaps|sigh|sighs|sighed|shut down|shuts down|
		withdraw*|disappear*|vanish*|decide|decides|praise|praises|correct*|critic*|ask|asks|listen|listens|talk|talks|ignore|ignores|retreat*|swallow*|
		push|pushes|pull|pulls|dare|dares|dared|swoop*|take over|takes over|drop everything|dropped everything|obey|run|runs|forget|forgets|forgot|remind|
		reminds|blame|blames|comes close|near|gone|off|back|yell|yells|yelled|shout|shouts|cry|cries|hide|hides|carry|carries
		today|tonight|this time|friday|sunday|monday|thursday|last night|yesterday|this morning|evening|next day|morning
		us|our|we|both|together|between
		same|too|of course|naturally|predictably|guess|lol|as if|without being asked|never (?:discuss|mention|speak|say|talk)|nobody says|no one says|
		not (?:mention|say|discuss)|out loud|said nothing|without a word`),
)

// dynamicWeight is what the hints of a way of being together in a talk say.
func dynamicWeight(p *talk, points, keyed int, line *bondLine) float64 {
	telling := false // one of them does what is more than a matter of every day
	for i := range p.lines {
		l := &p.lines[i]
		if keyed < 5 && (dailyMatters.in(&l.sentence) || settledCue.in(&l.sentence) && p.turns < 3) {
			return 0
		}
		for at := range l.words {
			telling = telling || doer(l.words, at) != 0 && deed(l.words, at+1)
		}
	}
	turns := min(p.turns, 5) - 1
	switch {
	case !telling && keyed < 5:
		return 0
	case keyed >= 5 && points+turns >= 7, keyed >= 3 && turns >= 1 && points+turns >= 6, keyed >= 2 && turns >= 2 && points+turns >= 6:
		return hintShown
	case keyed >= 2 && points+turns >= 4, keyed >= 2 && turns >= 1 && points+p.charge >= 5:
		return hintWeak
	case p.turns >= 3 && telling && p.charge >= 1:
		return hintWeak
	case points+turns >= 2 && points+p.charge >= 3, turns >= 1 && p.charge >= 1:
		return hintFaint
	}
	return 0
}
