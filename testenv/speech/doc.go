// Package speech makes recordings with known words, for tests, the demo and
// benchmarks: flite speaks ([Say]), ffmpeg writes what browsers, phones and
// programs write ([Formats]), and Chromium records through its own MediaRecorder
// ([Recorded]). testenv/voice.sh installs these programs.
//
// [Corpus] and Recorded make their files once, under .helix/speech, in a folder
// for each content of the recipe.
package speech
