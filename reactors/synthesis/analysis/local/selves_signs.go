package local

// What a sentence may say of who somebody might become.
const (
	version  mark = 1 << iota // names another self: "the old me", "the nurse I could be"
	mirrored                  // sees oneself in somebody, or as somebody
	becoming                  // becomes, turns into, ends up as
	perhaps                   // could be, will be: of oneself
	pictures                  // imagines, dreams, has a vision
	likeOne                   // is like somebody
	role                      // somebody whom one may be
	later                     // in ten years, if this goes on
)

var selfSigns = scores{
	{version, 3, cues(
		`(?:the|a|that) (?:_ )?(?:_ )?i (?:am going to|will|might|could|may|shall|would) (?:_ )?(?:be|become|turn into|end up as) (?:at|in|one|if|when|some|
		by|then|soon|, |$)`, `my (?:later|future|older|other|better|worst|possible|ideal|old) (?:self|selves|me)`, `possible (?:futures|selves)`,
		`{role} (?:_ )?(?:_ )?(?:who |that |whom )?(?:i|me) (?:_ )?(?:_ )?(?:will|would|could|can|might|may|hope|want|wish|long|am|was|should|shall|imagine|
		picture|fear|dread|dream) (?:_ )?(?:_ )?(?:_ )?(?:be|become|becoming|being|make|turn|turning|grow|growing|end|turned|of|like)`,
		`(?:version|versions|side|sort|kind|edition) of (?:me|myself) (?:_ )?(?:who|that|which|in|with|is|has|says|could|would|might|will|i|gets|lives|
		sleeps|does|there)`, `(?:version|versions) of (?:me|myself)`, `version of (?:who|what) i`,
		`(?:future|older|old|other|loud|louder|quiet|calm|calmer|brave|braver|kind|kinder|happy|happier|free|freer|better|best|worst|worse|different|real|
		bitter|angry|lonely|new|next|possible|ideal|dream|wiser|wise|gentler|softer|harder|healthy|healthier|fitter|rich|sober) (?:me|self) (?:who|that|in|
		at|i|,|is|will|would|could|might|right|of|with|$)`,
		`(?:a|the|another|that) me (?:who|that|in|with|at|of|from|out|somewhere|which|i|could|is|one)`, `the me (?:_ )?(?:comes|will|would|could|might|may|is)`,
		`(?:who|what|whom|how) (?:i|would i|will i|do i|could i|shall i|might i) (?:_ )?(?:am going to be|am going to become|could be|could become|might be|
		might become|may be|may become|will be|want to be|want to become|become|be|end up|turn into|am turning into|am becoming|hope to be|hope to become|
		would be|would become|end|am later|am at _|am one day|wind up|turn out)`,
		`(?:person|man|woman|the one|somebody|someone|him|her) (?:_ )?i (?:could|might|may|would like to|want to|hope to|am going to|am afraid to|
		am afraid of|am scared of|long to|never want to|do not want to|fear|dread) (?:_ )?(?:_ )?(?:be|become|becoming|turn|grow|being)`,
		`(?:somewhere )?(?:in|inside) me (?:there is|is|lives|hides|waits|there lives|sits) (?:a|an|somebody|someone|the|
		this) (?:_ )?(?:_ )?(?:_ )?{role}`,
		`there is (?:a|an) (?:_ )?(?:_ )?{role} (?:hiding |waiting |hidden |asleep |sleeping |somewhere )?(?:somewhere )?(?:in|inside) me`,
		`(?:what|which) (?:sort|kind|type) of (?:_ )?(?:_ )?(?:person|{role}) (?:will|would|could|might|shall|am) i`,
	)},
	{mirrored, 3, cues(
		`(?:saw|see|recognised|recognized|met) (?:_ )?(?:myself|my future|my own future|me) (?:in (?:her|him|them|those|that)|, |$)`,
		`(?:thought|think|,) (?:that is |there goes )?my (?:own )?future $`, `(?:see|picture|imagine) me (?:w|with|in|as|at)`,
		`(?:that is )?where i am headed`, `(?:this|that) could be my life`, `(?:picturing|imagining|seeing) myself`, `image of (?:me|myself)`,
		`(?:that|this|it|there|he|she|him|her) (?:is|was|could|might|may|will|would|can) (?:be |well |easily |totally |so |probably |just |exactly |going |
		to |one |day |right |there )?(?:be |going to be )?(?:future )?me (?:one day|someday|some day|in|at|when|soon|eventually|if|later|,|$|right there|
		too|with|next)`,
		`(?:could|can|might|may|will) (?:that|this|it) (?:_ )?be me`,
		`(?:see|saw|seeing|picture|pictured|picturing|imagine|imagined|imagining|envision|envisage|visualise|visualize|fancy|fancied|vision of|visions of|
		image of|glimpse of|portrait of|dream of|dreamed of|dreamt of) (?:_ )?(?:_ )?(?:_ )?(?:myself|me) (?:as|in|at|on|being|becoming|with|running|doing|
		going|living|one day|there|some|,|standing|sitting|growing|old|there|who|explaining|teaching|leading|coming|speaking|walking|turning|ending|alone|
		years|when|working|playing|raising|holding|wearing|opening|behind|up|out|by|back|like|having|telling|giving|making|cooking|writing|at)`,
		`(?:see|saw|imagine|imagined|picture|pictured) (?:_ )?(?:him|her) (?:_ )?(?:_ )?(?:, )?(?:me|the (?:_ )?(?:_ )?(?:_ )?(?:me|i|{role})|clearly|
		already|quite)`,
		`(?:that is|this is|it is|there is) (?:who|what|how|where) i (?:could|might|may|will|am going to be|want to be|would be|am heading|end|am becoming)`,
		`(?:i|me) (?:_ )?(?:was|am|become|became) (?:her|him|them|one of them) (?:already|, |in my|for|now|at|$)`,
		`(?:that is|this is|there is) me (?:in|at|one|some|if|when|,|$)`,
		`(?:in my (?:mind|head|mind's eye|dreams|daydreams|imagination|fantasies)|in dreams) (?:, )?(?:i am|i have|i already|there i|i live|i stand|i run|
		i speak)`, `(?:feel|know|imagine|felt|guess|wonder) (?:how|what) it (?:would|will|must|might|could) (?:be|feel) (?:like )?to be`,
		`(?:might|could|may|will) be (?:a |an |the )?(?:_ )?(?:{role}'s|midwife's|doctor's|teacher's|writer's|surgeon's|mother's|painter's|
		musician's) (?:_ )?(?:hands|eyes|shoes|voice|life|face)`, `(?:it|that|she|he) looked like me`,
		`i can see (?:either|both|each|one) of (?:them|those|these) in`,
		`see (?:_ )?(?:how|where) (?:i|that|it|this|i would|i will) (?:_ )?(?:_ )?(?:ends?|end up|goes|leads|going|turn out|finish)`,
	)},
	{becoming, 2, cues(
		`(?:on my|well on the|on the) way to (?:being|becoming|turning)`, `turning into (?:her|him|them)`,
		`(?:will|am going to|gonna|going to) be (?:_ )?(?:_ )?(?:one of (?:them|those|these)|the colleague|the wreck)`, `so will i $`,
		`(?:i|me|one|this is how i) (?:_ )?(?:_ )?(?:_ )?(?:become|becoming|turn into|turning into|turned into|grow into|growing into|grown into|end up|
		ending up|wind up|winding up|slide into|sliding into|morph into|morphing into|slip into|evolve into|change into|turn out|turning out|shrink into|
		harden into|mutate into|blossom into|step into) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:{role}|him|her|them|those|someone|somebody|sort|kind|type|like|boss|
		_ (?:who|that))`,
		`(?:do not|never|not) (?:ever )?(?:want|wish|going) to (?:_ )?(?:be|become|end up|turn|grow|wind up) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:{role}|
		him|her|them|someone|somebody|like|as)`,
		`(?:scared|afraid|terrified|frightened|fear|dread) (?:of |that i (?:_ )?)?(?:_ )?(?:becoming|turning|turn|become|end|ending|
		growing) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:{role}|him|her|them|like|someone|somebody|sort|kind)`,
		`what (?:do|will|would|am) i (?:_ )?(?:become|becoming|turn|turning)`, `things to (?:turn into|become|end up as)`,
		`(?:do|could|can|will|might|would) i (?:_ )?(?:become|turn into|grow into|end up) (?:_ )?(?:_ )?(?:_ )?(?:{role}|him|her|someone|somebody|like)`,
		`(?:end|wind|ends) up (?:_ )?(?:_ )?(?:_ )?(?:like|as|{role})`,
	)},
	{perhaps, 2, cues(
		`i (?:_ )?(?:could|may|might|will|would|would love to|would like to|want to|hope to|hope|hope i will|am going to|might be going to|can|
		shall) (?:_ )?(?:_ )?(?:be|make|have been) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:{role}|someone|somebody|like (?:her|him|them|that|my|those|the|mine)|
		one of (?:those|them|the|these)|that)`,
		`(?:could|might|may|can|would|maybe) (?:_ )?(?:i|me) (?:_ )?(?:am |be )(?:going to be )?(?:_ )?(?:_ )?(?:_ )?(?:{role}|someone|somebody|that|
		up there|like)`, `(?:perhaps|maybe|one day|someday|some day|sometime) (?:, )?i (?:will|may|might|could|am going to|would|shall) be (?:_ )?(?:_
		)?(?:_ )?(?:{role}|someone|somebody|one|that|like)`,
		`(?:i|she|he) (?:could|might|may|would|will) be (?:up there|that|her|him|who i)`, `^ (?:might|could|may|will) (?:_ )?(?:be|become|end up|turn)`,
	)},
	{pictures, 1, cues(`(?:see|saw|seeing|seen|picture|pictured|picturing|imagine|imagined|imagining|envision|visualise|daydream|daydreamed|daydreams|
		dream|dreamt|dreamed|fancy|vision|glimpse|glimpsed|fantasise|fantasize|wonder|wondering|meet|met|meeting|mirror|mirrors|recognised|recognized|
		haunting|haunts|taste)`,
		`in my (?:mind|head|mind's eye|imagination)`, `i (?:thought|felt)`, `the thought of`)},
	{likeOne, 1, cues(`(?:like|as) (?:my|a|an|the|that|him|her|them|those|she would|he would|uncle|aunt|one of|mine)`,
		`(?:one of|the sort|the kind|the type|that sort|that kind) (?:of|those|these|them)`, `there (?:he|she|it) was`)},
	{role, 1, cues(`{role}`)},
	{later, 1, cues(`(?:one day|someday|some day|sometime|eventually|later $|in the end|one of these days|these days)`,
		`(?:in|another|within|after|give it) (?:_ )?{num} (?:_ )?years?`, `(?:at|by|before|when i am|until|turn) (?:_ )?(?:_ )?{num}`,
		`(?:at|by) (?:sixty|fifty|forty|seventy|eighty|thirty)`,
		`(?:if|when) (?:_ )?(?:_ )?(?:goes on|go on|carry on|keep|continues|continue|nobody stops|nothing changes|do not change|do not stop|do not|
		stops me)`, `at this rate`, `when i (?:am|grow|get) (?:old|older|big|up|retired|done|grown)`, `years? from now`,
		`(?:two|one|a few) (?:wrong|bad) (?:turns|decisions|months|days)`, `i (?:may|might) yet`, `how (?:quickly|easily|easy)`,
		`(?:could|might) so easily`, `for (?:a|one) (?:second|moment|minute)`, `(?:first|second) time`)},
}

