package local

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// matterOf is what a life may be about, by the stems of its words. What everybody's
// days are full of (food, weather, the household, tools) is not in it: it would be a
// theme of anybody.
var matterOf = table(func(of map[string][]string) {
	env := snowballstem.NewEnv("")
	for _, row := range strings.Split(strings.TrimSpace(mattersOfLife), "\n") {
		name, words, _ := strings.Cut(row, ":")
		for _, w := range strings.Fields(words) {
			env.SetCurrent(w)
			english.Stem(env)
			of[env.Current()] = append(of[env.Current()], name)
		}
	}
})

const mattersOfLife = `
faith: church prayer prayers pray praying god faith creed vicar priest pastor bible psalm psalms sermon mosque imam synagogue rabbi temple doubt unbelief
augustine baptised communion confession hymn gospel soul scripture monastery meditation buddhist quran ramadan theology holy worship
family history: ancestor ancestors genealogy archive archives parish register baptism grandfather grandmother grandparents great-grandfather
great-grandparents great-grandmother marriage tree branch lineage descendants surname immigrants gravestone census emigrated kowalskis
sleep: sleep slept sleeping asleep awake insomnia sleepless nap melatonin magnesium nightmare nightmares bedtime diary doze wakeful drowsy
hiring: hire hired hiring applicant applicants application applications interviewed interview candidate candidates recruit recruiting onboarding offer cv ad
bees: bee bees hive hives honey swarm swarmed brood queen beekeeper beekeeping colony mites apiary
grief: grief grieve grieving died death dead funeral grave cemetery mourning widow widower urn ashes coffin condolences obituary buried gravestone eulogy
birth: pregnant pregnancy baby midwife ultrasound womb trimester crib nursery birth newborn cot contractions due kicks embryo ivf miscarriage
dementia: dementia alzheimer memory forgets forgot forgotten confused carer
recovery of the body: physio physiotherapy crutch crutches knee hip rehab surgery surgeon scar stitches wound rehabilitation brace bandage ligament
operation splint
illness: chemo chemotherapy cancer tumour tumor oncologist biopsy diagnosis hospital ward scan remission radiation relapse symptoms consultant infusion
dialysis transplant insulin diabetes
drinking: sober sobriety drink drinking alcohol alcoholic wine beer aa relapse craving cravings bottle pub sponsor meeting
gambling: gamble gambling bet betting casino slots arcade odds
money: debt debts loan mortgage overdraft owe bailiff savings rent salary bankrupt bankruptcy interest repayments creditor instalment
love: date dates dating tinder kiss kissed love crush romance flirt wedding engaged proposal ring valentine
separation: divorce divorced separation separated lawyer custody ex solicitor alimony handover
belonging: belong belonging home homeland homesick foreigner abroad passport accent outsider immigrant visa citizenship language mother-tongue border
exile roots
music: band rehearsal guitar piano violin cello drums chord chords song songwriting gig concert stage bass choir melody sing singing orchestra trumpet
practise
writing: novel manuscript chapter poem poems poetry draft writer writing editor publisher rejection story stories words notebook
art: paint painted painting canvas easel brush sketch sketchbook draw drawing watercolour gallery sculpture pottery clay kiln exhibition pastel charcoal
running: marathon run running ran runner race kilometres trainers pace miles jog jogging parkrun splits
mountains: mountain mountains climb climbing climbed summit peak ridge rope hike hiking hut alps boulder bouldering trail
sea: sea sail sailing boat harbour waves tide starboard hull mast anchor keel plank planks surf lighthouse stern
garden: garden gardening allotment seeds seedlings sow sowed planted compost beds greenhouse pruned roses weeds digging dug soil
horses: horse horses pony stable saddle riding bridle hoof mare foal gallop
learning a language: vocabulary grammar verbs fluent dialect pronunciation conjugation subtitles
study: thesis dissertation supervisor exam exams viva lecture lectures university degree professor phd revision essay
teaching: teach teaching pupils classroom lesson lessons students class
house: renovate renovating renovation plaster plastering beams roof bricks builder builders attic rewiring foundations
birds: bird birds heron kestrel owl binoculars nest nesting migration swallow swallows warbler robin goldfinches finch kingfisher
stars: telescope stars comet galaxy nebula planet planets orbit astronomy eclipse constellation saturn jupiter
body: weight diet scales calories thin fat mirror kilos gym overweight binge
climate: climate glacier carbon protest demonstration activists emissions flood drought wildfire solar
war: war soldier soldiers bombs shelter refugee refugees army veteran trench
loneliness: lonely loneliness alone isolation isolated solitude
failure: fail failed failing failure failures rejected rejection loser
control: control controlling controlled powerless power
approval: approval approve praise praised prove impress good-enough enough
freedom: freedom free escape escaped trapped cage independence
time: ageing aging old older wrinkles grey retirement retired pension pensioner years
childhood: childhood child boyhood girlhood playground schoolyard
dreams: dream dreamed dreamt dreams dreaming nightmare
work too much: overtime burnout exhausted exhaustion workload deadline deadlines
caring: carer caring caregiver wheelchair nursing care feeding washing dressing
adoption: adopted adoption birth-mother orphanage foster biological
dogs: dog dogs puppy leash vet kennel bark barked paw paws lead
cats: cat cats kitten litter purr vet
driving: driving-test drive drives drove wheel clutch gearbox instructor stalled theory practical parked parking reversing learner motorway licence
license l-plates
allergy: allergy allergies allergic hazelnut nuts peanut peanuts epipen spots hives rash gluten coeliac celiac anaphylaxis
diabetes: insulin diabetes diabetic glucose hypo finger-prick injection
teeth: dentist tooth teeth braces crown root-canal molar orthodontist denture retainer
hearing: hearing deaf audiologist hearing-aid hearing-aids signing cochlear tinnitus subtitles
sight: eyesight glaucoma cataract retina optician blind braille cane
flood: flood floods flooded flooding dryers dehumidifier adjuster tide river sandbags damp mould
letters: letters envelope envelopes bundle stamps postmark handwriting correspondence penfriend
union: union strike picket ballot organiser organizer management collective wages shop-steward
lighthouse: lighthouse keeper warden foghorn
museum: museum exhibits exhibit curator tram trams
theatre: theatre stage rehearsal rehearsals script costume costumes props audience audition premiere curtain director cast
dancing: dance dancing dancer tango salsa ballet waltz steps studio barre partner
swimming: swim swimming swam pool lengths lanes crawl goggles breaststroke armbands
cycling: bicycle cycling bike saddle gears pedals tyre tyres cyclist panniers
football coaching: striker goalkeeper pitch league referee penalty dribble
chess: chess rook bishop endgame checkmate tournament blitz pawn pawns
fishing: fishing rod reel bait trout carp float angler hook bite
photography: camera lens darkroom negatives exposure tripod aperture shutter portrait portraits photographer
sewing: sewing sew sewed fabric pattern hem zip dress needle stitches quilt patchwork bobbin lining
knitting: knit knitting wool yarn needles sweater jumper rows purl crochet sleeve
wood: wood chisel plane dovetail oak workshop carve carved carving joints lathe spoon sanding varnish bench
pottery: clay wheel kiln glaze glazed bowl potter throwing mug mugs
bread: sourdough starter dough crumb loaf loaves crust proofing rye flour knead kneading
brewing: brew brewing hops malt yeast fermenter mash beer
farm: farm farmer cows cow milking calf calves sheep lamb lambs lambing ewe tractor herd shearing
hens: hens hen chickens chick chicks coop eggs rooster broody fox
fostering: foster fostering placement social-worker caseworker fostered siblings carer
school: school bully bullied bullying classmate classmates headteacher detention playground
exams: exam exams marks resit revision syllabus mock grades
job hunt: cv applied application applications interview interviews rejection rejections vacancy recruiter unemployed jobcentre
starting a business: business startup investors founder logo launch loan grant
retirement: retired retire retirement pension farewell
court: court judge jury lawyer hearing verdict witness trial evidence
politics: election council candidate vote votes canvassing leaflets campaign party polling mayor
volunteering: volunteer volunteering foodbank shelter charity donations soup-kitchen
flying: pilot cockpit runway glider gliding takeoff landing airfield solo propeller altitude
diving: dive diving diver wreck regulator reef oxygen mask fins
skiing: ski skiing slope slopes piste snowboard chairlift
magic: magic conjuring magician
clocks: clock clocks pendulum escapement chime watchmaker mainspring
radio: radio antenna transmitter morse callsign ham shortwave
robots: robot robots servo arduino sensor soldering circuit
games: sprites prototype playtest playtesters gameplay
film: film footage documentary screening
fungi: mushroom mushrooms chanterelle chanterelles spores cep ceps boletus foraging
trains of models: model railway locomotive track wagon gauge
transition: hormones testosterone oestrogen estrogen pronouns transition gender binder
menopause: menopause hot-flush flushes hormone oestrogen
migraine: migraine migraines aura triptan headache headaches
back pain: sciatica disc spine backache osteopath vertebra
panic: panic panicked attack attacks breathing hyperventilate
therapy: therapist therapy session sessions counsellor counselling
hoarding: clutter declutter decluttered junk hoard attic skip
inheritance: probate estate inheritance executor heirloom heirlooms solicitor
twins: twins twin
teenager: teenager teenage curfew puberty
breastfeeding: breastfeeding latch bottle formula pump feeds
house buying: mortgage viewing viewings estate-agent deposit
moving: moving boxes packed unpacked removal movers lease
commune: commune cohousing cooperative
pilgrimage: pilgrimage camino pilgrim pilgrims hostel blisters
night shift: nightshift shift shifts ward rota
firefighting: fire siren hose crew brigade
ambulance: ambulance paramedic siren stretcher defibrillator
tattoo: tattoo tattoos ink
hair: wig bald
genealogy: ancestor ancestors genealogy census parish surname
archaeology: dig trench shard shards potsherd excavation finds roman
geology: fossil fossils ammonite quarry limestone hammer
weaving: loom warp weft weaving shuttle
organ: organ pedals hymn organist
bells: bell bells ringing ringers tower
choir: choir tenor alto soprano bass psalm rehearsal sing sang singing hymn
wedding: wedding guests dress vows registrar bridesmaid bridesmaids bouquet groom bride reception fitting seating marquee
skin: eczema psoriasis rash dermatologist ointment cream skin itch itching itchy cracked flaky
podcast: podcast microphone episode episodes recorded listeners listens listener recording
navigation: chart buoy buoys knots navigation skipper skipper's compass overboard harbour port mooring
nights awake: insomnia awake asleep sleep sleepless valerian melatonin alarm three bedtime slept
blog: blog newsletter subscribers post posts
kayak: kayak canoe paddle paddling weir rapids
stepchild: stepson stepdaughter stepdad stepmum custody
`

