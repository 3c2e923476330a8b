package local

// storyWords is the classes of the user's story. A class may name another one.
var storyWords = map[string]string{
	// a time before
	"then": `(?:_ )?(?:year|years|month|months|week|weeks|winter|winters|summer|summers|decade|decades|while) (?:ago|back|earlier)|last
			(?:year|spring|summer|autumn|fall|
winter|time|month|christmas|term|season)|long ago|back then|in those days|in the old days|once|before|previously|formerly|at first|in the beginning|at the
start|
in (?:19|20)(?:0|1|2|7|8|9)(?:0|1|2|3|4|5|6|7|8|9)|when i (?:_ )?(?:started|began|came|arrived|moved|was|joined|got)|when (?:he|she|they|it)
(?:left|died|went|diagnosed|was|were|happened)|
as a (?:child|kid|girl|boy|teenager|teen|student|young _|beginner)|at (?:20|25|30|35|40|45|50|twenty|thirty|forty|fifteen|sixteen|seventeen|eighteen|school)|
in my (?:twenties|thirties|teens|youth|first _|20s|30s)|with my first|my first (?:_ )?(?:_ )?(?:year|day|week|time|months|death|term|job|boss)|
after the (?:crash|fall|stroke|divorce|accident|burglary|operation|breakup|attack|amputation)|(?:for|in) (?:_ )?(?:_ )?years|for a long time|for so long|
for ages|all my life|my whole life|
until (?:now|recently|last|this|i)|till (?:now|i)|not (?:so )?long ago|the other year|inside i|earlier i|in the past|in earlier (?:days|times|years)|time was|
{oldme}`,
	"oldme": `(?:the )?(?:old|former|younger|earlier|previous) (?:me|self|version of me)|the me (?:of|from)|the (?:woman|man|girl|boy|person|kid|lad) i
			(?:was|used to be)|who i was`,
	"now": `today|tonight|now|nowadays|these days|this (?:morning|evening|week|time|year|month|spring|summer|autumn|winter|afternoon)|yesterday|last night|
			lately|recently|by now|
since then|since|at last|at long last|finally|for once|for the first time|the first time|first time|just now|anymore|any more|no longer|any longer|
meanwhile|just|on (?:monday|tuesday|
wednesday|thursday|friday|saturday|sunday)`,

	// how one does what one is not proud of, or suffers
	"fail": `cry|cried|hide|hid|hidden|run|ran|shout|shouted|scream|screamed|yell|yelled|panic|panicked|freeze|froze|frozen|faint|fainted|shake|shook|
			shaken|blush|blushed|
apologi(?:s|z)ed?|sulk|sulked|explode|exploded|snap|snapped|quit|gave up|give up|given up|cancel|cancelled|canceled|lie|lied|drink|drunk|drank|hit|punch|
punched|kick|kicked|smash|
smashed|throw|thrown|threw|swallow|swallowed|avoid|avoided|beg|begged|fake|faked|pretend|pretended|cave|caved|cave in|caved in|spiral|spiralled|spiraled|
beat myself|beaten myself|
blame|blamed|storm|stormed|slam|slammed|follow|followed|chase|chased|gamble|gambled|lock|locked|rehearse|rehearsed|worry|worried|lose it|lost it|lose my|
lost my|unpick|unpicked|fold|
folded|crumble|crumbled|collapse|collapsed|fall apart|fell apart|fallen apart|fall to pieces|say yes|said yes|say sorry|said sorry|saying sorry|say
nothing|said nothing|keep quiet|
kept quiet|stay silent|stayed silent|shut up|shut down|bite|bitten|argue|argued|fight|fought|attack|attacked|withdraw|withdrew|withdrawn|stay in bed|
stayed in bed|get out of bed|
walk out|walked out|hang up|hung up|leave|left|duck|ducked|flinch|flinched|clam up|clammed up|call in sick|called in sick|need|needed|please|pleased|dread|
dreaded|hate|hated|fear|feared|
envy|envied|compare|compared|control|controlled|fix|fixed|rescue|rescued|obey|obeyed|nod|nodded|vomit|vomited|tremble|trembled|be sick|been sick|been
terrified|been scared|been afraid|
been a wreck|been in tears|been furious|been too|be too|be terrified|be afraid|be scared|be ashamed|been ashamed|put it off|put off|postpone|postponed|
burst|bolt|bolted|die|died|rage|raged|
ask for another|asked for another|asked permission|written an email|checked|check|drive after|driven after|gone home|drop everything|dropped everything|
take it personally|
taken it personally|taken it|lie awake|lain awake|obsess|obsessed|binge|binged|ate|eat|bottle it up|bottled it up|let them|let him|let her|make excuses|
made excuses|do it all|done it all|
defend|defended|justify|justified|interrupt|interrupted|look away|looked away|thrown in|sit in silence|sat in silence|stutter|stuttered|stammer|stammered|
crawl|crawled|fly off|flown off|
sent my|send my|sended my|sended always|sent (?:always )?my|cling|clung|collapse|overthink|overthought|resent|resented|grovel|grovelled|mutter|muttered|
put the letter|been at the school gate`,
	"failing": `apologi(?:s|z)ing|shouting|screaming|crying|panicking|shaking|hiding|running|lying|drinking|pretending|excuses|guilt|feeling guilty|shame|
			fear|tears|help|notes|apologies|
apology|panic|blushing|trembling|sulking|snapping|exploding|begging|checking|fighting|losing my temper|saying sorry|rehearsing|permission|flinching|
stammering|stuttering|a drink|a pill|
arguing|freezing|fainting|a fight|a lie|yelling|gambling|swallowing|vomiting|thinking twice|a script|preparing|asking`,
	"bad": `afraid|scared|terrified|frightened|ashamed|embarrassed|shy|proud|helpless|insecure|petrified|timid|useless|hopeless|weak|a coward|a wreck|a
			nervous wreck|
lost|stubborn|impatient|jealous|bitter|angry|furious|clueless|naive|selfish|quick to|hot headed|a mess|a doormat|a pushover`,

	// virtues that one comes by
	"better": `better at|much better at|way better at|so much better at|better with|better than i was|stronger|braver|calmer|more calm|wiser|tougher|
			softer|kinder|gentler|bolder|freer|steadier|
humbler|slower to|quicker to|more patient|more honest|more open|more confident|more independent|more resilient|more forgiving|more grounded|more grown up|
more assertive|less afraid|
less scared|less of a|less anxious|less angry|less reactive|less defensive|less ashamed|less harsh|less hard on|less impatient|less judgmental|easier on
myself|kinder to myself|
patient|confident|unafraid|fearless|grown up|mature|more mature|able to`,
	"inner": `no|sorry|help|myself|wait|listen|let go|letting go|rest|stop|breathe|trust|forgive|forgiveness|
			patience|feelings?|emotions?|anger|temper|fears?|limits?|needs|worth|enough|
alone|lonely|grief|grieve|honest|honesty|accept|acceptance|ask|asking|talk|speak|cry|quiet|silence|perfect|kind|
kindness|calm|mistakes?|fail|failing|failure|criticism|nobody|everyone|
everybody|anybody|people|somebody|person|love|loved|lovable|chosen|save|saved|winning|lose|losing|argument|right|wrong|boundary|boundaries|control|
pleasing|courage|brave|vulnerable|
uncomfortable|pain|hurt|life|happy|happiness|joy|own|judgement|judgment|tired|ugly|slow|slow down|stay|hold back|sit with|hear|hear me|carry|shame|guilt|
pride|ego|temper|weak|weakness|
strength|strong|gut|instinct|approval|disappoint|disappointing|conflict|heart|live|living|die|succeed|visitor|not about me|my fault|my job|needn't|need
not|do not have to|not have to`,
	"deep": `defeat|stubborn|being lied to|a defeat|a crime|bored|compliment|rescuing|fast i lived|take it on|what i want|be wrong|stay calm|staying calm|
			lean|laugh at myself|kind|salary|laziness|lazy|
			my job to|make everyone|happy|stand being|say no|saying no|said no|a no|boundary|boundaries|ask for help|asking for help|accept help|let go|
			letting go|forgive|forgiveness|patience|be patient|myself|my feelings|anger|sadness|fear|
sit with|guilty|being alone|lonely|not everything|stand up for|speak up|slow down|good enough|perfect|vulnerable|mistakes|rest|
self|sorry|apologi(?:s|z)e|trust|honest|needs|worth|let people|lean on|
cry|weakness|weak|criticism|failure|failing|courage|loved|control|approval|disappoint|other people|whole|enough|listen|to wait|stop|hold back|my limits|
let it go|grief|talk about|right words|humility`,
	"being": `neighbour|copy|person|man|woman|girl|boy|kid|lad|lass|guy|one|soldier|wife|husband|daughter|son|child|clown|fool|believer|mouse|victim|
			patient|brother|
			sister|mother|father|mum|dad|student|
butcher|nurse|teacher|manager|boss|dancer|player|athlete|doctor|friend|widow|widower|worker|officer|engineer|artist|writer|historian|lawyer|drinker|drunk|
smoker|pleaser|perfectionist|rebel|
outsider|loner|failure|loser|hero|saint|survivor|believer|priest|nun|immigrant|foreigner|guest|captain|leader|star|nobody|adult|teenager|lady|fellow|
stranger|self|sergeant|bassist|farmer`,
	"life": `life|lives|story|stories|past|history|childhood|youth|years|roots|heritage|marriage|divorce|illness|accident|burnout|bankruptcy|loss|grief|
			death|diagnosis|scars?|body|stammer|stutter|adopted|depression|grudge|
addiction|drinking|abuse|war|camp|prison|cellar|boat|exile|flight|adoption|orphanage|hospital|hospital year|ward|spring of|stillbirth|miscarriage|farm|
village|town|city|country|countries|
language|languages|accent|religion|faith|church|detours?|failures?|mistakes?|wrong turns|flaws?|contradictions?|shame|anger|temper|
darkness|pain|wounds?|regrets?|road not taken|roads?|chapters?|
pieces|threads?|parts?|halves|sides?|selves|journey|path|letters|file|letter|silence|coldness|career|twenties|thirties|teens|memories|memoir|birth mother|
empty chair|military|army|
retreat|boarding school|parents|father|mother|family|child|girl|boy|band|counter|chip shop|scullery`,
	"lot": `bankruptcy|burnout|divorce|abuse|grief|adoption|diagnosis|accident|cancer|orphanage|addiction|stillbirth|exile|childhood|memoir|life story|
			childlessness|having no children`,
	"side": `sides?|halves|parts?|lives|worlds|countries|languages|cultures|homes|families|cities|things|truths|selves|women|men|mothers|fathers|pieces|
			stories|versions|years|faiths|religions|names|feelings`,
	"soft": `just|even|finally|then|actually|simply|now|only|have|also|still|quietly|calmly|could|again|really|today|did`,
	"deed": `said no|say no|said it|spoke|speak|told|tell|asked|ask|stayed|stay|stood up|stand up|stood|rang|phoned|called|call|went|go|walked|walk|drove|
			drive|swam|swim|rode|ride|sang|sing|
danced|jumped|climbed|read|wrote|signed up|applied|opened|answered|sat|sit|slept|sleep|ate|held|hold|handed|gave|give|let|delegated|explained|did|do|
handled|managed|manage|finished|
breathe|breathed|paused|pause|laugh|laughed|smile|smiled|shrug|shrugged|listen|listened|wait|waited|apologi(?:s|z)ed?|admitted|admit|forgave|thanked|
passed|count|counted|pinned|took|
enjoyed|pulled|bought|cooked|put|changed the plan|dared|dare|faced|face|got up|get up|stop|stopped|cried|turned round|turn round`,
}
