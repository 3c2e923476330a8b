// Package wav writes and splits WAV files of 16 kHz mono 16-bit PCM.
package wav
