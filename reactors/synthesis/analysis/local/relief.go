package local

// effects is what coping does for the user, as told of what they do.
var effects = cues(
	`{soothes} me (?:to )?(?:calm|calm down|relax|cope|unwind|deal|feel|stay|settle|let go|process|forget|breathe|through|down|get
		through|manage|decompress|switch off|not to|come down|think|handle|sane|back to|when i|whenever|with (?:my|the) (?:_
		)?(?:{emotion_word}))`,
	`(?:calms|calmed|soothes|soothed|grounds|grounded|relaxes|relaxed|settles|settled|steadies|steadied|comforts|comforted|cheers|cheered|centres|centers)
		(?:me|my nerves|my mind|my head)`,
	`(?:clears?|cleared|quiets?|quietens?|empties|emptied|settles?|settled|calms?|calmed|slows?) (?:my|the)
		(?:head|mind|nerves|thoughts|brain|breathing|heart)`,
	`(?:takes?|took|taking) (?:the|my) (?:weight|load|burden|edge|heat|sting|pressure|{emotion_word})
		(?:off|out|away)`, `(?:takes?|took|taking|keep|keeps) my mind off`,
	`keeps? (?:me|myself) (?:sane|grounded|calm|steady|level|afloat|from (?:spiralling|spiraling|panicking|crying|losing
		it|exploding|falling apart|feeling|thinking))`,
	`(?:is|are) (?:how|what) (?:i|gets me|calms me|keeps me|helps me|brings me)
		(?:cope|deal|handle|calm|unwind|get|manage|back|down|through|sane|to|let|survive|reset|recharge|decompress|process)`,
	`(?:is|are|was) (?:what|the only thing that|the one thing that|the best thing that|something that)
		(?:gets|calms|keeps|helps|brings|soothes|settles|works|grounds) (?:me|for me)`,
	`(?:my|a|the) (?:way|method|trick|strategy|coping mechanism|coping strategy|ritual|remedy|medicine|therapy|go to|outlet|escape|safe
		place|refuge|valve|antidote) (?:of|for|to|when|against|is) … (?:coping|cope|dealing|deal|calm|calming|getting
		through|handling|managing|stress|stressed|unwind|unwinding|anger|anxiety|sadness|feelings|nerves|it|{feel_noun_bad}|{feel_adj_bad})`,
	`(?:is|are) my (?:therapy|coping mechanism|way of|escape|outlet|safe place|go to|refuge|medicine|valve|antidote)`,
	`(?:to|and|so) (?:help me |try to |just )?(?:calm|steady|ground|soothe|comfort|settle|distract|numb|cheer|reset|relax|talk|bring)
		(?:myself|my nerves|my mind|me) (?:down|up|back)?`,
	`to (?:help me )?(?:unwind|decompress|de stress|destress|let off steam|blow off steam|clear my head|clear my mind|take my mind
		off|take the edge off|take the nerves|numb|calm my nerves|settle my nerves|shut (?:it|everything|the world|my thoughts)
		(?:out|off)|stop thinking|feel better|feel less|feel nothing|drown (?:my|the|it|out)|get (?:it|the _|my _|everything|it all|all of
		it) out of my (?:system|head|chest)|escape (?:from )?(?:my|the|it|everything|reality)|forget (?:my|about|everything|it all|the
		day|how|that|him|her|them|what)|avoid (?:thinking|feeling|dealing)|not (?:have to )?(?:feel|think))`,
	`to (?:cope with|deal with|manage|handle|process|work through|get through|ease|fight|silence|quiet|release|control|get rid
		of|drown|numb|escape|burn off|forget) (?:the |my |all |all the |this |these )?(?:_ )?(?:{emotion_word})`,
	`so (?:that )?i (?:do|did) not have to (?:feel|think|deal|face|cry|talk)`,
	`instead of (?:feeling|stewing|crying|dealing|brooding|worrying|facing|getting (?:angry|upset)|exploding|spiralling|spiraling)`,
	`(?:until|till) (?:i|its|it|my|the|everything|they) (?:_ )?(?:_ )?(?:_
		)?(?:quiet|quieter|calm|calmer|calmed|smaller|stopped|stop|passes|passed|empty|gone|better|slows|slowed|settles|settled|lighter|faded|fades|eased|eases|fell
		asleep|tired|steady|sore|still|ready|numb|softer|subsides|subsided|relaxed|goes away|went away|manageable|bearable|steady)`,
	`(?:the|my|that|this) (?:_ )?(?:{feel_noun}|upset|hurt|mood|feeling|feelings|tension|storm|knot|edge) (?:is|was|gets?|got|had|has)?
		(?:mostly |almost |nearly |all |already |much |a bit |a little |soon |quickly
		)?(?:gone|bearable|less|smaller|shrank|shrinks|faded|fades|eased|eases|passed|passes|lifted|lifts|melted|melts|subsided|subsides|manageable|softer|loosened|loosens|went
		down|goes down|goes away|went away|drops|dropped|left me|leaves me|dissolves|dissolved|quieter|better)`,
	`(?:i )?(?:cope|coped|deal|dealt|handle|manage|managed) (?:with (?:it|stress|this|things|my _|the _|_) )?by _`,
	`i
		(?:calm|calmed|soothe|soothed|ground|grounded|steady|steadied|regulate|distract|distracted|comfort|comforted|numb|numbed|talked|talk)
		myself`,
	`(?:had|have) (?:steadied|calmed|soothed|settled|grounded|collected) (?:myself|me)`,
	`(?:calmer|better|lighter|steadier|quieter) (?:at once|afterwards?|straight away|after that|already|again|within minutes|after)`,
	`(?:back to|got back to|get back to|brings? me back to|gets? me back to) (?:a )?(?:normal
		pulse|calm|myself|normal|earth|centre|center)`,
	`shuts? (?:the|my|that|it) (?:_ )?(?:feeling|feelings|thoughts|up|off|out|voice)`,
	`(?:drink|drank|smoke|eat|ate|sleep|game|scroll|work|run|ran|walk|walked|dance|sing|sweat|cry|write|wrote|clean|shop|drinking|eating|smoking|sleep)
		(?:the|my|all the|all my|it|it all|that) (?:_ )?(?:away|off|out)`,
	`(?:it|that|which) (?:_ )?(?:goes|went) (?:down|away) (?:quicker|faster|sooner)`,
	`(?:my|the)
		(?:shoulders|pulse|breath|breathing|heart|head|thoughts|fear|worries|worry|anger|panic|sadness|jaw|hands|body|heartbeat|blood
		pressure) (?:_
		)?(?:came|come|comes|went|goes|slows?|slowed|dropped|drops|unclench(?:es|ed)?|loosens?|loosened|softens?|softened|relax(?:es|ed)?)
		(?:down|again|away|back)?`,
	`(?:my|the) (?:breath|breathing|heart|pulse|thoughts) (?:slows?|slowed|settles|settled)`,
	`(?:made|makes|felt|feels|is|are|was) (?:it |everything |me |things )?(?:lighter|easier|smaller|quieter|softer|further
		away|bearable|less heavy|more bearable)`,
	`(?:pulls?|pulled|gets?|got|lifts?|brings?|brought|drags?) me out of (?:my|the|it)`,
	`(?:gets?|got|getting|lets?|letting) (?:it|the (?:_ )?(?:{emotion_word})|my (?:{emotion_word})|all of it|everything) out(?: of
		(?:me|my))?`,
	`(?:so as )?not to (?:think|feel|have to think|cry|remember)`,
	`peace (?:follows|comes|returns)`,
	`come back smiling`,
	`come down (?:from|again)`,
	`it has become a habit`,
	`(?:never|do not|can not|not) (?:cry|show) (?:it )?in front of`,
	`i survive(?:d)? (?:worse|this)`,
	`(?:then|after that|afterwards) i (?:could|can) (?:breathe|sleep|think|face|go|smile|work)`,
	`(?:it|the _|that) (?:ebbed|ebbs|drained|drains|melted|melts|faded|fades|passed|passes|went|slips|slipped) (?:away|off)?`,
	`(?:felt|feel) (?:_ )?(?:lighter|better|calmer|freer|cleaner|human|myself)`,
	`(?:human|person|myself) again`,
	`laugh(?:ed)? it (?:away|off)`,
	`(?:saves?|saved|rescues?|rescued) me`,
	`(?:brought|brings|talked|talks|calmed|calms) me (?:back )?down`,
	`less (?:lonely|anxious|sad|afraid|angry|stressed|tense|empty|nervous|alone|scared)`,
	`telling (?:everybody|everyone|people|them|myself) (?:that )?i am (?:ok|okay|fine|good|all right)`,
	`after that i (?:could|was able|can)`,
	`(?:told|tell|telling|remind|reminded|reminding|say|said) (?:to )?myself (?:that
		)?(?:it|this|i|they|to|everything|feelings|nothing|_ ,)`,
	`let it (?:be|pass|go)`,
	`watched it pass`,
	`name(?:d)? (?:what|the feeling|it)`,
	`i (?:only )?feel (?:better|calmer|lighter) (?:after|once|when|afterwards)`,
	`(?:count|counted|counting) to (?:ten|10|five|a hundred) (?:$|before|until|till|when|and|then)`,
	`(?:take|took|taking) (?:a|some|a few|few|three|several|five|_) deep breaths?`,
	`makes? me feel (?:better|calmer|less|lighter|safe|ok|okay|human) `,
	`(?:puts?|put|putting) (?:it|things|my _) (?:into perspective|on paper)`,
	`helps? (?:with|against) (?:the|my) (?:_ )?(?:{emotion_word})`,
	`(?:wrote|write|writing) (?:the|my|it|all) (?:_ )?(?:worry|worries|feelings|anger|thoughts|fears) down`,
	`before i (?:respond|answer|react|speak|say|explode|reply|went back|go back|went|could go)`,
	`(?:comfort|stress) (?:eat|eating|ate|shopping|shop|food)`,
	`(?:my )?(?:hands|head|mind|heart) (?:were|was|is|are|go|goes|went|gets|got) (?:quiet|steady|still|calm|empty|clear)`,
)

