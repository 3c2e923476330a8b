package local

import "slices"

// conflictHints are ways in which a conflict is told beside those that name it.
var conflictHints = slices.Concat(
	hintsOf("fight", 4, `
		(?:argument|arguments|argued|argue|arguing|quarrel*|squabbl*|bicker*|bust up|dust up|set to|slanging match|shouting match|screaming match|
		falling out|fell out|fallen out|blow up|blowout|blow out|spat|tiff|barney|ding dong|dispute|disputes|altercation|confrontation|confronted|clash|
		clashed|clashes|clashing|feud|feuding|showdown|stand off|standoff|heated (?:exchange|discussion|words|debate|call|email|row)|crossed swords|
		locked horns|butted heads|head to head|nose to nose|loggerheads|bad blood|tore strips|tear strips|tore into|laid into|lit into|let {him} have it|
		let (?:me|us) have it|gave {him} (?:an earful|a piece of my mind|what for|hell|both barrels|a mouthful)|gave me (?:an earful|a piece of|what for|
		hell|both barrels|a mouthful|grief)|at it again|at each other|at one another|going at (?:it|each other)|went at (?:it|each other|me|{him})|
		had it out|had words|full volume|no holds barred|hammer and tongs|cat and dog|cats and dogs|did not mince|held back neither|neither of us (?:held|
		gave|gives|backed|would|budged|apologi*)|civil word|not on speaking terms|over my dead body|exploded|world war|war of words|battle lines)
		(?:shout*|yell*|scream*|roar*|bellow*|bawl*|barked at|barks at|snarl*|snap*|hiss*|swore at|swear at|sworn at|curs*|spat at|rant*|raged|
		raging) (?:_ )?(?:_ )?(?:{him}|me|us|back|right back|and i|i|he|she|they|at|again|in my face)|(?:raised|loud) (?:_ )?(?:voices?|it was)|
		voices? (?:was|were|got|rose)`),
	hintsOf("fight", 3, `
		(?:called|calls|calling|named|names|labelled|said (?:that )?i (?:was|am)|says (?:that )?i (?:was|am)|said i had|told me i (?:was|am)|
		tells me i (?:was|am)|thinks i am|called it) (?:_ )?(?:_ )?(?:_ )?(?:_ )?(?:liar|thief|crook|slob|freak|idiot|moron|cow|bitch|witch|biddy|tyrant|
		dictator|bully|coward|baby|brat|snob|hypocrite|cheat|fraud|joke|loser|failure|disgrace|drama queen|hysterical|crazy|mad|insane|selfish|lazy|
		stupid|dumb|useless|worthless|incompetent|impossible|unreasonable|ungrateful|disrespectful|jealous|bitter|cold|heartless|pathetic|toxic|
		control freak|names?|slow|difficult|rude|arrogant|irresponsible|bad (?:mother|father|parent|son|daughter)|the problem|troublemaker|
		without respect|fiddling|overreacting|too sensitive|not (?:my|her|his))
		i (?:_ )?(?:called|call) {him} (?:a|an|names|selfish|lazy|every name|every)
		(?:told|tell|say|said|tells|gave|telling) (?:_ )?(?:him|her|them|0p)? (?:_ )?(?:_ )?(?:_ )?(?:exactly )?(?:what i (?:think|thought)|what (?:he|
		she|they) (?:thinks|thought)|where to (?:stick|go|put|shove|get off)|where i could (?:put|stick|shove)|to get (?:lost|out|stuffed|off|a)|
		to (?:shut|back|piss|bugger|sod|clear) (?:up|off)|to go (?:to hell|ahead|away)|to mind|to leave me alone|to grow up|off|good riddance|go to hell|
		hell|it was none of|(?:he|she|they) (?:was|were|is|are|had) (?:_ )?(?:no|wrong|without|a|an|not|selfish|lazy)|i (?:hate|hated) (?:him|her|them)|
		to my face|to (?:his|her|their) face|unforgivable|unforgiveable|(?:awful|terrible|horrible|nasty|ugly|cruel|hurtful|mean|vile|bad) things)
		(?:things i|something i|words i) (?:_ )?(?:can not|could not|should not|regret|wish|did not mean)|(?:said|say|says|
		saying) (?:_ )?(?:_ )?(?:unforgivable|awful|terrible|horrible|nasty|ugly|cruel|hurtful|vile) things|insult*|accus*|threaten*|blame(?:s|d)? me|
		mock*|ridicul*|sneer*|taunt*|belittl*|provok*|attack*|offend*|lashed out|went off on|stormed|storms|slam|slams|slammed|hung up|hangs up|kicked|
		punched|shoved|pushed me|throwing|threw (?:his|her|a|the|my)|spat|smashed|ripped|tore up|poked|jabbed|wagged|banged|hammered|pounded|stomped|
		thumped|flipped
		not (?:_ )?(?:_ )?(?:spoken|speaking|talked|talking|said a word|exchanged|answered|answering|looked at)|(?:stopped|stop|refuses|refused|
		refusing) (?:to )?(?:_ )?(?:speak|speaking|talk|talking|answer|answering|shake)|silent treatment|(?:slept|sleeping|sleeps) (?:in|on) the (?:sofa|
		couch|spare|kids|car|bath)|(?:walked|walks|stormed|marched|got|went|drove|ran) (?:out|off|away) (?:_ )?(?:_ )?(?:of|on|when|and|without|in|at|mid|
		the)|banned|blocked|unfollowed|unfriended|muted|deleted my|kicked me out|threw (?:me|him|her) out|reported me|(?:sue|sued|sueing|suing|court|
		police|solicitor|towed)
		(?:furious|livid|fuming|seething|raging|enraged|incensed|irate|spitting|boiling|outraged|steaming|hopping mad|red with|saw red|lost my (?:temper|
		rag|cool|head|patience)|lost (?:his|her|their) (?:temper|rag|cool|head)|blew my top|flew off|hit the roof|through the roof|temper|tempers)`),
	hintsOf("fight", 2, `
		(?:round (?:two|three|four|five|six|one|ten)|act (?:two|three)|second act|third act|part two|next round|another round|started again|began again|
		starts again|started it|here we go|back and forth|to and fro|for all to hear|in front of (?:the|all|everyone|everybody|a|his|her|our|my)|
		the whole (?:street|office|stairwell|corridor|pub|bus|table|ward|car park)|on the pavement|across the (?:table|hall|room|street|office|fence)|
		through the (?:door|ceiling|wall)|up against)
		(?:refus*|demand*|insist*|denied|denies|deny|ignored|interrupted|contradict*|object*|protest*|complain*|criticis*|criticiz*|undermin*|provok*|
		needl*|dig at|had a (?:dig|go)|have a go|jab|backhanded|sarcas*|rude|unfair|disrespect*|respect|without a word|without asking|did not ask|
		without telling|deleted|cut|changed my|took my|broke my|on purpose|deliberately|by mistake|i bit|bit back|retaliat*|revenge|back with interest|
		answered back|gave as good|returned the favor|not polite|not politely|politely|not quietly|not nicely|loudly|louder|separate us|pull us apart|
		came between us|stepped between)
		(?:apolog(?:y|ise|ize)|sorry) (?:_ )?(?:_ )?(?:from|first|to|owed|is owed|until|till)|owed (?:him|her|me|them) an apology|owes me|never forgive|
		can not forgive|not forgive|good riddance|get lost|get out|go to hell|shut up|how dare|middle finger|finger at me|name calling|names|tears again|
		ended in tears|ends in tears|in tears|crying|doors|plates?|the last straw|enough is enough|done with (?:him|her|them)|can not be in (?:one|
		the same) room|hate (?:him|her|them|each other)|hates me|enemy|enemies|grudge|peace|truce
		(?:letter|letters|email|emails|message|messages|text|texts|mail|dms|paragraphs|reply|comment|comments) (?:_ )?(?:_ )?(?:_ )?(?:that (?:he|she|
		they) (?:will|would) not|full of|not (?:polite|nice|kind)|in (?:capitals|caps)|nasty|angry|furious|i will regret|was not)|(?:angry|nasty|furious|
		rude|poisonous|passive aggressive) (?:letter|email|message|text|mail|note|notes|dm|voicemail)|in (?:capitals|all caps)|i (?:_ )?(?:gave|shot|
		fired|snapped|yelled|shouted|screamed|swore|hit) (?:_ )?(?:_ )?back`),
	hintsOf("fight", 4, `
		(?:0p and (?:i|me)|me and (?:0p|him|her)|(?:he|she) and i|we|us) (?:_ )?(?:_ )?(?:yelling|yelled|shouting|shouted|screaming|screamed|at it|
		fighting|arguing|fight|argue|fought|row|bicker|quarrel|disagree|clash)`),
	hintsOf("fight", 3, `
		(?:keep|keeps|kept|still|always|constantly|been|we|us) (?:_ )?(?:fighting|fight|fights|fought|arguing|rowing)|daggers|came to blows|come to blows|
		at war|(?:was|is) not pretty|two words|childish|bully|uninvited|behind my back|hog|hogs|hogging|get used to it|will not even|would not even|
		blew up|blow up|blows up|blowing up|got into it|get into it|went for (?:me|each other|him|her)|got personal|things got (?:ugly|heated|loud|nasty)|
		dressed (?:me|him|her) down|told me off|took me to task|embarrassed (?:him|her|me) (?:_ )?(?:in|by)?|humiliat*|lied about me|implying|implied|
		petty|to rot|drop dead|controlling|no (?:heart|spine|respect|manners|shame|right to)|back to back|swearing|raising (?:his|her|my) voice|
		arent talking|not (?:talking|speaking)|make(?:s|ing)? peace|without (?:somebody|someone|one of us|either|anyone) (?:shouting|crying|yelling|
		storming|walking)|showed me the door|not welcome|told me not to come|would not let me|overruled|went over my head|had me (?:towed|removed|thrown)|
		rude to (?:me|my)|talked over me|cut me off|laid down the law|put (?:his|her|my) foot down|stood my ground|refused to (?:budge|back|listen|
		apologi*|move|pay|leave|talk|shake)|dug (?:in|my|his|her)|wound up|riled|winding me up|pushing my buttons|picking on me|picks on me|
		has it in for me|gunning for|out to get|sabotag*|undercut|undermin*|tear (?:into|into each)|ripped into|rip into|get out of my|out of my (?:house|
		sight|face)|patronis*|patroniz*|condescend*|lectur*|scold*|ticked off|chewed me out|reprimand*|berat*|rebuk*|sparring|sparks|sparred|fireworks|
		hostile|hostilit*|ugly scene|made a scene|scene in|blazing|volcanic|nuclear|ballistic|stern words|sharp words|harsh words|cross words|heated|
		frosty|icy`),
	hintsOf("", 2, `
		(?:he|she|they|0p) (?:thinks?|says?|said|wants?|told me|claims?|reckons) … (?:i|and i|but i) (?:_ )?(?:think|say|said|want|told|tell|do not|
		did not|just|answered|wrote|replied|never)
		i (?:think|say|said|want|told|tell|do not|answered|wrote|replied|suggested) … (?:he|she|they|0p) (?:thinks?|says?|said|wants?|told me|tells me|
		does not|did not|answered|wrote|replied|called|yells?|counts?)`),
	hintsOf("", 1, `
		again|another|once more|still|same|second|third|this time|always|every
		told|said|says|say|answered|replied|wrote|reply|texted|rang|called|messaged|voice|loud|words
		angry|mad|cross|annoyed|upset|hurt|shaking|hate|hated|fed up|sick of|done|bitter|wrong|fault|unfair|stubborn|proud|impossible
		over (?:the|my|his|her|our|who|a|money|mum|dad)|about (?:the|my|his|her|our|money|who)|because (?:he|she|they|i|of)
		never|enough|stop|refuse|refused|deny|ignored|left|out|against|back|interrupted`),
)

// conflictWeight is what the hints of conflict in a talk say.
func conflictWeight(p *talk, points, keyed int, line *bondLine) float64 {
	for i := range p.lines {
		if s := &p.lines[i].sentence; playfulFight.in(s) || calmedFight.in(s) {
			return 0
		}
	}
	switch {
	case keyed >= 3 && points+p.charge >= 6, keyed >= 2 && points+p.charge >= 8 && p.turns >= 2:
		return hintShown
	case keyed >= 3, keyed >= 2 && points+p.charge >= 4 && (p.meets || p.charge >= 3):
		return hintWeak
	case p.meets && (points >= 1 && p.charge >= 1 || p.charge >= 2), keyed >= 2 && points >= 3:
		return hintFaint
	}
	return 0
}
