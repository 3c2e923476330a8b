package speech

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Voice is one of flite's.
type Voice string

// The voices that recognisers hear well: a man's and a woman's, both at 16 kHz.
const (
	RMS Voice = "rms"
	SLT Voice = "slt"
)

// Sentences are plain words, in 4 to 9 seconds each.
var Sentences = []string{
	"The train to the city leaves at nine in the morning and comes back late in the evening.",
	"The doctor told me to drink more water, eat more vegetables, and sleep at least eight hours.",
	"The meeting with the new customer has been moved from Monday to Wednesday afternoon.",
	"Her grandmother lives in a small village near the sea, and she has a dog and two horses.",
	"The museum is closed on Monday, but on every other day it is open until six in the evening.",
	"I left my umbrella on the bus this morning, and now it looks like it is going to rain.",
	"The teacher asked the students to read the first chapter and to write down their questions.",
	"If the weather is good on Sunday, we will take the bicycles and ride along the river.",
	"The recipe says to mix the flour with the eggs and then slowly add a cup of warm milk.",
	"My sister works in a hospital at night, so she usually sleeps until two in the afternoon.",
	"The bridge was built more than a hundred years ago, and it is still in very good condition.",
	"There is a small shop on the corner that sells fresh fish, cheese, and very good coffee.",
	"Yesterday I finished reading the book that you gave me, and I liked the ending very much.",
	"The farmer gets up before the sun, feeds the animals, and then has a big breakfast.",
	"They decided to sell the boat and to spend the money on a trip around the world.",
	"Every evening the old man sits by the window, drinks a cup of tea, and watches the street.",
	"We have to leave the hotel before eleven, but we can leave our bags at the front desk.",
	"At the end of the road you turn left, and then you will see the church on your right.",
	"The winter was so cold that the water in the pipes turned to ice and broke them.",
	"She opened the box very carefully, and inside it she found a picture of her father.",
	"The team lost the first game, but they won the second and the third one easily.",
	"This computer is much faster than the old one, but it also makes a lot more noise.",
	"On the table there was a basket of apples, a loaf of bread, and a large piece of cheese.",
	"The manager wants to see the final numbers before the end of the month.",
}

// rate is that of flite's voices and of what Say writes, in samples a second.
const rate = 16000

// Say writes a WAV of 16 kHz, mono, 16 bits, in which voice says text, with a
// quarter of a second of silence on both sides: flite begins at once, which
// recognisers are not used to.
func Say(ctx context.Context, voice Voice, text, path string) error {
	spoken, err := os.CreateTemp(filepath.Dir(path), "flite-*.wav")
	if err != nil {
		return err
	}
	defer os.Remove(spoken.Name())
	if err := spoken.Close(); err != nil {
		return err
	}
	if err := run(ctx, "flite", "-voice", string(voice), "-t", text, "-o", spoken.Name()); err != nil {
		return err
	}
	return run(ctx, "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", spoken.Name(),
		"-af", "adelay=250,apad=pad_dur=0.25", "-ar", fmt.Sprint(rate), "-ac", "1", "-c:a", "pcm_s16le",
		"-fflags", "+bitexact", path) // with no tags, so that the header has 44 bytes
}

// length is the duration of what Say wrote.
func length(path string) (time.Duration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return time.Duration(info.Size()-44) * time.Second / (2 * rate), nil
}
