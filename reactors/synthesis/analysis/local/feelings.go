package local

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The words of feelings, written for this package. Levels: 1 mild, 2 plain, 3 so strong
// that the word alone says it. What is often said of software, food or the body only
// ("sick", "tired", "confused") is not here.
//
// adj: "I feel …"; noun: "… came over me"; does: "I …"; makes: "it …s me"; is: "it is …".
// An item's words are joined by _; forms that are not regular stand after commas.
const feelingWords = `
fear adj 2: afraid scared frightened fearful spooked alarmed intimidated
	shaken rattled on_high_alert in_a_fright scared_of_my_own_shadow
fear adj 3: terrified petrified horrified panicked panicky terror_stricken panic_stricken scared_stiff scared_to_death
	in_terror frightened_out_of_my_wits terrified_out_of_my_mind scared_witless scared_silly in_a_blind_panic frozen_with_terror frozen_with_panic
	rigid_with_fear ill_with_fear white_with_fear
	scared_out_of_my_mind scared_out_of_my_wits frightened_to_death frozen_with_fear paralysed paralyzed in_a_panic in_panic sick_with_fear out_of_my_mind_with_fear
fear noun 2: fear fears fright phobia dread
fear noun 3: terror panic horror panic_attack panic_attacks
fear does 2: flinch,flinches,flinched
fear does 3: panic,panics,panicked,panicking freeze,freezes,froze,freezing
fear makes 2: scare frighten intimidate alarm freak,freaks,freaked spook
fear makes 3: terrify petrify horrify panic,panics,panicked paralyse paralyze
fear is 2: scary frightening intimidating
fear is 3: terrifying horrifying petrifying
anxiety adj 1: uneasy jittery restless apprehensive insecure edgy keyed_up ill_at_ease
anxiety adj 2: on_edge anxious nervous worried tense agitated jumpy fretful wound_up worked_up a_bundle_of_nerves a_nervous_wreck sick_with_worry
	a_wreck a_bag_of_nerves all_nerves all_jelly like_jelly strung_out twitchy antsy on_tenterhooks in_a_state in_a_tizzy jangly worried_to_death
	ill_with_worry ill_with_nerves a_trembling_mess a_shaking_mess a_quivering_mess stiff_with_nerves in_knots wired sick_with_nerves sick_with_dread
	worried_sick self-conscious self_conscious knotted_up tied_in_knots trapped claustrophobic paranoid sick_to_my_stomach
anxiety noun 2: anxiety worry worries nerves unease nervousness tension apprehension butterflies anxieties jitters social_anxiety
anxiety does 2: worry fret ruminate overthink,overthinks,overthought,overthinking catastrophise catastrophize
	spiral,spirals,spiralled,spiraled,spiralling,spiraling tense_up,tenses_up,tensed_up,tensing_up clam_up,clams_up,clammed_up dread brood
anxiety makes 2: worry unsettle unnerve rattle disturb
anxiety is 2: nerve-wracking nerve_wracking nerve_racking unsettling unnerving worrying
stress adj 2: stressed overwhelmed overloaded pressured frazzled stressed_out burnt_out burned_out under_pressure
	snowed_under at_the_end_of_my_tether at_my_wits_end maxed_out swamped cracking_up worn_thin stretched_thin
	under_a_lot_of_pressure at_my_limit at_breaking_point frantic flustered harried drained
stress noun 2: stress pressure overwhelm burnout strain
stress makes 2: stress overwhelm
stress is 2: stressful overwhelming draining
anger adj 1: annoyed irritated cross grumpy irritable snappy impatient cranky moody
anger adj 2: angry mad frustrated resentful bitter hostile aggravated exasperated indignant offended defensive ticked_off
	ratty spitting_feathers hopping_mad up_in_arms steaming het_up riled riled_up enraged ready_to_scream ready_to_explode cheesed_off hacked_off
	pissed pissed_off hot_under_the_collar fed_up touchy outraged
anger adj 3: furious livid enraged incensed infuriated seething irate raging apoplectic incandescent boiling seeing_red
	in_a_rage in_a_fury wild_with_rage wild_with_anger white_with_rage white_with_anger mad_with_rage spitting_with_rage
	blind_with_rage beside_myself_with_anger beside_myself_with_rage boiling_with_rage boiling_over fuming shaking_with_rage shaking_with_anger boiling_inside
anger noun 2: anger frustration resentment irritation annoyance bitterness hostility temper indignation
anger noun 3: rage fury hatred outrage wrath
anger does 3: boil_inside boiled_inside
anger does 2: resent seethe fume bristle lose_my_temper loses_my_temper lost_my_temper lose_it lost_it see_red saw_red blow_up
	blew_up lash_out lashed_out clench_my_fists grit_my_teeth
anger makes 1: annoy irritate irk
anger makes 2: anger frustrate upset,upsets aggravate exasperate offend
anger makes 3: enrage infuriate incense
anger is 1: annoying irritating
anger is 2: frustrating infuriating maddening
sadness adj 1: down low blue gloomy glum melancholy melancholic wistful subdued deflated nostalgic
sadness adj 2: sad homesick unhappy miserable upset depressed tearful hopeless dejected downcast sorrowful heavy heavy-hearted
	in_bits bleak heavy_hearted sick_at_heart dead_inside joyless wrung_out inconsolably_sad tear-stained blubbing bawling in_floods lachrymose sombre
	weepy discouraged disheartened dispirited despondent gutted empty hollow in_a_dark_place numb lost broken crushed defeated forlorn mournful
	teary choked_up close_to_tears in_tears helpless powerless worthless down_in_the_dumps pessimistic
sadness adj 3: devastated heartbroken distraught inconsolable shattered desolate desperate despairing grief-stricken grief_stricken
	wretched suicidal bereft broken-hearted broken_hearted torn_apart in_pieces anguished beside_myself_with_grief
sadness noun 2: sadness sorrow grief depression misery unhappiness melancholy hopelessness emptiness gloom tears heartache
	helplessness homesickness longing
sadness noun 3: despair heartbreak anguish agony devastation desperation
sadness does 3: howl
sadness does 2: long_for_home cry weep,weeps,wept,weeping sob,sobs,sobbed,sobbing grieve mourn despair tear_up tears_up teared_up well_up break_down
	broke_down burst_into_tears fall_apart fell_apart choke_up go_to_pieces went_to_pieces want_to_cry feel_like_crying could_cry
sadness makes 2: sadden depress hurt,hurts crush,crushes discourage dishearten deflate
sadness makes 3: devastate
sadness is 2: depressing heartbreaking upsetting devastating
loneliness adj 2: lonely so_alone all_alone completely_alone utterly_alone terribly_alone isolated abandoned excluded rejected unwanted unloved invisible lonesome left_out cut_off
	disconnected forgotten neglected friendless
loneliness does 2: feel_alone feel_so_alone felt_alone felt_so_alone
loneliness noun 2: loneliness isolation rejection abandonment
loneliness is 2: lonely isolating
shame adj 1: embarrassed awkward sheepish
shame adj 2: ashamed guilty inadequate inferior humiliated exposed small stupid useless pathetic incompetent not_good_enough
	like_rubbish like_dirt like_nobody like_a_nobody two_inches_tall ridiculous like_an_outsider worthless like_a_fool like_a_child disgusted_with_myself
	ashamed_of_myself disgraced shamed like_scum
	never_good_enough like_a_failure like_a_fraud like_an_impostor like_an_imposter like_a_burden like_a_loser like_an_idiot judged
	belittled remorseful foolish like_a_fool like_i_do_not_belong like_nothing like_i_am_not_enough like_i_am_not_good_enough
shame adj 3: mortified
shame noun 2: shame guilt embarrassment humiliation remorse regret self-doubt self_doubt inferiority inadequacy self-loathing self-hatred
shame does 2: cringe blush shrink,shrinks,shrank hate_myself hated_myself blame_myself beat_myself_up
shame makes 2: embarrass shame humiliate belittle
shame is 2: humiliating embarrassing
envy adj 2: jealous envious
	green_with_envy eaten_up_with_jealousy sick_with_envy sick_with_jealousy
envy noun 2: jealousy envy
disgust adj 2: disgusted repulsed revolted appalled sickened
disgust noun 2: disgust revulsion
disgust makes 2: disgust repulse sicken
disappointment adj 2: disappointed disillusioned betrayed hurt deceived let_down unappreciated taken_for_granted unheard
	misunderstood disrespected ignored wounded dismissed overlooked undervalued unseen slighted
disappointment noun 2: disappointment hurt betrayal disillusionment
disappointment makes 2: disappoint wound
joy adj 1: pleased content cheerful glad fulfilled upbeat alive
joy adj 2: happy joyful delighted excited thrilled merry energised energized elated inspired hopeful optimistic enthusiastic
	jolly chirpy tickled_pink gleeful blissfully_happy thrilled_to_bits stoked pumped hyped in_high_spirits happy_as_larry on_a_high carefree lighthearted
	light-hearted exultant festive cock-a-hoop sunny gladdened delirious warm_and_happy silly_with_happiness silly_with_joy
	playful giddy uplifted radiant invigorated on_top_of_the_world bubbly jubilant full_of_joy full_of_energy full_of_life recharged buzzing happy_as_a_lark beaming
joy adj 3: ecstatic overjoyed euphoric exhilarated blissful rapturous over_the_moon on_cloud_nine in_seventh_heaven
	bursting_with_joy bursting_with_happiness walking_on_air
joy noun 2: joy happiness delight excitement hope enthusiasm
joy noun 3: euphoria elation ecstasy bliss exhilaration
joy does 2: light_up lights_up beam grin,grins,grinned,grinning come_alive
joy makes 2: delight excite energise energize uplift inspire
joy makes 3: thrill
love adj 3: in_love head_over_heels madly_in_love overwhelmed_with_awe awestruck overwhelmed_with_love smitten
love adj 2: grateful thankful loved touched moved proud safe appreciated connected valued accepted supported understood blessed
	full_of_love full_of_tenderness full_of_pride bursting_with_pride tender besotted cherished
	cared_for adored
love noun 2: love awe gratitude affection tenderness pride warmth closeness
calm adj 2: calm calmer peaceful relaxed serene grounded centred centered at_peace at_ease soothed mellow tranquil relieved carefree
	at_ease_with_the_world unhurried composed settled still_inside
calm noun 2: calm peace relief serenity calmness
calm makes 2: calm soothe relax comfort
calm is 2: calming soothing
`

