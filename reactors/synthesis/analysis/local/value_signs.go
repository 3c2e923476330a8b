package local

// What a sentence may say of what somebody holds dear.
const (
	creed  mark = 1 << iota // a principle, told as one
	prizes                  // it matters to me
	weighs                  // more than something else, rather than
	virtue                  // what one may hold dear
	owed                    // what everybody should, or has a right to
	refuse                  // will not, never would, gave away
	steady                  // always, whatever it costs
)

var valueSigns = scores{
	{creed, 3, cues(
		`(?:i|we) believe (?:that|it|this) (?:down|with|from|deeply|completely|more)`,
		`against (?:my|our|everything|all|what) (?:_ )?(?:idea|sense|beliefs?|nature|faith|conscience|grain|principles|i)`,
		`(?:i|we) have always (?:said|thought|believed|held|felt) (?:that|so|it)`, `what is right`, `in my (?:world|family) $`,
		`belongs? to (?:everybody|everyone|all of us|god|nobody|us all)`,
		`no (?:human |living )?(?:one|child|person|being|soul) is (?:illegal|worthless|less|above|nothing|disposable)`,
		`is a (?:sin|virtue|contract|vow)`, `(?:kept|keep|keeping|holding) to (?:that|it) (?:since|all|for|,|$)`, `beneath me`, `strict about`,
		`not optional`, `not in my world`,
		`(?:is|are|was|remains) (?:a|an|my|the|one) (?:_ )?(?:_ )?(?:principle|must|law|sin|crime|duty|disgrace|religion|matter of course|thing of honour|
		obligation|virtue|commitment|promise)(?: to| for| with| one| i| we| ,| $|,| that| and)`, `thing of (?:honour|honor|principle)`,
		`(?:kind|form|question|sign|act) of (?:respect|love|justice|honesty|decency|solidarity|dignity)`,
		`(?:for|to) me (?:_ )?(?:_ )?(?:stands|rests|is built|lives|hangs|depends) (?:_ )?on`,
		`(?:what|how) i measure (?:myself|people|a|things)`, `(?:i|we|one) (?:_ )?owes? (?:it |that |this |them |him |her )?(?:that|this|to)`,
		`never (?:wavered|regretted|broken it|broken that|compromised|bent)`, `take (?:it|that|this) (?:very |so |really )?serious(?:ly)?`,
		`(?:my|our) (?:mum|dad|father|mother|parents|gran|grandmother|grandfather|grandpa|nan|people) (?:_ )?(?:taught|raised|drummed|showed) (?:_ )?(?:me|
		us)`, `stuck to (?:it|that)`, `(?:a|my) religion`,
		`(?:has|have) (?:a |its |their )?(?:_ )?(?:worth|value|dignity) of (?:its|their) own`, `(?:i|we) would (?:_ )?be ashamed`,
		`(?:is|are) what (?:_ )?(?:neighbours|friends|families|family|people|parents) are for`,
		`(?:that is|this is|it is) (?:just |simply )?(?:who i am|me $|what i am|how i am)`,
		`(?:i|we) (?:will|would|do|can) not (?:_ )?(?:_ )?(?:_ )?for (?:anybody|anyone|any money|nobody|no one|the world)`,
		`(?:go to prison|go to jail|lose my job|lose the job|starve|die|resign|quit) (?:before|rather than) (?:i|we)`,
		`(?:wealth|god|master|law|thing) i (?:believe|bow|answer|trust) (?:in|to)`, `(?:clean|properly|right|well|honestly|fair|fairly) or not at all`,
		`for its own sake`, `must not be (?:lost|forgotten|sold|broken|forced)`, `(?:bargain|haggle|negotiate) (?:over|about)`, `the one rule`,
		`not (?:_ )?(?:let|leave) (?:people|ppl|anybody|anyone|your people|a friend|a mate) (?:_ )?(?:get|be|behind|down|treated)`,
		`one (?:pays|keeps|does not|owes|helps|shares|tells|stands)`,
		`(?:is|are|was|were|remains?|as) (?:_ )?(?:_ )?(?:sacred|holy|dear|precious|sacrosanct|inviolable|untouchable|non negotiable|nonnegotiable)(?: to|
		 for| with| in| ,| $| no| and)`, `(?:dear|sacred|holy|precious) to (?:me|my|us)`, `close to my heart`,
		`(?:matter|question|point|thing|case) of (?:principle|conscience|honour|honor|decency|integrity|faith|belief|pride|dignity|right and wrong)`,
		`(?:principle|rule|motto|creed|philosophy|commandment|conviction|belief|maxim|credo|code|golden rule|compass|law) (?:of mine|with me|i live|
		i follow|i have|that i|i will|i try|i keep|i would)`,
		`(?:my|our|mine|one of my|a) (?:_ )?(?:_ )?(?:principles?|motto|creed|philosophy|conviction|convictions|maxim|credo|moral code|code of honour|
		golden rule|commandment|values|conscience|moral compass|ideals|beliefs) `,
		`(?:my|our) (?:one |only |first |number one )?(?:rule|law|belief|faith) (?:is|in life|,|has|$)`, `(?:like |is |was )(?:my|our) (?:_ )?(?:rule|belief) $`,
		`what (?:i|we) (?:_ )?(?:_ )?(?:lived by|hold most dear|believe|believe in|stand for|live by|live for|stood for|hold dear|hold to|hold on to|value|
		cherish|care about most|was raised for|was taught|was raised to)`,
		`(?:everything|anything|all|things) (?:that )?(?:i|we) (?:_ )?(?:believe|believe in|stand for|live by|live for|stood for|hold dear|value|
		was raised for|was taught)`,
		`how (?:i|we) (?:_ )?(?:want|wish|try|choose|like|mean|live|was|were|have been|am|see) (?:to live|to be|raised|brought up|my life|by|it $|it ,|$|
		,)`, `the way (?:i|we) (?:was|were) (?:raised|brought up|taught)`, `i was (?:_ )?(?:raised|brought up|taught) (?:_ )?(?:to|that|for|like|this|with|by)`,
		`(?:i|we) (?:_ )?(?:firmly|strongly|deeply|truly|really|honestly|do|passionately|wholeheartedly|sincerely|just|always|also|still) (?:believe|hold|
		think|feel|am convinced) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:that|in|every|everyone|everybody|nobody|no|all|people|a|one|are|should|deserves?|is)`,
		`(?:i|we) feel strongly`, `i believe in (?:{virtue}|{virtue}|that with|it with|being|doing|treating|telling|keeping|giving|a|the|this)`,
		`i believe (?:that )?(?:a life|life|every|everyone|everybody|nobody|no one|all|people|you ought|you should|you must|one should|one must|we owe|
		we should|we must|we have a duty|a person|a man|{virtue})`, `(?:i am|am) (?:_ )?convinced of (?:that|it|this)`,
		`my (?:_ )?(?:firm|deep|deepest|honest) (?:belief|conviction)`,
		`(?:i|we) stand (?:up )?(?:for|by) (?:that|it|this|my|what|{virtue}|the weak)`,
		`(?:i|we) (?:_ )?(?:hold|held|holding) (?:to that|that it|with that|that|to it|to my|on to my|fast|to the)`, `(?:do not|never|not) hold with`,
		`(?:i|we) (?:_ )?(?:set|put|place|lay) (?:great|much|a lot of|high|huge) (?:store|value|weight|stock|importance) (?:by|on|in)`,
		`(?:stuck|stick|sticking|stood|stand|held|true|faithful|keep|kept) (?:_ )?(?:to|by|up for) (?:my|our|what) (?:_ )?(?:principles|values|guns|word|
		beliefs|conscience|convictions|ideals|standards|i)`,
		`(?:i|we) (?:will|would|do|can|shall|could) (?:not|never) (?:ever )?(?:bend|budge|compromise|waver|yield|give way|be moved|move|negotiate) `,
		`(?:never|not) (?:bend|budge|compromise)`,
		`(?:is|are) not (?:_ )?(?:for sale|up for|negotiable|mine to|ours to|a phase|optional|open to debate|something i do|something i would)`,
		`not (?:for sale|up for (?:debate|discussion|negotiation))`, `non negotiable`,
		`(?:comes?|came|goes|ranks?|stands?) (?:first|before|above|ahead of) (?:_ )?(?:_ )?(?:_ )?(?:with me|for me|to me|in my|always|it|that|no|my|$|,|
		any|all|every)`,
		`(?:could|can|would) not (?:be able to )?(?:look|live|face|bear) (?:_ )?(?:_ )?(?:myself|in the mirror)`,
		`not (?:square|reconcile) (?:it|that|this) with`,
		`(?:look|looked|face|see|live|sleep) (?:at |with )?(?:myself|at night|in the mirror) (?:_ )?(?:_ )?(?:if i|otherwise|with my conscience)`,
		`in the mirror (?:otherwise|if|again|after|any)`,
		`(?:lived?|living|lives|tried to live) (?:_ )?(?:by|according to) (?:that|it|this|these|one|my|those|{virtue}|the (?:rule|word|principle|motto|
		bible|book|code|golden|commandment)|a (?:rule|code|principle|motto|simple))`,
		`(?:the )?one (?:thing|rule|commandment|principle) i (?:_ )?(?:_ )?(?:keep|kept|try|tried|believe|live|hold|never|will)`, `go to the wall for`,
		`(?:die|stand|fight) on that hill`,
		`(?:is|are) (?:_ )?(?:the )?(?:core|heart|foundation|backbone|essence|root|bedrock) of (?:_ )?(?:who|what|my|everything|nursing|medicine|teaching|
		it all|our|being)`,
		`(?:cross|crossed|crossing) (?:a|the) picket`, `full stop $`, `(?:i|we) (?:always )?keep (?:my word|my promises|them)`,
		`(?:as|like) (?:my|our) (?:mother|father|parents|grandmother|grandfather) (?:taught|raised|always)`, `with all my heart`,
		`(?:ours|mine) to (?:hurt|take|judge|kill|waste)`,
		`it is (?:not )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?what i (?:believe|build|live)`,
		`what (?:god|my faith|my conscience) (?:_ )?(?:want|wants|asks|expect|tells)`,
		`(?:duty|honour|honor) (?:and|to|for)(?: me| an honour| a duty| care| help| speak| look| my)`, `(?:is|was) (?:a|my|our) (?:_ )?duty`,
		`fair is fair`, `a (?:promise|word|deal) is a (?:promise|word|deal)`, `live and let live`, `my word is my`,
	)},
	{prizes, 2, cues(
		`nothing (?:is |matters |counts |means |beats )(?:_ )?(?:as |more |so )?(?:important |precious |sacred |dear )?(?:to|for|than|as)`, `nothing beats`,
		`(?:matters?|mattered|counts?|counted|means?|meant|important|essential|vital|crucial|precious|valuable|worth) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:to|for|
		with|in) (?:me|us|my book|my eyes|my life|our house|my house|life|our family)`,
		`(?:for|to) me (?:, )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:matters|counts|means|is|are|comes?) (?:_ )?(?:_ )?(?:important|everything|more|
		most|first|before|above|a must|essential|worth|sacred|holy|a duty|about)`,
		`what (?:i )?(?:really |truly |most )?(?:matters|counts|mattered|care about|value|treasure|cherish)(?: most| more| to| for| is| in| about| ,| $)`,
		`(?:is|are) everything (?:to|for|with) me`, `(?:in|to|with) (?:my book|my eyes|my mind) `, `if you ask me`,
		`(?:i|we) (?:_ )?(?:value|cherish|treasure|prize|respect|honour|care about|care deeply about|believe in|insist on|stand for|fight for|defend)`,
		`(?:beauty|honesty|kindness|{virtue}) (?:counts|matters)`, `(?:could|can|would) not (?:live|be|breathe) without`, `what makes (?:a |my )?life`,
		`worth (?:living|it|more|the rent|a penny|fighting|a life)`, `i would want my (?:children|kids|daughter|son)`,
		`(?:it|that) is what (?:it is all about|one should do|you do|people do|we do|matters|counts)`, `what it is all about`,
		`(?:i|we) (?:think|find) (?:that |it |this )?(?:is |it )?(?:right|wrong|only right|only fair|just wrong)`, `in my eyes`,
		`say one thing`, `(?:i|we) (?:_ )?try to be`, `(?:i|we) need to be (?:free|honest|my own|true|useful|able to)`,
		`(?:i|we) (?:will )?(?:always )?defend`, `(?:i|we) act on it`, `can not stand (?:it )?(?:when|if|people|by)`,
	)},
	{weighs, 2, cues(`(?:i|we) (?:would|will|had) (?:much |always |far )?(?:rather|sooner) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:than|lose|earn|
		be|go|wash|starve|die|pay|walk|lie)`,
		`(?:i|we) (?:would|will) (?:rather|sooner) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:have|come|be|see|let) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:last|than)`,
		`(?:rather|sooner|i would) (?:sooner |rather )?(?:come last|lose|earn less|go hungry|starve|die|wash dishes|be poor|be late|be alone|quit|
		be unpopular|be disliked)`,
		`(?:matters?|counts?|worth|important|weighs?|means?|dear|dearer|precious|valuable) (?:_ )?(?:_ )?(?:_ )?(?:more|less) (?:_ )?(?:_ )?(?:_ )?than`,
		`more (?:important|precious|valuable|sacred|than)`,
		`more (?:_ )?(?:_ )?(?:_ )?than (?:money|success|grades|winning|being|my career|any|what they|a career|comfort|popularity|our convenience|profit|
		anything|everything)`,
		`better (?:to be|be|an?) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?than`,
		`(?:above|before|over|ahead of) (?:money|profit|comfort|success|everything|anything|all|my career|convenience|my contract|grades|winning)`,
		`no (?:_ )?is worth (?:a|the|that|my)`, `not (?:for )?(?:a|any|all the) (?:million|money|price)`,
		`would not (?:swap|trade|sell|exchange|give up)`, `would never (?:swap|trade|sell|exchange|give up|betray)`, `(?:hardly|not) worth`)},
	{virtue, 1, cues(`{virtue}`)},
	{owed, 1, cues(`(?:everybody|everyone|nobody|no one|every|all|each|people|person|patients?|children|human|humans|anyone|one|you|a man|a woman|
		a child|a life|animals|we|{kin}|workers?|women|the old|the weak|the poor) (?:_ )?(?:_ )?(?:_ )?(?:should|must|ought|has a right|have a right|
		has the right|have the right|deserves?|owes?|owe|has to be|have to be|does not|do not|did not|can not|need to|needs to|are equal|is equal|
		are entitled|is entitled|leaves|goes)`, `right to (?:be|decide|know|the|say|live|a|choose|speak|vote|rest|their)`,
		`(?:body and|own) (?:_ )?(?:decision|choice|life|mind|master|money)`, `(?:same|equal) (?:respect|rights?|chance|chances|treatment|pay)`,
		`entitled to`, `no one (?:is|gets) left behind`, `treat(?:ed|ing)? (?:_ )?(?:_ )?(?:_ )?(?:with|like|as|equally|the same)`,
		`(?:properly|right|well) or not at all`, `(?:never|not) (?:the answer|take|waste|throw|lie|judge|depend|count|boast|to depend|to lie)`)},
	{refuse, 1, cues(`(?:i|we) (?:_ )?(?:do not|did not|will not|would not|never|would never|will never|can not|could not|refuse|refused|have not|
		have never|decline|declined|was not going to|am not going to)`, `(?:i|we) (?:_ )?said no`,
		`(?:refused|turned down|declined|gave up|stood up for|spoke up|pulled the story|went home unpaid|went without|took the case|returned|gave back|
		handed back|gave the|argued for|quit over)`, `(?:lying|cheating|stealing|gossip|violence|cruelty|waste) is`)},
	{steady, 1, cues(`(?:always|it always|i always|as always) (?:_ )?(?:has|have|was|did|will|do|been|try|tell|keep|held|with)`,
		`(?:no matter|whatever|even if|even when|even though|also when|regardless|come what may|through thick|at all costs|at any price|every time|
		all my life|until i die|to the last|until the last day|till the end|in thirty years|for (?:_ )?years|since i was|to this day|as long as i)`,
		`, always`, `i would do it again`, `that is that`, `(?:one|my one|the one) rule`)},
}
