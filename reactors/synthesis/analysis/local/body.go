package local

// body is the signs of the body, with the family that they mostly tell of.
var body = []struct {
	cue    *pattern
	family string
	level  int
}{
	{cue(`(?:blood|skin) (?:boil|boils|boiled|boiling)`), "anger", 3},
	{cue(`(?:see|saw|seeing) red (?:$|and|when|whenever|every|each|again|at|because|straight|immediately)`), "anger", 3},
	{cue(`(?:feel|felt|could feel) (?:the|my) (?:anger|rage|blood) (?:rise|rising|boil)`), "anger", 2},
	{cue(`(?:slamming|slammed) (?:the )?(?:doors?|cupboards|drawers)`), "anger", 2},
	{cue(`(?:snaps?|snapped) to rage`), "anger", 3},
	{cue(`heart (?:breaks|broke|breaking|broken|is broken|was broken|shattered|is shattered|aches|ached)`), "sadness", 3},
	{cue(`(?:heart) (?:was|is|so|feels|felt)? (?:full|bursting|exploding|is exploding|is bursting|soars|soared|sings|sang)`), "joy", 2},
	{cue(`(?:my|the) (?:heart|stomach|chest|throat|gut|hands|knees|whole
		body|palms|jaw|shoulders|pulse|legs|voice|belly|insides|breath|mind) (?:gets? |goes? |went |got |was |were |is |are |just |starts?
		(?:to )?|started (?:to )?|always |immediately |instantly )?{body_drops}`), "anxiety", 2},
	{cue(`^ (?:heart|stomach|chest|throat|hands|knees|palms) {body_drops}`), "anxiety", 2},
	{cue(`(?:shaking|trembling|cold|sweaty|clammy) (?:hands|palms|knees)`), "anxiety", 2},
	{cue(`stomach (?:ties|tied|twists|twisted) (?:itself )?(?:in|into) (?:a )?knots?`), "anxiety", 2},
	{cue(`heart (?:is |was |jumps? |leaps? |leapt |jumped |leaping |up )?in(?:to)? my (?:mouth|throat|boots)`), "anxiety", 3},
	{cue(`sets? me (?:trembling|shaking|crying|off crying)`), "anxiety", 2},
	{cue(`(?:gives?|gave) me the (?:creeps|shivers|jitters|chills|fear)`), "fear", 2},
	{cue(`(?:happiest|best) (?:_ )?(?:day|night|moment|week|year) of my (?:_ )?life`), "joy", 3},
	{cue(`(?:saddest|worst|darkest|hardest|loneliest|blackest) (?:_ )?(?:day|night|moment|week|year|hour) of my (?:_ )?life`), "sadness", 3},
	{cue(`heart (?:_ )?(?:_ )?(?:ripped|torn|cut) out`), "sadness", 3},
	{cue(`i hate (?:him|her|them) so much`), "anger", 3},
	{cue(`(?:hat(?:e|es|ed|ing)|loath(?:e|ed|ing)|despis(?:e|ed|ing)) myself`), "shame", 3},
	{cue(`(?:knot|pit|butterflies|lump|hole|stone|weight) in (?:my|the) (?:stomach|throat|chest|belly|gut)`), "anxiety", 2},
	{cue(`(?:sinking|sick|queasy) feeling`), "anxiety", 2},
	{cue(`i (?:feel|felt|get|got) sick (?:until|with|to|when|at|just|every|before|again)`), "anxiety", 2},
	{cue(`i (?:could not|can not|can hardly|could hardly|can barely|could barely) breathe`), "anxiety", 2},
	{cue(`(?:panic mode|a cold sweat|cold sweats|hyperventilat(?:e|es|ed|ing))`), "fear", 3},
	{cue(`(?:went|go|goes|turned|turn) (?:bright )?red`), "shame", 2},
	{cue(`(?:wanted|want|wish) (?:to vanish|to disappear|the (?:earth|ground) (?:to|would) swallow me)`), "shame", 2},
	{cue(`(?:tears (?:pouring|streaming|running|rolling|in my eyes|welled|well up)|in floods of tears|burst into tears|bursts into
		tears|cried my eyes out|eyes fill(?:ed)? with tears|lump in my throat)`), "sadness", 3},
	{cue(`(?:everything|something) in me (?:goes|went|is|gets) (?:quiet|still|calm)`), "calm", 2},
	{cue(`like a peacock`), "love", 2},
	{cue(`(?:jumping|jumped|jump) (?:around|up and down|for joy)`), "joy", 2},
	// What the body does in fear and strain.
	{cue(`(?:jump|jumps|jumped|jumping|leapt) out of my skin`), "fear", 2},
	{cue(`(?:i|and) (?:froze|freeze|flinch|flinched|trembled|tremble|shivered|quivered|shuddered)`), "fear", 2},
	{cue(`(?:i|my|am|was|be|still|actually|literally|and|^) (?:_ )?(?:shaking|trembling|quivering|shivering)
		(?:$|with|from|when|before|after|for|in|at|as|all|like|so|and|again|inside|by|on)`), "anxiety", 2},
	{cue(`(?:hot|cold|wet|damp|clammy|sweaty|sweating|shaky|dry|red|burning|racing) (?:_
		)?(?:palms|face|hands|mouth|knees|cheeks|pulse|heart|voice|sweat)`), "anxiety", 2},
	{cue(`(?:sweated|sweating|sweat) (?:$|through|with|from|like|all|, |when|before|until|at)`), "anxiety", 1},
	{cue(`my (?:_ )?(?:pulse|heart|heartbeat) (?:is |was |were )?(?:in my|at
		a|going|goes|went|beats?|beating|like|thudding|galloping|gallops|galloped|raced|racing|thumps|up|jumping|fluttering|bangs?|banging|drumming)`), "anxiety", 2},
	{cue(`pulse (?:in|at|going|up|through|over|racing)`), "anxiety", 2},
	{cue(`my (?:_ )?(?:mouth|throat) (?:goes|went|gets|got|is|was|turns|turned|feels|felt) (?:_ )?(?:dry|tight|like)`), "anxiety", 2},
	{cue(`my (?:_ )?(?:breath|breathing) (?:goes|went|gets|got|is|was|comes|came|stops|stopped|caught|catches) (?:_
		)?(?:short|shallow|fast|away|quick|ragged|in)`), "anxiety", 2},
	{cue(`(?:could|can) (?:not|hardly|barely) (?:get|catch) (?:any |my |enough )?(?:air|breath)`), "anxiety", 2},
	{cue(`my (?:_ )?(?:stomach|guts?|insides|belly)
		(?:is|was|were|are|falls?|fell|flips?|turn|heaves?|goes|went|lurched|in|does|did|cramps?|cramped|twists?|twisted) `), "anxiety", 2},
	{cue(`my (?:_ )?(?:legs|knees) (?:turn|turned|go|went|give|gave|were|are|feel|felt|buckle|buckled|turning) `), "anxiety", 2},
	{cue(`my (?:_ )?(?:hands|fingers) (?:go|went|are|were|get|got|turn|turned|would not stop|keep|kept) (?:_
		)?(?:numb|shaky|cold|ice|icy|clammy|shaking|trembling|wet|damp|sweaty|unsteady)`), "anxiety", 2},
	{cue(`(?:legs|knees) (?:like|of|to|turned to|turn to) (?:jelly|water|rubber|pudding|cotton)`), "anxiety", 2},
	{cue(`(?:nausea|sick|ill) (?:from|with|of) (?:nerves|fear|dread|worry|fright|anxiety)`), "anxiety", 2},
	{cue(`nerves in (?:the|my) (?:stomach|belly)`), "anxiety", 2},
	{cue(`(?:makes?|made) me (?:feel )?(?:ill|sick|shake|tremble|shiver|sweat|jump|flinch|freeze|shudder)`), "anxiety", 2},
	{cue(`my (?:_ )?(?:shoulders|jaw|fists|teeth|back|neck|body) (?:locks?|locked|lock up|clench(?:es|ed)?|tense|tenses|tensed|go up|went up|goes
		stiff|went stiff|stiffen(?:s|ed)?)`), "anxiety", 2},
	{cue(`(?:i|and) (?:can not|could not|can hardly|could hardly|can barely) (?:sleep|eat|concentrate|think straight|settle)
		(?:for|with|from|because|before|a wink)`), "anxiety", 2},
	{cue(`have not (?:slept|eaten) (?:since|for|properly|because)`), "anxiety", 1},
	{cue(`(?:lay|lie|lying) awake`), "anxiety", 1},
	{cue(`(?:nervous wreck|bag of nerves|bundle of nerves|cold dread|the heebie jeebies|cold shiver|shiver down my)`), "anxiety", 2},
	{cue(`i (?:have |had |just |_ )?(?:gone|went|go|turned|turn) (?:ice |stone )?cold (?:inside|with|all|and|when|$)`), "fear", 2},
	{cue(`gone ice cold`), "fear", 3},
	{cue(`hairs? (?:stands?|stood) (?:up|on end)`), "fear", 2},
	// Anger.
	{cue(`(?:blood|i am|i was|anger|rage) (?:_ )?(?:boil|boiling|boils|boiled|seething|simmering) (?:$|over|inside|with|by|before)`), "anger", 3},
	{cue(`(?:spitting|spit) (?:feathers|nails|blood|tacks)`), "anger", 3},
	{cue(`(?:hit|hits|hitting|through|go through|went through) the (?:roof|ceiling)`), "anger", 3},
	{cue(`(?:i|and|nearly|almost|about to|could|to) (?:exploded?|erupted?|lose it|lost it|snapped|blew my top|blow my top|flipped|kick off|kicked
		off|lost my rag|lose my rag) (?:$|at|when|because|again|with|by|before|and|if)`), "anger", 2},
	{cue(`(?:want|wanted|could|i) (?:_ )?(?:to )?(?:scream|smash|throttle|strangle|punch|kick something|throw (?:_
		)?(?:phone|plate|chair|laptop))`), "anger", 2},
	{cue(`(?:dug|dig) my (?:nails|fingernails)`), "anger", 2},
	{cue(`my hackles|steam (?:coming )?out of my ears|(?:drives?|drove|driving) me (?:up the wall|mad|crazy|insane|nuts|round the bend|wild)`), "anger", 2},
	{cue(`(?:feel|felt|feeling|notice|noticed) (?:the|my|that|a) (?:_ )?(?:rage|anger|fury|heat) `), "anger", 2},
	{cue(`what makes my blood`), "anger", 2},
	// Sadness.
	{cue(`(?:i|and|to|just|even|nearly|almost|,|^) (?:cry|cried|wept|weep|sobbed|sob|bawled|blubbed|howled)
		(?:$|when|in|into|at|about|for|over|all|again|and|because|easily|every|each|like|on|the|until|myself|so|alone|a|as|to)`), "sadness", 2},
	{cue(`(?:crying|weeping|sobbing|bawling|blubbing) (?:$|in|into|at|on|over|when|again|like|all|because|for|before|and)`), "sadness", 2},
	{cue(`tears (?:simply |just |always )?(?:come|came|ran|run|rolled|fell|fall|started|start|were|are|flow|flowed|down|running|again|coming|before|of
		(?:sadness|grief|rage))`), "sadness", 2},
	{cue(`tears of (?:happiness|joy|laughter|gratitude)`), "joy", 3},
	{cue(`(?:my )?eyes (?:_ )?(?:fill|filled|well|welled|sting|stung|stinging|swim|swam|water|watered|burn|were wet|are
		wet|prick|pricked|brim|brimmed)`), "sadness", 2},
	{cue(`my (?:_ )?heart (?:is|was|feels|felt|grows|sinks|sank|hurts|hurt|went|goes|gets|bleeds|turns) (?:_
		)?(?:heavy|lead|heavier|black|empty|out|sore|sink|cold|$)`), "sadness", 2},
	{cue(`(?:went|go|goes|fell|fall|falls|came|come) (?:_ )?(?:to pieces|apart|undone|to bits|in bits)`), "sadness", 2},
	{cue(`(?:run|ran|running|rolled|rolling|streamed) down my (?:cheeks|face)`), "sadness", 2},
	{cue(`(?:undoes?|undo|undid|floors?|flattens?|wrecks?|destroys?|breaks?|guts|guts) me`), "sadness", 2},
	{cue(`a lump in (?:my|the) (?:throat|chest)`), "sadness", 2},
	{cue(`(?:feel|feels|felt|feeling) (?:_ )?(?:like
		)?(?:rubbish|crap|shit|garbage|awful|terrible|rotten|horrible|wretched|disgusting|ugly|filthy|useless|hollow|dreadful|lousy|rough|like
		death|like dying)`), "sadness", 2},
	{cue(`(?:hollow|heavy|sinking|empty|sad|lonely|left out|awful|horrible|dark|bleak|desperate) feeling`), "sadness", 2},
	{cue(`wave of (?:_ )?(?:sadness|grief|longing|homesickness)`), "sadness", 2},
	{cue(`i miss (?:_ )?(?:_ )?(?:_ )?(?:so|terribly|badly|dreadfully|like|violently|desperately|horribly)`), "sadness", 2},
	// Shame.
	{cue(`(?:wanted|want|wish|wished) (?:_ )?(?:_ )?(?:to |would |could
		)?(?:hide|die|vanish|disappear|sink|open|swallow|shrink|melt|evaporate)`), "shame", 2},
	{cue(`(?:my |the )?(?:face|cheeks|ears|neck) (?:_ )?(?:burn|burns|burned|burnt|burning|on fire|hot|glow|glowed|went red|goes red|go red|turned
		red|flushed|flames?|flamed)`), "shame", 2},
	{cue(`(?:blushed|blush|blushing|cringe|cringed|cringing|squirmed|squirm)`), "shame", 2},
	{cue(`(?:went|go|goes|felt|feel|feels|feeling|being|made me|makes me) (?:_ )?(?:small|tiny|stupid|like nothing|like a nobody|exposed|like
		nobody|two feet tall|an inch tall)`), "shame", 2},
	// Joy, love, calm.
	{cue(`(?:i|^|we|still|and|came home|home|,) (?:_
		)?(?:grin|grinned|grinning|beam|beamed|beaming|giggled|giggling|whooped|squealed|squealing|skipped|singing|humming|whistling|chuckling|laughing) (?:$|like|all|from|the|and|home|to myself|in|again|when|for|at|ear)`), "joy", 2},
	{cue(`(?:i|we) (?:_ )?(?:love|loved|adore|adored) (?:it there|every (?:minute|second|bit)|being there|it here|it so much|him so|her so|them
		so|every)`), "joy", 2},
	{cue(`(?:best feeling|pure bliss|sheer bliss|bliss|what (?:a )?joy|such joy|such fun|so much fun|had (?:_ )?fun|goosebumps|goose bumps|walking on
		air|cloud nine|on a high|warm glow)`), "joy", 2},
	{cue(`(?:floated|danced|skipped|sang|bounced|glowed|waltzed) (?:home|out|all the way|back|through|the whole)`), "joy", 2},
	{cue(`my heart (?:_
		)?(?:sings?|sang|leaps?|leapt|jumped|lifts?|lifted|full|melts?|melted|swells?|swelled|dances?|danced|soars?|soared|skips?|skipped|bursts?|overflow(?:s|ed)?|glows?|glowed|expands?|opens?|lighter)`), "joy", 2},
	{cue(`i (?:_ )?(?:melt|melted|glow|glowed|am glowing|lit up|light up)`), "love", 2},
	{cue(`(?:brimming|brimmed|brim|overflowing|glowing|burst|bursting|drunk|dizzy|giddy|full|fit to burst|aglow|weep) (?:over )?(?:with|of|for) (?:_
		)?(?:joy|happiness|love|tenderness|pride|fondness|gratitude|delight|excitement|energy|glee|it)`), "joy", 2},
	{cue(`(?:like|as) (?:a |an )?(?:happy )?(?:child|kid|kids|children) (?:_ )?(?:with|at christmas|in a sweet|on christmas|again|in snow)`), "joy", 2},
	{cue(`(?:warm|golden|happy|lovely|bright|fizzy|soft|cosy) (?:_ )?(?:_ )?(?:inside|all over|as a button|as a lark|as a queen|as a king)`), "joy", 2},
	{cue(`(?:love|peace|calm|joy|happiness|tenderness|contentment)
		(?:settled|settles|came|comes|washed|washes|fills|filled|spreads?|floods?|flooded|rises|rose|descends|descended) `), "calm", 2},
	{cue(`(?:go|goes|went|gone|going|grow|grew|turn|turns) (?:_ )?(?:calm|quiet inside|peaceful|still inside|soft inside)`), "calm", 2},
	{cue(`(?:shoulders (?:drop|dropped|come down|came down)|let(?:s)? go inside|everything in me let go|breathe out at last|can breathe again)`), "calm", 2},
	{cue(`at ease with (?:the world|myself|everything)`), "calm", 2},
	{cue(`(?:everything|noise|something|all|it) (?:_ )?(?:_ )?(?:in|inside) me (?:_ )?(?:goes|went|is|was|gets|got|falls|fell|turns|turned|grows) (?:_
		)?(?:quiet|still|calm|silent|soft)`), "calm", 2},
	{cue(`(?:goes|went|gets|falls|fell|turns|grows) (?:quiet|still|calm|silent) (?:in|inside) me`), "calm", 2},
	{cue(`(?:i|i have|i had|and|face) (?:_ )?(?:gone|went|go|turned|turn|goes) (?:_ )?(?:white|pale|rigid|stiff|numb|grey|green|to pieces)`), "fear", 2},
	{cue(`(?:nearly|almost|could have|could) (?:scream|screamed|cry|cried|wept|fainted|faint|threw up|thrown up)`), "anxiety", 2},
	{cue(`every (?:creak|noise|sound|step|knock|shadow)`), "fear", 1},
	{cue(`(?:stormed|storm) (?:off|out)`), "anger", 2},
	{cue(`(?:i|we|and|^) (?:_ )?(?:laughed|laugh|sang|danced) (?:_ )?(?:the whole|all the|until|till|so|like|out loud|with|all)`), "joy", 2},
	{cue(`(?:i|and|just|so) (?:_ )?(?:loved|love|adored) (?:it|every|being|that) (?:$|there|here|so|all|minute)`), "joy", 2},
	{cue(`(?:best|highest|brightest|sunniest|good|great) (?:of )?(?:moods?|spirits)`), "joy", 2},
	{cue(`^ (?:tears|sobbing|goosebumps|sweat) (?:$|all|again|down|,)`), "sadness", 2},
	{cue(`(?:throat|chest) (?:tight|closed|closing|locked|closes|tightened|tightens|burning)`), "anxiety", 2},
	{cue(`eyes (?:wet|stinging|burning|brimming|full)`), "sadness", 2},
	{cue(`pressed against (?:a|the) wall`), "fear", 2},
	{cue(`(?:yelped|shrieked|hid under the|hid behind|hid in the|under the table|ran out|fled|bolted|backed away)`), "fear", 2},
	{cue(`(?:could not|can not) (?:move|calm down|settle|stop shaking|go in|look|walk past|go near|get past)
		(?:$|for|from|with|because|at|until)`), "fear", 2},
	{cue(`ache of (?:_ )?(?:loneliness|longing|homesickness|missing)`), "loneliness", 2},
	{cue(`(?:broke|breaks|breaking) my heart`), "sadness", 3},
	{cue(`(?:heat|blood|colour|color|anger|rage|heart) (?:_ )?(?:climbing|rising|climbs|rises|rushing|rushed|shot|shoots|climbed)
		(?:up|to|into|in|out|over)?`), "anger", 2},
	{cue(`(?:see|saw|seeing) (?:white|black|only red|nothing but red)`), "anger", 3},
	{cue(`(?:shook|shaking|trembled) for (?:an|_) (?:hour|hours|minutes|minute)`), "anxiety", 2},
	{cue(`i (?:_ )?(?:shook|trembled|quaked|shivered) so`), "anxiety", 2},
	{cue(`(?:makes?|made) my (?:_ )?(?:day|week|morning|evening|heart sing|heart leap|year)`), "joy", 2},
	{cue(`(?:nearly|almost|about to) (?:blew up|blow up|lost it|lose it|snapped|snap|shouted|hit|flipped|cracked|broke down)`), "anger", 2},
	{cue(`(?:am|was|feel|felt|get|got|so|became|become) (?:_ )?(?:cross|shirty|stroppy|in a (?:strop|temper|mood|sulk|bad mood|foul
		mood|huff))`), "anger", 2},
	{cue(`(?:comes|came|come|rushes|rushed|flooded|floods) (?:all )?back (?:and|to me|over me|as if)`), "sadness", 1},
	{cue(`(?:can not|could not) (?:stop|help) (?:smiling|grinning|laughing|singing|dancing|giggling)`), "joy", 2},
	{cue(`(?:can not|could not) stop (?:crying|sobbing|weeping|thinking about (?:him|her|them))`), "sadness", 2},
	{cue(`(?:can not|could not) stop (?:shaking|trembling|worrying)`), "anxiety", 2},
	{cue(`(?:slid|sank|crumpled|collapsed|curled up|sat down) (?:_ )?(?:_ )?(?:_ )?(?:and )(?:cried|wept|sobbed|bawled|howled)`), "sadness", 2},
}