// everydayWords are words that any text may have, and that are no theme.
var everydayWords = wordSet(`the and for with from that this these those there here have has had having was were been being are not did does doing done
can could will would
	should may might must shall about into over after before again then than them they their theirs she her hers him his its our ours your yours you who
			whom whose which what when where why
	how all any both each few more most other some such only own same too very just also still even ever never always often sometimes once twice much many
			lot lots
	one two three four five six seven eight nine ten eleven twelve first second third last next new old good better best bad worse worst big small little
			long short high low
	day days week weeks month months year years time times today tomorrow yesterday tonight morning afternoon evening night nights monday tuesday
			wednesday thursday friday saturday sunday
	january february march april june july august september october november december hour hours minute minutes half past quarter noon midnight weekend
			weekends
	go goes going gone went come comes coming came get gets getting got gotten make makes making made take takes taking took taken put puts putting give
			gives giving gave given
	say says saying said tell tells telling told ask asks asked asking know knows knew known think thinks thought thinking see sees saw seen seeing look
			looks looked looking find finds found
	want wants wanted need needs needed like likes liked love feel feels felt feeling seem seems seemed keep keeps kept let lets leave leaves left use
			uses used using try tries tried trying
	work works worked working call calls called talk talks talked talking turn turns turned start starts started end ends ended stop stops stopped move
			moves moved run show shows showed
	bring brings brought buy buys bought send sends sent pay pays paid read reads write wrote hear heard play plays played stand stood sit sat set meet
			met wait waited help helped
	thing things something anything nothing everything someone anyone everyone nobody somebody people person man men woman women guy way ways place places
			part parts bit kind sort side
	back down out off away around through under between because while until since though although without within during across against along behind beside
			near inside outside
	yes yeah okay fine well right really actually maybe probably perhaps quite almost already yet soon later now ago early late far close enough instead
			together alone almost whole
	room house home door floor table street road town city number word words name names line lines page pages list point points case question answer
			problem idea reason
	phone email mail message messages text texts photo photos picture pictures card paper form book office job school class meeting lunch dinner breakfast
			coffee tea water food
	money price euro euros dollar dollars pounds cost costs bus car train
	left right front top bottom open opened opens closed close closes full empty ready done finished sure true great nice lovely happy sad hard easy
			different same important free
	user assistant please thanks thank hello hi hey lol per via etc mr mrs ms dr got gets yet every another few less least several until upon
	eat ate eaten cook cooked wash washed clean cleaned drive drove walk walked pick picked bring check checked change changed fix fixed add added fill
			filled cut drop dropped pull push
	ask life world hand hands head face eye eyes heart mind voice
	however whatever whenever wherever whether unless either neither nor per cent
	day's week's mine myself yourself himself herself itself themselves ourselves
	two couple dozen hundred thousand twenty thirty forty fifty sixty ninety
	black white red green blue yellow grey brown dark light bright cold warm hot wet dry`)

