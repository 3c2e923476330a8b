package local

import "slices"

const (
	anxious  = "anxious"
	avoidant = "avoidant"
	secure   = "secure"
)

// styleHints are ways in which a style of attachment is told beside those that name it.
var styleHints = slices.Concat(
	hintsOf(anxious, 3, `
		(?:sure|certain|convinced|afraid|scared|terrified|frightened|worried|fear|fears|panic|know|think|thinks|feel|dread|paranoid|imagine|assume|expect|
		petrified|hear that) … (?:leave|leaves|leaving|leave me|going to go|is going|will go|drop me|drops me|hates? me|hate me|had enough|tired of|bored|
		swap me|replace*|forget me|forgets me|lost {him}|lose {him}|losing {him}|over|the end|does not (?:love|want|like)|not (?:love|want|like) me|
		no room for me|someone else|somebody else|somebody better|someone better|mad at me|angry with me|getting ready to|abandon*|reject*|dumped|
		dumps me|it is over|come back|done with me|annoyed with me)
		(?:still (?:love|loves|want|wants|like|likes) me|(?:do|does) (?:you|he|she|they) (?:still )?(?:love|want|like|care)|still (?:friends|best friends|
		number one|okay|together|friends|us)|number one|reassur*|hear it (?:again|all the time|every)|need (?:to hear|proof|to be told|constant|
		it in writing|an answer)|prove (?:that )?(?:he|she|they) (?:loves|love|cares?|want)|tested (?:him|her)|testing (?:him|her)|just to (?:hear|check|
		make sure)|to hear (?:whether|if)|say it again|sounded like|what (?:i did|did i do)|what i (?:could|might|have|had) (?:_ )?(?:said|done)|(?:said|
		did) (?:_ )?wrong)
		(?:rang|called|texted|messaged|phoned|asked|wrote|checked|typed|dialled) (?:_ )?(?:_ )?(?:nine|ten|five|six|seven|eight|twelve|fourteen|twenty|
		thirty|four|three|a dozen|dozens|again|once more|all night|every hour|and again)|(?:good morning|good night|goodnight) (?:text|message)|last seen|
		online|left (?:me )?on read|unread|blue ticks?|grey ticks?|the dots|typing|no (?:reply|answer|text|message)|(?:not|has not|have not|
		had not) (?:_ )?(?:replied|answered|texted|written|called|rung|messaged)|(?:a day|an hour|hours|two days|minutes) to (?:reply|answer|text|write)|
		one (?:x|kiss) instead|only (?:says|said|wrote|writes)|short (?:reply|answer|text)|quiet for|goes quiet|went quiet|was quiet|is quiet
		(?:cling|clings|clingy|clung|clinging|smother*|hold on to (?:him|her|them)|hold onto (?:him|her)|hold on tight|needy|too much for|possessive|
		jealous*|obsess*|overthink*|suffocat* (?:him|her)|like a child|like a dog|like a limpet|can not be without|fall apart without|half a person|
		nothing without)`),
	hintsOf(anxious, 3, `
		(?:apologi(?:s|z)(?:e|ing) for (?:_ )?(?:_ )?(?:i have|not|nothing|existing|breathing|everything|being)|tone (?:changes|changed|shifts|of voice)|
		bored (?:with|of) me|better off without me|does not like me|do not like me|stops? (?:loving|liking|wanting|caring)|meet(?:s)? somebody (?:better|
		else|new)|meet(?:s)? someone (?:better|else|new)|(?:find|finds|found) (?:somebody|someone) (?:better|else|new)|holds? on tighter|love more than|
		loves? me less|more than (?:he|she|they) (?:loves?|needs?|wants?)|(?:would|will) do anything (?:so|to|for|if)|do anything so|
		can not stand it when (?:he|she|they)|calmed me for|good for (?:ten minutes|an hour|a day)|counting (?:what|every|the hours|the minutes|how)|
		rehears*|grieved us|grieving us|mourn*|my (?:_ )?text by|(?:imagining|imagine|imagined|picturing|pictured|dreamt|dreamed|
		dream) (?:_ )?(?:that )?(?:he|she|they|him|her|0p)|waiting for (?:him|her|them|0p|the (?:text|call|message|break up|day)) (?:_ )?(?:to )?(?:leave|
		go|text|call|see|realise|notice|end|find)?|read (?:too much|things) into|(?:too|so) (?:_ )?(?:clingy|needy|much|attached)|hang on (?:his|her|
		every)|every (?:silence|pause|sigh|frown|yawn)|check (?:if|whether|that) (?:he|she|we|they)|meant (?:that )?(?:he|she|they) (?:does|do|did) not|
		thought it meant|means (?:he|she|they) (?:does|do|is|are|will)|afraid (?:_ )?(?:of being|to be) (?:alone|left|too)|left out|leave me out)`),
	hintsOf(anxious, 3, `
		(?:wait|waiting|waited) for (?:it|him|her|them|this) to (?:be taken|end|go|leave|break|fall|stop|collapse)|break up (?:for|with|speech)|
		forgot to say (?:good|i love)|forget(?:s)? (?:that )?i exist|being replaced|as if i were|taken away|(?:i|and i) (?:lay|lie|sat|sit) (?:there|
		awake|up) (?:_ )?(?:composing|thinking|waiting|imagining|counting|wondering|crying|listening)|new friend (?:_ )?(?:_ )?(?:_ )?(?:and i|i)`),
	hintsOf(anxious, 3, `
		(?:certain|sure|convinced|think|thought|afraid|worried|assume|assumed|panic|knew|feel|felt) (?:_ )?(?:that )?(?:i (?:have|had|
		must have) (?:_ )?(?:done|said|upset|annoyed|offended|ruined)|something (?:is|was) (?:_ )?(?:wrong|off|up)|(?:he|she|they|0p|it|we) (?:is|are|was|
		were|would|will|has|have|does|do|did) (?:_ )?(?:_ )?(?:angry|mad|upset|gone|leaving|leave|over|bored|tired|cheating|someone|cold|distant|done|
		annoyed|pulling|drifting|not|going))|something (?:is|was) wrong between us|call until|ring until|text until|until (?:he|she|they) (?:answers?|
		does|picks|replies|writes|says)|several times a day|every (?:few|five|ten) minutes|panicky|more fun without me|without me|scroll through (?:his|
		her|their)|(?:stalk|stalked|stalking|check|checked|checking) (?:his|her|their) (?:_ )?(?:profile|instagram|photos|posts|stories|likes|location|
		status|followers)|takes? longer (?:than|to)|took longer (?:than|to)|longer than usual|does not pick up|did not pick up|no answer|(?:need|
		needed) (?:him|her|them) to (?:tell|say|show|promise|reply|prove|text|stay)|(?:i would|i will) be (?:alone|left|nothing|lost)|what if (?:he|she|
		they)|on tenterhooks|pins and needles|walking on eggshells so|afraid of upsetting|(?:fear|afraid) (?:_ )?(?:of|to) (?:being )?(?:alone|left|
		dumped|rejected|abandoned|replaced|forgotten|losing|lose)|too attached|attached too|love bomb|keep the peace so`),
	hintsOf(avoidant, 3, `
		(?:start|started|begin|began) (?:_ )?(?:looking for|finding|making|to find|to look) (?:_ )?(?:reasons|excuses|faults|a way|exits?|problems)|
		reasons? to (?:end|leave|break|go|cancel)|(?:talk|talked|talks) about our future|our future|get out of (?:the|there|it)|first thought was|
		how to get out|nobody (?:touches|asks|needs|calls|wants) me|asks me anything|days (?:alone|to myself|off|when nobody)|evenings? to myself|
		not like (?:depending|relying|needing|asking|being (?:held|touched|needed|hugged))|hate (?:depending|relying|needing|asking for|being (?:held|
		touched|needed|hugged|asked))|(?:solve|sort|handle|fix|do|carry) (?:everything|it all|things|it) (?:by )?(?:myself|alone|on my own)|
		by myself than|alone than|rather (?:solve|suffer|die|do|walk|be|sleep|eat|stay) (?:_ )?(?:_ )?(?:alone|by myself|on my own|than|without)|
		too much (?:closeness|intimacy|affection|togetherness|attention)|affection|lovey dovey|emotional (?:stuff|talk|conversations?)|deep talk|
		feelings talk|smothered|crowded|fenced in|pinned down|tied down|settle down|breathing down|my freedom|my own bed|sleep (?:alone|in the other)|
		separate (?:rooms|beds|homes|flats)|never (?:let|been|lived|stayed|fall|fell) (?:_ )?(?:_ )?(?:close|with|long|in love|attached|more than)|
		do not do (?:love|feelings|hugs|relationships|closeness|sleepovers)|not get attached|never get attached|keep my (?:options|guard|walls)`),
	hintsOf(secure, 3, `
		(?:comfortable|at ease|relaxed|safe|free|easy) (?:_ )?(?:telling|asking|being|saying|showing|talking|with|around|sharing|leaning|depending)|
		takes? (?:it|me|my feelings) seriously|(?:never|not) worry when|(?:never|not) worry (?:about us|if|that)|own friends|both have our own|
		our own (?:friends|lives|hobbies|things)|when i am hurt|can (?:tell|ask|count on|lean on|rely on|be) (?:him|her|0p|myself|honest|open|weak|apart)|
		we talk (?:about|it|things|openly|honestly)|talk (?:openly|honestly)|no drama|no games|no guessing|without (?:drama|games|guessing|worrying|
		panic*)|(?:he|she|they) will (?:be there|come back|call|listen|understand|catch me)|knows? (?:that )?(?:he|she|they|i|we) (?:will|love|loves|
		belong|are|am)|(?:we|it) (?:always )?(?:find|found|comes?|came) (?:_ )?(?:way )?back|makes me feel (?:safe|secure|held|loved|calm|at home)|
		feel(?:s)? like home|is home|my safe (?:place|harbour|harbor|base)|both ways|lean on (?:him|her) and|close and (?:free|apart)|love (?:does|
		will) not|confident (?:in|that|about) (?:us|we|our|he|she)|trust (?:us|our)|sure of us`),
	hintsOf(avoidant, 3, `
		never ask {him}|the (?:nicer|closer|kinder|more) (?:_ )?(?:_ )?(?:_ )?(?:_ )?the more i (?:_ )?(?:want|need|pull|back|run)|packed bag|bag packed|
		something to (?:tidy|clean|do|fix)|tried to (?:comfort|hold|hug|hold my)|would not know how|on my own|escape route|way out|plan b|
		rather not (?:say|talk|be)
		(?:picking at (?:his|her|their)|find(?:ing)? faults?|faults|getting serious|got serious|where (?:this|it|we) (?:is|are) going|throat (?:close|
		closed|tight)|chest (?:tight|tightened)|focus on (?:work|myself|my)|needed to (?:focus|work|go|leave)|need to (?:focus|work)|simpler (?:alone|
		this way|that way)|single (?:for|because|by)|nobody to (?:answer|disappoint|please|explain)|no one to (?:answer|disappoint|please)|(?:make|made|
		crack|cracked) (?:a|another) joke|let (?:somebody|someone|anybody|anyone|people|him|her|them) (?:_ )?(?:see|in|know|close|near|that)|
		see me (?:like|need|cry|weak|that)|as long as it (?:is|stays)|i (?:am|was) gone|and i (?:am|was) gone|i (?:disappear|vanish|bolt|bail|leave|flee|
		run)|sorted myself|sort myself|sorted it myself|handle it (?:alone|myself)|manage (?:alone|myself|on my own)|spare (?:bathroom|room|drawer)|
		never tell (?:them|anyone|him|her|people)|not (?:a|the) (?:hugger|relationship|type)|not built for|wired (?:for|that way)|last one to (?:text|
		call)|cancel(?:led)? (?:on|the|our)|swallow it|keep it (?:in|inside)|shut (?:_ )?(?:him|her|them|people|everyone) out|push (?:_ )?(?:him|her|them|
		people|everyone) away|pushed (?:him|her|them) away|held? (?:him|her|them) off|arm's|leave before|end things|ended things|hand in my pocket|
		put mine in)`),
	hintsOf(secure, 3, `
		(?:did not take it personally|do not take it personally|need to test|do not need (?:to )?(?:test|proof|check|hear|constant|reassur*|a text)|
		happy to see each other|glad to see each other|work it out|talk it (?:out|through|over)|talked it (?:out|through|over)|sort it out together|
		made a plan|we (?:made|make) (?:a plan|up)|even (?:when|if) we (?:disagree|argue|fight|are apart|do not)|there for me|in the morning we|
		spend (?:_ )?(?:_ )?(?:_ )?apart|just tell (?:him|her)|i (?:just )?(?:tell|told|asked|ask) (?:him|her|0p) … (?:listen*|understood|plan|work it|
		held|hug|fine|easy|laugh*|help|anything to ask|nothing to ask)|cost me anything|costs me nothing|cost me nothing|never doubted|never doubt|
		i have never doubted|look(?:ing)? forward to (?:_ )?(?:ending|him|her|seeing|his|her)|sleep well|leave (?:him|her) (?:be|to it|space|in peace)|
		gave (?:him|her) (?:space|room|time)|give each other (?:space|room)|take each other|lean on each other|both ways|goes both ways|own person|
		own people|two whole|not half|can be (?:apart|alone|weak|cross|angry|sad|silent|quiet) (?:_ )?(?:_ )?(?:with|and|around)?)`),
	hintsOf(anxious, 2, `
		(?:awake|can not sleep|could not sleep|can not eat|could not eat|can not think|lie there|lay there|up all night|till three|stomach|chest|heart|
		sick|shaking|panic|spiral*|crying|cried|grieved|wreck|frantic|restless|can not (?:concentrate|focus|settle|breathe|relax|enjoy))
		(?:do not want|not want) (?:_ )?to lose|please (?:him|her|them)|so (?:that )?(?:he|she|they) (?:does|do|will|would) not (?:leave|get|go|drop|find|
		stop)|say yes to everything|yes to everything|rehears*|whatever (?:he|she|they) wants?|(?:he|she|they|will|would|might) (?:_ )?(?:swap|drop|
		replace|leave|forget|dump|ghost) me|if i do not|apologis* for (?:everything|existing)|better than me|prettier|not enough|scared|still scared|
		abandon*|left me|leave me|leaving me|read it as|reading into|looking for (?:signs|what)|signs|signals|every (?:word|look|pause|silence)|tone|
		searched (?:his|her) face`),
	hintsOf(avoidant, 3, `
		(?:too close|get close|gets close|getting close|got close|come close|comes close|near me|gets near|come near|comes near|closeness|intimacy|
		commitment|committed|moving in|move in|meet (?:my|her|his|their) parents|toothbrush|drawer|label|serious|the future|about us|talk about us|
		the talk|that far|let(?:ting)? (?:anyone|anybody|someone|people|her|him) in|i love you|hold (?:me|my hand)|holds? my hand|hug|cuddl*|needs? me|
		counts? on me|depends? on me|wants? more|what i feel|how i feel|open up|opens? up|feelings) … (?:run|bolt|leave|gone|exit|escape|flee|off|away|
		out|cold|numb|stiff|stone|freeze|froze|shut|close|closes|trap|trapped|cage|caged|hunted|suffocat*|choke|choking|tight|itch|itchy|panic|panicked|
		walls?|distance|back off|withdraw|withdrew|vanish|disappear*|pull|pulled|busy|extra|work|late|broke it off|end it|ended it|hatch|uneasy|
		claustrophobic|pocket|space|garage|changed the subject|joke|tyre|nothing)
		(?:run|bolt|leave|gone|exit|escape|flee|cold|numb|stiff|stone|freeze|froze|shut|trap|trapped|hunted|suffocat*|walls?|distance|back off|withdraw|
		withdrew|vanish|disappear*|pull away|hatch|uneasy|claustrophobic|space|relieved|relief|broke it off|ended it|counting the days) … (?:too close|
		close|near|closeness|intimacy|commitment|moving in|parents|serious|feelings?|needs? me|wants? more|love|hold|holds|hug|touch|relationship|cancel*|
		alone|off|talk about us)
		(?:need nobody|need no one|do not need (?:anyone|anybody|people|him|her|them|anything)|rather (?:be )?alone|prefer (?:to be )?alone|better alone|
		better off alone|on my own|by myself|sort(?:ed)? (?:it|myself|things|stuff)|deal with (?:it|my|things|stuff)|keep (?:it|things|my feelings|people|
		everyone|him|her) (?:_ )?(?:to myself|at a distance|at arm's length|out|away)|never (?:tell|told|cried|cry|ask|asked|let|leaned|lean|needed|need|
		rely|relied|depended|depend|introduced|said) (?:_ )?(?:_ )?(?:anyone|anybody|them|in front|for help|on|anything|i love|people|it)|who (?:would i|
		i would) call|self sufficient|independen*|lone wolf|island|drawbridge|armou?r|my own space|see me (?:need|cry|weak)|need something|arm's length|
		planning my exit|exit|the door open|one foot out|as long as it (?:is|stays) (?:light|casual|easy|fun)|light|casual|no strings|keep it light|
		i always have|always (?:have|been like)|i like it that way|it suits me)`),
	hintsOf(avoidant, 2, `
		(?:changed the subject|change the subject|made a joke|went to (?:clean|the garage|work|check)|took an extra shift|extra shift|work late|
		worked late|busy|said (?:nothing|fine|i was fine|i had to)|went for a (?:run|walk|drive)|turned (?:over|away)|got up and|not called|did not call|
		did not answer|ghosted|stopped (?:answering|replying)|broke it off|ended it|spare (?:room|bathroom)|hand in my pocket|stiff|cold|relieved|relief|
		alone|distance|space|freedom|free|aboard)`),
	hintsOf(secure, 3, `
		(?:never (?:have to |had to |need to )?(?:wonder|doubt|doubted|wondered|worried|worry|question|questioned|crossed my mind|dress it)|
		never once (?:wondered|doubted|worried)|no need to (?:panic|hold|worry|check|prove)|nothing to prove|do not (?:lie awake|worry|panic|wonder|
		need to check|need to hear)|did not (?:worry|panic|wonder) (?:_ )?(?:_ )?(?:_ )?(?:{him}|once|when|about us|alone)|not (?:scared|afraid|ashamed) to (?:tell|ask|say|show|need|cry)|was not (?:scared|
		afraid)|without (?:shame|fear|being afraid|that old fear)|sleep (?:well|fine|soundly)|slept (?:well|fine|soundly)|at peace|steady|solid|
		sure of (?:a|him|her|them|us)|so sure|i know (?:that )?(?:he|she|they|we|where)|we (?:will be|are) (?:fine|okay|solid|steady|us again|good)|
		us again|know where i belong|at home with|feel safe|felt safe|safe with|home in my|come back to each|comes back|come back to us|
		there in the morning|close or far|near or far|easy to (?:lean|ask|tell|be)|it is easy|without (?:losing|needing)|restful|secure|secur*|
		comfortable (?:with|being|asking|saying)|does not scare me|cost me (?:nothing|anything)|freely|in good hands|be myself|myself with)
		(?:miss|missed|misses) (?:him|her|them|0p) … (?:fine|enjoy*|okay|day|sleep|glad|happy|well|and)|(?:apart|away|tour|abroad|weekend|weeks?|months?|
		other country|space|himself|herself) … (?:fine|enough|glad|gladly|sleep|steady|okay|enjoy*|well|not worried|because i know|come back|miss)|(?:his|
		her) own (?:life|friends|hobbies|fishing|things)|(?:he|she) has (?:his|her) (?:_ )?(?:, |and )(?:and )?i have|
		ask(?:ed)? (?:_ )?(?:_ )?(?:for help|for comfort|for a hug|to come with|if (?:he|she) would)|(?:tell|told|say|said|show|showed) (?:_ )?(?:him|her|
		them|0p|so) (?:_ )?(?:_ )?(?:anything|everything|when i|that i was|i was|about|without|all)|(?:he|she|0p) (?:_ )?(?:listened|listens|
		puts the kettle|made tea|holds me|held me|understood|was quiet then|comes and|laughed and)|when i (?:am|have) (?:_ )?(?:low|sad|down|problem|
		worried|ill|upset) … (?:say|tell|told|ask|call|go)|cross with|argue|disagreed|quarrel`),
	hintsOf(secure, 2, `
		(?:calm|calmly|gladly|glad|fine|easy|easily|trust|trusts|steady|peace|warm|safe|sure|belong|home|together|both know|each other|one another|
		leans on me|tells me|he too|she too|years|back to|enough|and then i|looking forward|doubted|doubt|wonder|at ease|relaxed|honest|openly|anything)`),
	hintsOf("", 1, `
		partner|husband|wife|boyfriend|girlfriend|relationship|love|loves|loved|marriage|date|dating|fiancé|together|us|close|closeness|people|anyone|
		anybody|best friend|bond
		always|never|whenever|every time|the moment|as soon as|each time|again|still|since|all the time|if
		feel|feels|felt|afraid|scared|sure|need|needs|miss|want|wants|know|safe|hold|tell`),
)

// easyCue is fears that somebody does not have.
var easyCue = phrased(`(?:not|never) (?:_ )?(?:feel|felt|feeling) (?:_ )?(?:lonely|abandoned|jealous|rejected|needy|clingy|trapped|alone)`)

// styleWeight is what the hints of a style in a talk say.
func styleWeight(p *talk, points, keyed int, line *bondLine) float64 {
	for i := range p.lines {
		if professionalCue.in(&p.lines[i].sentence) || easyCue.in(&p.lines[i].sentence) {
			return 0
		}
	}
	switch {
	case keyed >= 5 && points+p.charge >= 7:
		return hintShown
	case keyed >= 3, keyed >= 2 && points+p.charge >= 6:
		return hintWeak
	case !p.alone && points >= 2 && points+p.charge >= 3 && p.charge > 0:
		return hintFaint
	}
	return 0
}