var rolesOf = map[string]string{"role": `person|colleague|wreck|man|woman|girl|boy|guy|lad|chap|chaps|bloke|fellow|lady|type|somebody|someone|human|
		adult|parent|mother|father|mum|dad|papa|granny|
	grandmother|grandma|nan|grandfather|grandad|grandpa|aunt|auntie|uncle|wife|husband|partner|friend|neighbour|boss|leader|manager|director|founder|
	entrepreneur|ceo|chief|teacher|professor|lecturer|tutor|coach|trainer|mentor|doctor|surgeon|nurse|midwife|vet|dentist|therapist|psychologist|counsellor|
	medic|paramedic|carer|scientist|researcher|astronomer|biologist|physicist|chemist|engineer|developer|programmer|coder|inventor|architect|designer|artist|
	painter|sculptor|potter|photographer|musician|pianist|singer|drummer|guitarist|composer|conductor|dancer|actor|actress|comedian|writer|author|poet|
		novelist|
	journalist|reporter|editor|translator|interpreter|lawyer|judge|advocate|activist|politician|mayor|minister|mp|campaigner|organiser|speaker|priest|
		monk|nun|
	rabbi|pastor|hermit|recluse|farmer|gardener|shepherd|beekeeper|baker|chef|cook|barista|carpenter|joiner|builder|mechanic|electrician|plumber|blacksmith|
	tailor|shopkeeper|bookseller|librarian|sailor|captain|pilot|soldier|officer|firefighter|policeman|detective|ranger|guide|traveller|nomad|explorer|
	adventurer|runner|marathoner|athlete|swimmer|cyclist|climber|surfer|player|champion|drunk|drinker|alcoholic|addict|junkie|gambler|liar|cheat|coward|
		tyrant|
	bully|monster|snob|miser|workaholic|loner|loser|failure|nobody|ghost|shadow|stranger|cynic|shouter|moaner|moaners|singers|burden|victim|criminal|traitor|
	millionaire|tycoon|star|pensioner|retiree|widow|spinster|bachelor|divorcee|crone|witch|cat lady|old man|old woman|old girl|old boy|old guys|guys|
		women|men|
	people|students?|expat|emigrant|local|villager|homeowner|landlord|host|volunteer|helper|healer|saint|fighter|hero|rebel|thinker|philosopher|polyglot|
	linguist|diplomat|consultant|accountant|banker|trader|broker|partners|salesman|clerk|civil servant|caretaker|janitor|waiter|bus driver|trucker|
		one who|ones who|the one|
	the ones|a one|yr old|year old|mothers|fathers|mums|dads|teachers|doctors|bosses|leaders|grandmothers|version`}