// dailyWords are words that many texts have, and that are a theme only of very many.
var dailyWords = wordSet(`rather plan plans planned hope hopes goal goals wish prefer decide decided visit visited finish finished carry carried choose
chose remember forget forgot
	learned learnt learn neighbour neighbours neighbor sunny rain rainy noon queue bridge bridges train trains lift stairs fridge kitchen garden shelf
			drawer box boxes bag bags bottle key keys
	engineer engineers heating radiator window windows wall walls roof light lights lamp paint battery cable charger screen printer laptop computer file
			files link version update server build
	customer customers supplier invoice delivery order orders ordered receipt ticket tickets station platform delayed flight airport hotel breakfast
			sandwich bread butter cheese milk egg eggs
	fish rice soup salad potato potatoes onion onions apple apples cake biscuit biscuits sugar salt oven pan pot plate plates bowl cup spoon fork knife
			lid jar tin glass sock socks shirt shoe shoes
	coat jacket trousers hat scarf umbrella towel blanket pillow bed sofa chair carpet curtain cupboard shower sink tap toilet bin bins rubbish laundry
			washing iron ironed dishwasher vacuum
	doctor dentist appointment pharmacy shop shops supermarket market bank post library café restaurant pub park parking garage petrol fuel tyre tyres
			bike bicycle
	mum dad mother father sister brother son daughter wife husband aunt uncle cousin grandma grandson nephew niece friend friends kid kids baby child
			children family boss colleague colleagues
	radio television telly film series song songs game games match team cup score season ball goal player players winner won lost win lose
	open opens closed closes new old number numbers colour colours size sizes sale offer cheap expensive free minute metre metres kilometre kilometres
			litre litres gram grams kilo degrees percent
	recommend suggest explain translate write rewrite correct list example difference mean means meaning sentence spelling`)