// feeling is what a word tells of.
type feeling struct {
	family string
	level  int
}

// negative says of each family whether one would rather be without it.
var negative = map[string]bool{"fear": true, "anxiety": true, "stress": true, "anger": true, "sadness": true, "loneliness": true,
	"shame": true, "envy": true, "disgust": true, "disappointment": true, "joy": false, "love": false, "calm": false}

// felt is the feelings by their words, once ready.
var felt feelingTable

type feelingTable struct {
	of  map[string]map[string]feeling // form → words → feeling
	any map[string]feeling            // of all forms
}

func readFeelings(table string) feelingTable {
	t := feelingTable{of: map[string]map[string]feeling{}, any: map[string]feeling{}}
	table = strings.ReplaceAll(strings.TrimSpace(table), "\n\t", " ")
	for _, line := range strings.Split(table, "\n") {
		head, items, ok := strings.Cut(line, ":")
		var f feeling
		var form string
		if n, err := fmt.Sscanf(head, "%s %s %d", &f.family, &form, &f.level); !ok || err != nil || n != 3 {
			panic("local: feelings: " + line)
		}
		if t.of[form] == nil {
			t.of[form] = map[string]feeling{}
		}
		for _, item := range strings.Fields(items) {
			for _, w := range inflected(strings.NewReplacer("_", " ", "-", " ").Replace(item), form) {
				for _, of := range []map[string]feeling{t.of[form], t.any} {
					if _, there := of[w]; !there {
						of[w] = f
					}
				}
			}
		}
	}
	return t
}