// relief is what becomes of a feeling, in words that are also said of other things: they
// count only in a text that names a bad one.
var relief = cues(
	`(?:gets?|got|getting|shakes?|shook|takes?|took|squeez(?:es|ed)|drains?|drained|wrings?|sweats?|washes|washed|drives?|works?|burns?|knocks?|pulls?|draws?|dig|dug|run|ran|sang|sing|sweat|walk|walked|swim|dance) (?:_ )?(?:_ )?(?:_ )?(?:{emotion_word}|sad|rage|gloom|dread|fear|panic|bad|blues|poison|day|week|steam) (?:out of|off|away|from) (?:me|my|it)?`,
	`(?:until|till|til|by the time|by then|and then|then|before) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:cooled off|cooled down|let go|let me go|gave
		up|goes numb|went numb|could not feel|can not feel|do not feel|did not feel|stop(?:s|ped)?
		(?:shaking|crying|trembling|racing|hurting|spinning)|it stopped|it stops|laugh|laughed|smile|smiled|breathe|breathe again|loosen(?:s|ed)?|had
		loosened|gone away|goes away|went away|have to feel|the world|came rest|calmed down|calm again|asleep|nothing left|was empty|was done|was
		over|sleepy|steady|could laugh|could sleep|could breathe)`,
	`(?:by the end|afterwards?|after that|in the end|an hour later|minutes later|by the time|half an hour|a pile|then) (?:_ )?(?:_ )?(?:_ )?(?:_
		)?(?:_ )?(?:i was|i am|i could|i can|i felt|i had|my head|my heart|it was|it is|everything) (?:_ )?(?:all
		right|alright|ok|okay|fine|clear|calm|calmer|lighter|better|laugh|sleep|breathe|forgiven|human|empty|fit|done|half|easier|quiet|mild|steady|myself|gone|think|smaller|cooled)`,
	`i (?:went|go|came|come|walked|stayed|stay|was|am|got|felt|came out|came up|came in|go in|went in|went on|got up|got out) (?:_ )?(?:_
		)?(?:calm|calmer|steady|steadier|mild|level|composed|cool|lighter|quiet|feeling (?:human|better|lighter|calmer)|fit for)`,
	`and (?:was|am) (?:fit|calm|all right|ok|fine|human|steady|myself|done|over it|better)`,
	`(?:can|could) (?:_ )?(?:sit with|live with|bear|stand|face|carry|look at) (?:it|him|her|them|this|that|the|people|the world) (?:now|again|$)`,
	`(?:keeps?|kept|holds?|held|pulls?|brought|brings?|got|gets?) (?:me|my head|things) (?:level|together|above water|going|upright|here|steady|in one
		piece|out of|through|over|back into|back to|back in|back from)`,
	`get(?:s)? (?:me )?through (?:the|my|it|a|an|this|these) (?:_ )?(?:day|days|night|nights|without|week|worst|hour|meeting|exam)`,
	`(?:got|helped|gets|carried|carries|saw|sees) me through`,
	`(?:is|are|was) (?:my|an|a|what|how|the) (?:_
		)?(?:anaesthetic|anesthetic|painkiller|drug|medicine|anchor|armour|armor|shield|valve|release|crutch|cure|balm|lifeline|antidote|sedative|plaster|hiding place|bunker|shelter|therapist|therapy|meditation|remedy|lifebelt|pressure valve|switch|way out)`,
	`(?:cheaper|better) than (?:a |any |my |the )?(?:therapist|therapy|pills?|doctor|shrink|medicine|valium)`,
	`(?:to keep from|keeps me from|keep myself from|stop(?:s)? (?:me|myself) from|so as not to|so that i do not|so that i did not|so that i would
		not|so i would not|so i do not|so i did not|because then i do not|so i can not) (?:_ )?(?:_
		)?(?:feel|feeling|think|thinking|cry|crying|explode|exploding|lie|lying|face|facing|remember|have to|snapping|spiralling|panicking)`,
	`(?:do|did) not have to (?:_ )?(?:feel|think|face|deal|remember|look|lie there|be sad|cry|listen|talk)`,
	`(?:could not|did not|can not|do not|not) feel (?:a thing|anything|it|anymore|any more|things|much|so much)`,
	`when i stop i (?:_ )?(?:_ )?(?:feel|think|cry)`,
	`(?:so|where) (?:it|they|nobody|no one|nothing|the world) can not (?:get|reach|find|touch|hurt) (?:at )?me`,
	`(?:until|till|til) (?:i|the|my|it|everything|whatever)`,
	`(?:it|that|this|which|the (?:trick|exercise|method|breathing|ritual|routine|walk|music|thing)) (?:_ )?(?:works?|worked|helps?|helped|does it|did
		it|does the trick|did the trick|usually works|always works|never fails)`,
	`(?:usually|always|often|that|it|which) (?:_ )?(?:brings?|brought|gets?|calms?|settles?|cools?|talks?) me (?:back )?(?:down|round|back|out|off)`,
	`(?:is|that is|this is|it is|its) (?:_ )?(?:what|how) i (?:_ )?(?:do|cope|manage|handle|survive|deal|get|switch|keep|stay|live)`,
	`(?:switch|switches|switched|turn|turns|turned|shuts?|shut) (?:_ )?(?:off|down) (?:my|the|all) (?:_ )?(?:feelings?|head|brain|emotions?|thoughts|noise)`,
	`(?:switch|turn|shut) (?:my|the|all) (?:_ )?(?:feelings?|head|brain|emotions?|thoughts|noise) (?:off|down)`,
	`(?:the|my|that|all) (?:_ )?(?:_ )?(?:_
		)?(?:jitters|panic|fear|dread|gloom|anger|sadness|knot|worry|nerves|rage|tears|shaking|storm|tension|upset|fog|loneliness|grief|dizziness|anxiety) (?:_ )?(?:_ )?(?:_ )?(?:let|lets|lifted|lifts|went|goes|gone|were gone|was gone|left|leaves|passed|passes|eased|eases|melted|melts|faded|fades|loosened|loosens|stopped|stops|subsided|dissolved|ebbed|drained|quietened)`,
	`(?:scroll|scrolled|drank|drink|ate|eat|slept|sleep|worked|work|ran|run|sang|sing|scrubbed|scrub|laugh|laughed|walk|walked|game|gamed|shopped|smoked|danced|cried|swam|baked|cleaned|dug|knitted|read|wrote|played) (?:the|my|it|all|that) (?:_ )?(?:_ )?(?:away|off|out|down)`,
	`(?:smooths?|smoothed|straightens?|irons?|evens?|sorts?|sorted|levels?|patches|mends?|stitches|empties|unknots?|untangles?|unwinds?|thaws?|softens?|slows?|loosens?) (?:me|my (?:head|mind|nerves|thoughts)) `,
	`(?:stays|stay|keep it|kept it|goes|stuffed) (?:_ )?(?:underneath|inside|locked|hidden|buried|under the surface|down there)`,
	`i (?:can|could|was able to) (?:_ )?(?:think|breathe|sleep|laugh|talk|speak|face|pay|go|work|eat|smile|see|walk|listen|carry on|get up|start|deal)
		(?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:again|now|home|on|back|voice|straight|clearly|once more|normally|$)`,
	`(?:it|everything|the world|that|things|life) (?:is|was|gets|got|goes|went|feels|felt) (?:_
		)?(?:better|quiet|quieter|lighter|calm|calmer|easier|bearable|half as bad|less|smaller|softer|further|simpler|ok|okay|all right)`,
	`(?:it )?goes (?:quiet|still|calm)`,
	`(?:steadies|steadied|calms|calmed|saves|saved|sorts|sorted|carries|carried|holds|held|grounds|tames|cools|cooled|mends|rescues|soothes|settles|anchors|restores|revives|helps|helped) (?:me|us)`,
	`(?:takes?|took|brings?|brought|gets?|got|pulls?|pulled|puts?|talks?|talked) me (?:_
		)?(?:down|out|through|together|back|up|over|away|elsewhere|somewhere)`,
	`(?:keeps?|kept|stops?|stopped|saves?|saved|holds?) me from`,
	`(?:to get away from|to escape|to forget|to shut up|to silence|to outrun|to get over|to survive|to get rid of|to be rid of|anything but|rather
		than|anything not to|so i do not|so that i do not|so as not to) (?:_ )?(?:_ )?(?:_
		)?(?:{feel_noun}|feel|think|fall|sit|cry|face|hear|deal|it|be|thoughts|head|hole)`,
	`(?:left|came back|came home|come back|came out|come home|walked out|walked home|arrived|got up|coming back|afterwards|after) (?:_ )?(?:_ )?(?:_
		)?(?:_ )?(?:calm|calmer|lighter|smiling|laughing|able|shoulders|clean|better|myself|peaceful|new|human|again|clearer)`,
	`with a (?:light|lighter|calm|clear) (?:heart|head)`,
	`(?:not|no longer|hardly) (?:_ )?(?:angry|sad|scared|afraid|anxious|upset|jealous|nervous) (?:any more|anymore|by then|$)`,
	`(?:{emotion_word}|jealousy|fury|rage|panic) (?:_ )?(?:_
		)?(?:blown|blew|went|goes|came|comes|stays?|stayed|wore|wears|runs?|ran|flows?|falls?|fell|slides?|slid|drops?) (?:_ )?(?:off|out|away|down|on
		the|in the|behind|there)`,
	`(?:easier|better) than (?:letting|showing|crying|feeling|talking|telling|admitting|thinking)`,
	`(?:is|that is) my (?:whole )?(?:method|way|trick|recipe|technique|medicine|cure|plan|system|strategy|answer|escape)`,
	`i always do (?:when|if|after)`,
	`before and (?:_ )?(?:laughing|calm|fine|all right|better|smiling) after`,
	`(?:instead of|rather than|before i|so i do not|so that i do not|so i did not|to stop myself|to keep from|not to) (?:_ )?(?:blow(?:ing)?
		up|shout(?:ing)?|scream(?:ing)?|snap(?:ping)?|hit(?:ting)?|yell(?:ing)?|slam(?:ming)?|cry(?:ing)?|explod(?:e|ing)|griev(?:e|ing)|lash(?:ing)?
		out|lose|losing|throw(?:ing)?|say(?:ing)? something|brood(?:ing)?|panic(?:king)?|fall(?:ing)? apart|worry(?:ing)?)`,
	`(?:went|came|go|come|walked|walk|sat) (?:back )?(?:in|out|up|home|on|to) (?:_ )?(?:_
		)?(?:calm|calmer|lighter|steady|whistling|smiling|laughing|composed|cool|level|singing)`,
	`(?:come|came) (?:back|home|in|out) (?:whistling|smiling|singing|laughing|grinning|lighter|calm|calmer|new|human)`,
	`(?:made|makes|make|gets?|got|feel|felt|leaves?|left|keeps?|kept) (?:the |my |me |it |that |this )?(?:_ )?(?:{emotion_word}|fear|it|me|things|_)?
		(?:_ )?(?:smaller|less|lighter|softer|weaker|bearable|manageable|further away|more distant|fainter)`,
	`(?:the|that|my) (?:ache|tightness|hole|weight|stone|pressure|lump|buzzing|noise|burning|heat|hurt|pain|emptiness) (?:_
		)?(?:is|was|goes|went|has|had|gets|got|lifts|lifted|eases|eased|_)? (?:gone|less|away|lighter|smaller|off|over|better|quiet|eased|lifted|melted)`,
	`(?:sweat(?:ed)?|ran|run|walk(?:ed)?|cried|cry|danced|sang|scrubbed|dug|swam|wrote|breathed?|shouted|talked) (?:it|them|everything|all) (?:_
		)?(?:out|off|away|down|through)`,
	`(?:blurs?|blurred|dulls?|dulled|muffles?|muffled|numbs?|numbed|dampens?|softens?|shrinks?|shrank|kills?|killed|dissolves?|melts?|drowns?|drowned|quiets|silences?|stills?|lifts?|lifted|eases?|eased|soothes?) (?:the|my|it|all|that) (?:_ )?(?:{emotion_word}|ache|pain|edges|noise|voice|loneliness|fear|emptiness|hole)`,
	`say it out loud|say(?:ing)? it aloud|need to (?:say|tell|talk|get) (?:it|this)`,
)
