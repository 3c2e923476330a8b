package local

// What a sentence may say of a goal.
const (
	aims      mark = 1 << iota // says that it is one
	drives                     // strives for something, of whatever size
	undertake                  // wants, hopes, will
	ought                      // needs, must
	strive                     // what one does in a life rather than in a day
	feat                       // something of a life's size
	horizon                    // by when
	effort                     // works for it: practises, saves, applies
	progress                   // how far
	commit                     // will not let go of it, gives up something for it
)

var goalSigns = scores{
	{aims, 3, cues(
		`(?:my|our|one|personal|another) (?:_ )?(?:_ )?{aimnoun} (?:{fortime} )?(?:is|are|was|remains|has always been|would be|,)`,
		`^ (?:the|my|our|one|another)? (?:big |whole |real |new |next )?{aimnoun} (?:{fortime} )?(?:is|remains|,) (?:still |simply |now )?(?:to|that|get|be|
		have|become|live|make|finish|learn|pass|save|write|open|own|run|{num})`,
		`{aimnoun} {fortime}(?: is| ,)`,
		`(?:the|and|but|where) (?:the )?{aimnoun} is to (?:be|have|become|live|make|finish|get|open|own|pass)`,
		`(?:is|are|remains|was|be) (?:still )?(?:the|my|our) (?:big |whole |real |main |next |one |only )?{aimnoun} $`,
		`(?:i|we) (?:have )?(?:set|given|promised|sworn|told) (?:myself|ourselves|to myself)`,
		`(?:have|made|make|with) (?:made )?(?:it )?(?:my|our) (?:goal|mission|aim|target|business|project|resolution|priority)`,
		`(?:i|we) (?:have |had )?(?:vowed|swore|sworn|resolved) (?:to|that|i)`,
		`(?:i|we) (?:have |had )?(?:made|make) (?:up )?(?:my|our|a) (?:mind|minds|vow|promise|pact|resolution)`,
		`(?:i|we) (?:have |had )?set out to`,
		`(?:have |with |got |set )(?:got |set )?(?:my|our|an|both) (?:eyes?|hearts?|sights?|minds?) (?:set )?(?:firmly )?on`,
		`(?:have|had) my (?:heart|mind|sights) set on`,
		`what (?:i|we) (?:am|are) (?:really )?(?:after|aiming|working|going|fighting|striving|hoping|saving|training|shooting|heading) (?:for|towards?|on|
		at|is|,)`,
		`(?:is|are) what (?:i|we) (?:_ )?(?:am|are|was|were)? (?:_ )?(?:after|aiming for|working for|work for|working towards?|going for|striving for|
		saving for|training for|fighting for|live for|dreaming of)`,
		`(?:i|we) (?:am|are|have been) (?:still |now |really |actively |slowly )?(?:striving|working towards?|in training|on a mission|on course|gunning|
		training to|working my way|working our way|working up to|bent on|set on|hell bent)`,
		`(?:i|we) (?:have )?(?:always |secretly |long |still )?(?:dream|dreamed|dreamt|am dreaming|are dreaming) of (?:_ )?(?:_ )?(?:_ )?(?:{feat}|{striving})`,
		`(?:i|we) (?:have )?(?:always|long|secretly) (?:_ )?wanted to {strive}`,
		`(?:everything|all of it|it is all|all of this|all this|this is all|it all|whatever i) (?:i do )?(?:_ )?(?:_ )?(?:_ )?(?:for|towards?|with) (?:the|
		my|our|that) (?:_ )?(?:_ )?(?:_ )?(?:in mind|in view|{feat}|{aimnoun})`,
		`(?:with|having) (?:the|my|our|that|this|a) (?:_ )?(?:_ )?(?:_ )?in (?:mind|view|sight)`,
		`(?:bucket|life) list`, `(?:life|long term) (?:goal|dream|ambition|aim)`,
		`(?:there will be|there is going to be) (?:a|my) … (?:my|with my) name`,
	)},
	{drives, 2, cues(
		`(?:i am|we are|i have been|we have been|^) (?:_ )?(?:memorising|memorizing|shipping|rehearsing|preparing|learning|training|building|writing|saving|
		practising|practicing|restoring|completing|founding|composing|recording|retraining|studying|applying|competing|fundraising|campaigning|qualifying|
		translating|illustrating|filming|publishing|designing|growing|breeding|revising|cramming|converting|renovating|rebuilding) `,
		`^ (?:no|zero) _ (?:until|till|before|for)`, `not letting (?:_ )?(?:_ )?(?:_ )?(?:fall|die|close|go|win|beat|stop)`,
		`^ (?:the|my|our) (?:_ )?(?:plan's|goal's|aim's|dream's|target's|ambition's|idea's)`,
		`(?:going to|will|want to) be the first (?:one )?(?:in|from|of) (?:my|our|the)`, `will have (?:its|their|our|my) own`, `bring (?:it|this|that) about`,
		`(?:i|we) (?:am|are|have been) (?:_ )?(?:doing|taking|sitting|completing|finishing|setting up|founding|opening|launching|starting|building|creating|
		restoring|renovating|designing|converting|writing|working on|rebuilding|training up for|in the middle of) (?:_ )?(?:_ )?(?:_ )?(?:_ )?{feat}`,
		`(?:tryna|trying to|try to|want to|wanna|aim to|need to) (?:hit|reach|get to|make it to|get down to|get under|get past|crack|clear|have|sell|
		finish) (?:_ )?(?:_ )?{num}`,
		`(?:put|putting|puts|lay|set) (?:_ )?(?:_ )?(?:_ )?(?:aside|away|by) (?:_ )?(?:_ )?(?:_ )?(?:for|to|towards)`, `(?:aside|away) for`,
		`(?:will|want to|going to|hope to|like to) (?:be|become|work as|qualify as|train as) (?:a |an |the )?(?:_ )?(?:nurse|doctor|teacher|engineer|pilot|
		vet|lawyer|judge|electrician|carpenter|mechanic|paramedic|midwife|baker|chef|programmer|developer|scientist|astronaut|journalist|translator|
		designer|firefighter|dentist|pharmacist|driver|farmer|musician|actor|dancer|architect|therapist|physiotherapist|plumber|coach|captain|officer|
		photographer|hairdresser|carer|surgeon)`,
		`(?:serious|dead serious) about (?:it|this)`, `(?:no way back|no turning back|no excuses|told everyone so|all in)`,
		`(?:day|week|month) {num} (?:_ )?(?:without|sober|clean|off|of (?:the|my) (?:_ )?(?:plan|training|course|programme|challenge|rehab|diet))`,
		`that is the one thing i`, `(?:i|we) (?:would|should) (?:like|love) to (?:_ )?{striving}`, `mean to have`,
		`(?:i|we) (?:am|are|have been|will be) (?:_ )?(?:_ )?(?:aiming|shooting|pushing|going|fighting|heading|gearing up|preparing|prepping|training|
		saving|saving up|studying|revising|rehearsing|practising|practicing|competing|standing|running|applying|campaigning|qualifying|working hard|
		collecting|fundraising|raising money|retraining|putting _ (?:of my _ )?aside|putting aside|converting|learning) (?:_ )?(?:for|towards?|to|at|so|
		until|till|into|a)`,
		`(?:i|we) (?:am|are|have been|was|got|have) (?:_ )?(?:_ )?(?:determined|committed|eager|out) (?:to|that|on)`,
		`^ (?:aiming|shooting|pushing|fighting|preparing|training|saving|saving up|studying|working|trying|practising|practicing|learning) (?:_ )?(?:for|
		towards?|to (?:break|beat|become|get into|qualify|pass|finish|win|reach|learn|master|save|run))`,
		`(?:i|we) (?:aim|aspire|strive|mean|intend|long|yearn) to`,
		`(?:i|we) (?:have )?(?:finally |just |now )?(?:enrolled|enroled|signed up|registered|put my name down|applied|begun|started|embarked) (?:_ )?(?:for|
		in|on|at|the|with|to|as)`,
		`(?:i|we) (?:do not|will not|am not|are not|shall not|refuse to|can not) (?:going to )?(?:stop|give up|rest|quit|settle|give in|stopping|giving up|
		let go) (?:_ )?(?:_ )?(?:_ )?(?:until|till|before|unless|now|on)`,
		`(?:need|needs|needed|want|short|off|away|left|to go|nearer|closer|more) (?:_ )?(?:_ )?(?:_ )?(?:for|from|to|till|until|before) (?:the|my|a|
		our) (?:_ )?(?:_ )?(?:{feat}|{aimnoun})`,
		`(?:i|we) (?:am|are|have|have been) (?:_ )?(?:taking|putting|building|getting|pulling) (?:it seriously|things in place|the money together|ready for)`,
		`(?:set|put) (?:_ )?(?:_ )?(?:target|goal) (?:of|for|to)`, `step by step`,
		`{num} (?:_ )?(?:in|into) (?:the|our|my) (?:pot|fund|jar|kitty|savings)`,
		`(?:no|not) (?:more |any |one |a single )?(?:_ )?(?:till|until|before) (?:i|we|the)`,
		`(?:the|every) (?:thing|day|hour) (?:i|we) (?:work|live|save|train|strive|fight) for`,
		`(?:tryna|trying to) (?:{adv} )?(?:{strive}|hit|reach)`,
		`(?:i|we) (?:work|save|train|study|practise|practice|fight) (?:_ )?(?:for|towards?) (?:the|my|our|a|that)`,
		`(?:so that|so|until|till) (?:i|we) (?:can|could|am|are|get|will) (?:_ )?(?:{strive}|{feat}|able|good enough|ready)`,
		`(?:going|gone|went) back to (?:_ )?(?:school|college|uni|university|study|studying|finish|education)`,
	)},
	{undertake, 1, cues(
		`(?:i|we) (?:_ )?(?:_ )?(?:want|hope|plan|intend|mean|aim|aspire|wish|expect|will|shall)`,
		`(?:i|we) (?:_ )?(?:_ )?(?:am going|are going|am hoping|am planning|are planning|are hoping|would like|would love|have decided|decided|have agreed|
		agreed|am learning|have started|started|am trying|am working) to`,
		`^ (?:want|hoping|planning|going|hope|plan|need|determined|wanna) (?:to|on)`, `it is going to (?:be|stand|happen)`, `(?:{aimnoun}|idea) (?:is|,)`,
		`(?:now|then|so) (?:i|we) (?:register|apply|go|start|begin)`, `(?:when|once|as soon as) (?:i|we) (?:have|am|are|get|reach|pass|retire)`,
	)},
	{ought, 1, cues(`(?:i|we) (?:_ )?(?:need|must|have to|have got to|got to)`, `(?:has|have|is|are) to be`, `^ need`)},
	{strive, 1, cues(`(?:to|will|must|shall|can|could|us|and|we|i) (?:{adv} )?(?:finally |really |one day |eventually |properly |well enough to )?{strive}`)},
	{feat, 1, cues(`{feat}`)},
	{horizon, 1, cues(`{horizon}`, `{num} (?:_ )?(?:weeks?|months?|years?|days?) (?:left|till|until|to go|from now|before|away|to the|and)`)},
	{effort, 1, cues(`{effort}`, `(?:put|putting|set|setting|puts) (?:_ )?(?:_ )?(?:_ )?aside`,
		`(?:every|each) (?:single )?(?:day|evening|morning|night|week|weekend|sunday|saturday|lunch break|spare|lunchtime)`,
		`(?:hours?|minutes|pages|words|lengths|lessons?|sessions?) (?:a|every|each|per|of|into|with|at|on) `,
		`(?:before|after) (?:work|school|training|my shift|breakfast|the kids)`,
		`(?:wrote|written|phoned|rang|emailed|spoke|talked) (?:_ )?(?:_ )?(?:to|with) (?:_ )?(?:_ )?(?:foundation|supervisor|publisher|agent|bank|landlord|
		coach|teacher|lead|tutor|lawyer|attorney|embassy|donor|sponsor|shift|council)`)},
	{progress, 1, cues(
		`{num} (?:_ )?(?:_ )?(?:_ )?(?:of|out of|from|down|done|left|more|to go|in|so far|gone|off|percent|ready|finished|missing|short|seconds|secs)`,
		`(?:only|just|another|about|still|next|final|last) (?:_ )?{num} (?:_ )?(?:_ )?(?:left|more|to go|missing|till|until|before|and|to)`,
		`(?:day|week|month|lesson|unit|module|chapter|session|drawing|page|draft|version|prototype|stage|level|mock|attempt|kilo|milestone|book|grade|year|
		picture) {num}`, `{num} (?:done|down|finished|in the bag|behind me|left|percent)`,
		`(?:half|halfway|nearly|almost|slowly|closer|nearer|not quite|getting|one step|a step|another step|one day|inch|inching|gets|well) (?:there|through|
		ready|done|finished|getting there|to|closer|nearer|up to|towards?|memorised|on the way)`,
		`(?:on|ahead of|behind) (?:pace|schedule|track|course|target|plan)`, `so far`, `and counting`,
		`(?:the|my) next (?:step|module|exam|rung|stage|level|one)`, `first (?:rung|step|stage|orders?|draft|version)`,
		`(?:passed|finished|completed|finish|handed in|submitted|booked|nailed|mastered|memorised|cleared|reached|hit|managed|got) (?:the|my|our|a|level|
		module|chapter|{num}|first|second)`,
		`(?:is|are) in $`, `(?:is|are) (?:done|finished|passed|submitted|up to tempo|ready|booked|missing|paid|sold|complete)`,
		`(?:only|just|all that is|what is) (?:_ )?(?:_ )?(?:left|missing|remains)`,
		`(?:personal|season's?) best`, `new pb`, `pb`, `better than (?:last|in|before)`, `it was {num}`, `(?:up|down) from`,
		`(?:today is|that makes|that is|makes it) {num}`, `(?:under|over|below|above|to) {num}`, `^ (?:_ )?{num} (?:today|this morning|now|$)`,
		`worked (?:_ )?times`,
		`(?:may|might|could) (?:yet )?come true`, `(?:in|into) (?:the|our|my) (?:pot|fund|account|jar|kitty|savings|log book)`, `another {num}`,
		`if (?:i|we) (?:do|keep|manage|stick|get|carry)`,
	)},
	{commit, 2, cues(
		`(?:will not|not|never|no) (?:going to )?(?:stop|give up|rest|quit|settle|giving up|let go|back down|stopping me|wriggle out|get (?:it|there|the|
		a) … by)`, `(?:keep|keeping|stick|sticking|stay|carry) (?:at|on|going|to it|with it|looking|trying|working|until|till)`,
		`see (?:it|this|that) through`,
		`(?:will|going to|gonna|shall|can|must) (?:_ )?(?:get there|make it|do it|do this|manage|pull it off|pull this off|have it|get it done|be there|
		succeed)`, `getting there`,
		`(?:nobody|nothing|no one) (?:is going to|will|can|is gonna) (?:stop|keep|talk)`, `(?:said|say) no to`, `(?:turned|turning|turn) down`,
		`instead of`, `(?:everything|anything) else (?:can|has to|must|will) wait`,
		`every (?:spare |single |last |extra )?(?:pound|quid|euro|dollar|cent|penny|minute|hour|free|bit)`,
		`all of (?:it|this|that) (?:is )?(?:goes|for|with)`, `(?:goes|went|go|going|goes straight|straight) (?:in|into|towards?) (?:the|my|our)`,
		`no (?:_ )?(?:holiday|takeaway|takeaways|car|cruise|sofa|pudding|party|parties|sweets|netflix|telly|drink|beers?) (?:this|until|till|for|again|
		$)`, `(?:up|getting up|get up|got up|rise|out) (?:at|by) (?:five|six|4|5|half past|dawn|four)`, `with _ in mind`,
		`it is (?:all )?for the`, `whatever it takes`, `(?:no matter|if it takes|even if it) `, `so that (?:i|we|she|he|they|my|our)`,
		`(?:for|towards?|to) (?:the|my|our) (?:move|deposit|house|flat|trip|race|exam|scholarship|award|operation|attempt|release|audition|competition|
		course|clinic|fund|degree|licence|record|launch|opening|application|citizenship|big day)`,
		`so {num} it shall be`, `it (?:shall|will) be`, `(?:skipped|skipping|gave up|cancelled|sold|handed in my notice|gone part time|went part time)`,
		`where i want to (?:be|get)`, `i will (?:_ )?(?:pass|win|do it|get in|finish|get it)`, `get (?:_ )?(?:_ )?off the ground`,
		`(?:stand|stands|between) between (?:me|us)`,
	)},
}