// inflected gives the forms of an item: as they are given, or of a regular verb.
func inflected(item, form string) []string {
	if forms := strings.Split(item, ","); len(forms) > 1 {
		return forms
	}
	if (form != "does" && form != "makes") || strings.Contains(item, " ") {
		return []string{item}
	}
	return append([]string{item}, verbForms(item)...)
}

// verbForms gives the third person, the past and the -ing form of a regular verb.
func verbForms(verb string) []string {
	last := verb[len(verb)-1]
	switch {
	case strings.HasSuffix(verb, "e"):
		return []string{verb + "s", verb + "d", verb[:len(verb)-1] + "ing"}
	case last == 'y' && !strings.ContainsRune("aeiou", rune(verb[len(verb)-2])):
		return []string{verb[:len(verb)-1] + "ies", verb[:len(verb)-1] + "ied", verb + "ing"}
	case strings.HasSuffix(verb, "s") || strings.HasSuffix(verb, "sh") || strings.HasSuffix(verb, "ch"):
		return []string{verb + "es", verb + "ed", verb + "ing"}
	}
	return []string{verb + "s", verb + "ed", verb + "ing"}
}

// feelings is the classes of feelings: by form, and the bad ones of each; once ready.
var feelings = map[string]string{}

func feelingClasses() map[string]string {
	of := map[string]map[string]bool{}
	add := func(class, words string) {
		if of[class] == nil {
			of[class] = map[string]bool{}
		}
		of[class][words] = true
	}
	for form, all := range felt.of {
		for w, f := range all {
			name := "feel_" + form // feel_adj, feel_noun, feel_does, feel_makes, feel_is
			add(name, w)
			if negative[f.family] {
				add(name+"_bad", w)
			}
		}
	}
	classes := map[string]string{}
	for name, words := range of {
		sorted := slices.Sorted(maps.Keys(words))
		slices.SortStableFunc(sorted, func(a, b string) int { return len(b) - len(a) }) // the longest first
		classes[name] = strings.Join(sorted, "|")
	}
	return classes
}
