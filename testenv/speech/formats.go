package speech

// A Format is a way in which a recording arrives.
type Format struct {
	Name string // a file's name without extension; unique
	Ext  string // with its dot
	MIME string // what a client says it is
	Args string // ffmpeg's arguments between input and output
}

// Formats are what browsers, phones and programs record, and what they lie about.
// "streamed" ones are written as to a pipe: without duration, index or sizes.
// HE-AAC is not among them: Debian has no encoder for it.
var Formats = []Format{
	// What Chromium's MediaRecorder writes, imitated; see Recorded for its own.
	{"webm-opus-stereo-streamed", ".webm", "audio/webm;codecs=opus", "-c:a libopus -b:a 128k -ac 2 -ar 48000 -f webm -seekable 0"},
	{"webm-opus-mono-streamed", ".webm", "audio/webm;codecs=opus", "-c:a libopus -b:a 32k -ar 48000 -f webm -seekable 0"},
	{"webm-opus-left-only-streamed", ".webm", "audio/webm", "-af pan=stereo|c0=c0 -c:a libopus -ar 48000 -f webm -seekable 0"},
	{"webm-pcm-f32-streamed", ".webm", "audio/webm;codecs=pcm", "-c:a pcm_f32le -ar 44100 -f matroska -seekable 0"},
	{"mp4-opus-fragmented", ".mp4", "audio/mp4", "-c:a libopus -ac 2 -ar 48000 -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 1000000 -seekable 0"},
	{"webm-vp8-opus", ".webm", "video/webm;codecs=vp8,opus", "-f lavfi -i testsrc=size=64x48:rate=5 -map 0:a -map 1:v -shortest -c:v libvpx -c:a libopus -ar 48000"},

	// Matroska.
	{"webm-opus", ".webm", "audio/webm", "-c:a libopus -ac 2 -ar 48000"},
	{"webm-opus-16k-voip", ".webm", "audio/webm", "-c:a libopus -ar 16000 -b:a 24k -application voip"},
	{"webm-opus-8k", ".webm", "audio/webm", "-c:a libopus -ar 8000 -b:a 16k"},
	{"webm-opus-60ms", ".webm", "audio/webm", "-c:a libopus -ar 48000 -frame_duration 60"},
	{"webm-opus-2.5ms", ".webm", "audio/webm", "-c:a libopus -ar 48000 -frame_duration 2.5 -application lowdelay"},
	{"webm-opus-5.1", ".webm", "audio/webm", "-ac 6 -c:a libopus -mapping_family 1 -b:a 192k -ar 48000"},
	{"webm-vorbis", ".webm", "audio/webm;codecs=vorbis", "-c:a libvorbis -ac 2 -ar 44100"},
	{"mka-opus", ".mka", "audio/x-matroska", "-c:a libopus -ar 48000"},
	{"mka-flac", ".mka", "audio/x-matroska", "-c:a flac -ar 44100"},
	{"mka-aac", ".mka", "audio/x-matroska", "-c:a aac -ac 2 -ar 44100"},
	{"mka-mp3", ".mka", "audio/x-matroska", "-c:a libmp3lame -ar 44100"},
	{"mka-pcm", ".mka", "audio/x-matroska", "-c:a pcm_s16le -ac 2 -ar 48000"},
	{"mkv-h264-aac", ".mkv", "video/x-matroska", "-f lavfi -i testsrc=size=64x48:rate=5 -map 1:v -map 0:a -shortest -c:v libx264 -c:a aac -ar 48000"},

	// MP4 and QuickTime: Safari, phones, voice memos.
	{"mp4-aac-fragmented", ".mp4", "audio/mp4", "-c:a aac -ar 48000 -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 1000000"},
	{"mp4-aac-fragmented-streamed", ".mp4", "audio/mp4;codecs=mp4a.40.2", "-c:a aac -ar 44100 -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 500000 -seekable 0"},
	{"mp4-aac-stereo", ".mp4", "audio/mp4", "-c:a aac -ac 2 -ar 44100"},
	{"m4a-aac", ".m4a", "audio/x-m4a", "-c:a aac -ar 48000 -b:a 64k"},
	{"m4a-aac-faststart", ".m4a", "audio/mp4", "-c:a aac -ac 2 -ar 48000 -movflags +faststart"},
	{"m4a-aac-8k", ".m4a", "audio/mp4", "-c:a aac -ar 8000 -b:a 24k"},
	{"m4a-aac-22k", ".m4a", "audio/mp4", "-c:a aac -ar 22050"},
	{"m4a-aac-96k", ".m4a", "audio/mp4", "-c:a aac -ac 2 -ar 96000"},
	{"m4a-aac-5.1", ".m4a", "audio/mp4", "-ac 6 -c:a aac -ar 48000"},
	{"m4a-alac", ".m4a", "audio/x-m4a", "-c:a alac -ar 48000"},
	{"m4a-alac-stereo-44k", ".m4a", "audio/x-m4a", "-c:a alac -ac 2 -ar 44100"},
	{"m4a-alac-24bit", ".m4a", "audio/x-m4a", "-c:a alac -sample_fmt s32p -ac 2 -ar 96000"},
	{"mp4-opus", ".mp4", "audio/mp4;codecs=opus", "-c:a libopus -ar 48000"},
	{"mp4-flac", ".mp4", "audio/mp4;codecs=flac", "-c:a flac -ac 2 -ar 48000 -strict experimental"},
	{"mp4-mp3", ".mp4", "audio/mp4", "-c:a libmp3lame -ar 44100"},
	{"mp4-h264-aac", ".mp4", "video/mp4", "-f lavfi -i testsrc=size=64x48:rate=5 -map 1:v -map 0:a -shortest -c:v libx264 -c:a aac -ac 2 -ar 48000"},
	{"mov-pcm", ".mov", "video/quicktime", "-c:a pcm_s16be -ac 2 -ar 48000"},
	{"mov-ima", ".mov", "video/quicktime", "-c:a adpcm_ima_qt -ar 44100"},
	{"3gp-aac", ".3gp", "audio/3gpp", "-c:a aac -ar 16000 -b:a 32k"},

	// AAC without a container.
	{"adts-aac-stereo", ".aac", "audio/aac", "-c:a aac -ac 2 -ar 44100"},
	{"adts-aac-16k", ".aac", "audio/aac", "-c:a aac -ar 16000"},
	{"adts-aac-48k", ".aac", "audio/aac", "-c:a aac -ar 48000 -b:a 48k"},

	// Ogg: Firefox, messengers.
	{"ogg-opus", ".ogg", "audio/ogg;codecs=opus", "-c:a libopus -ar 48000"},
	{"ogg-opus-stereo-streamed", ".ogg", "audio/ogg", "-c:a libopus -ac 2 -ar 48000 -seekable 0"},
	{"opus-16k", ".opus", "audio/ogg", "-c:a libopus -ar 16000 -b:a 16k -application voip"},
	{"opus-24k-40ms", ".opus", "audio/opus", "-c:a libopus -ar 24000 -frame_duration 40"},
	{"ogg-vorbis", ".ogg", "audio/ogg;codecs=vorbis", "-c:a libvorbis -ac 2 -ar 44100"},
	{"ogg-vorbis-22k", ".ogg", "audio/ogg", "-c:a libvorbis -ar 22050"},
	{"ogg-vorbis-48k-streamed", ".oga", "audio/ogg", "-c:a libvorbis -ar 48000 -seekable 0"},
	{"ogg-flac", ".oga", "audio/ogg", "-c:a flac -ar 44100"},

	// MP3.
	{"mp3", ".mp3", "audio/mpeg", "-c:a libmp3lame -b:a 128k -ac 2 -ar 44100"},
	{"mp3-vbr", ".mp3", "audio/mpeg", "-c:a libmp3lame -q:a 4 -ar 44100"},
	{"mp3-8k", ".mp3", "audio/mpeg", "-c:a libmp3lame -ar 8000 -b:a 24k"},
	{"mp3-11k", ".mp3", "audio/mpeg", "-c:a libmp3lame -ar 11025"},
	{"mp3-16k", ".mp3", "audio/mp3", "-c:a libmp3lame -ar 16000"},
	{"mp3-22k", ".mp3", "audio/mpeg", "-c:a libmp3lame -ar 22050"},
	{"mp3-22k-stereo", ".mp3", "audio/mpeg", "-c:a libmp3lame -ac 2 -ar 22050"},
	{"mp3-32k", ".mp3", "audio/mpeg", "-c:a libmp3lame -ar 32000"},
	{"mp3-48k-320", ".mp3", "audio/mpeg", "-c:a libmp3lame -b:a 320k -ac 2 -ar 48000"},
	{"mp3-bare", ".mp3", "audio/mpeg", "-c:a libmp3lame -ar 44100 -write_xing 0 -id3v2_version 0"},
	{"mp3-tagged", ".mp3", "audio/mpeg", "-f lavfi -i color=size=64x64:duration=0.1 -map 0:a -map 1:v -frames:v 1 -c:v mjpeg -disposition:v attached_pic -metadata title=memo -c:a libmp3lame -ac 2 -ar 44100"},

	// FLAC.
	{"flac", ".flac", "audio/flac", "-c:a flac"},
	{"flac-stereo-44k", ".flac", "audio/flac", "-c:a flac -ac 2 -ar 44100"},
	{"flac-24bit", ".flac", "audio/x-flac", "-c:a flac -sample_fmt s32 -ac 2 -ar 48000"},
	{"flac-24bit-96k", ".flac", "audio/flac", "-c:a flac -sample_fmt s32 -ar 96000"},
	{"flac-8k", ".flac", "audio/flac", "-c:a flac -ar 8000"},
	{"flac-5.1", ".flac", "audio/flac", "-ac 6 -c:a flac -ar 48000"},
	{"flac-streamed", ".flac", "audio/flac", "-c:a flac -ar 48000 -seekable 0"},

	// WAV.
	{"wav-s16", ".wav", "audio/wav", "-c:a pcm_s16le"},
	{"wav-s16-stereo", ".wav", "audio/x-wav", "-c:a pcm_s16le -ac 2 -ar 44100"},
	{"wav-s16-streamed", ".wav", "audio/wav", "-c:a pcm_s16le -ar 48000 -seekable 0"},
	{"wav-s24", ".wav", "audio/wav", "-c:a pcm_s24le -ac 2 -ar 48000"},
	{"wav-s24-96k", ".wav", "audio/wav", "-c:a pcm_s24le -ar 96000"},
	{"wav-s32", ".wav", "audio/wav", "-c:a pcm_s32le -ar 44100"},
	{"wav-f32", ".wav", "audio/wav", "-c:a pcm_f32le -ac 2 -ar 48000"},
	{"wav-f64", ".wav", "audio/wav", "-c:a pcm_f64le -ar 48000"},
	{"wav-u8", ".wav", "audio/wav", "-c:a pcm_u8 -ar 22050"},
	{"wav-mulaw-8k", ".wav", "audio/wav", "-c:a pcm_mulaw -ar 8000"},
	{"wav-alaw-8k", ".wav", "audio/wav", "-c:a pcm_alaw -ar 8000"},
	{"wav-adpcm-ms", ".wav", "audio/wav", "-c:a adpcm_ms -ar 22050"},
	{"wav-adpcm-ima", ".wav", "audio/wav", "-c:a adpcm_ima_wav -ar 44100"},
	{"wav-gsm", ".wav", "audio/wav", "-c:a libgsm_ms -ar 8000"},
	{"wav-5.1", ".wav", "audio/wav", "-ac 6 -c:a pcm_s16le -ar 48000"},
	{"wav-rf64", ".wav", "audio/wav", "-rf64 always -c:a pcm_s16le -ar 44100"},
	{"w64", ".w64", "audio/x-w64", "-c:a pcm_s16le -ac 2 -ar 48000"},

	// Apple's.
	{"caf-pcm", ".caf", "audio/x-caf", "-c:a pcm_s16be -ac 2 -ar 44100"},
	{"caf-f32", ".caf", "audio/x-caf", "-c:a pcm_f32le -ar 48000"},
	{"caf-alac", ".caf", "audio/x-caf", "-c:a alac -ar 44100"},
	{"caf-opus", ".caf", "audio/x-caf", "-c:a libopus -ar 48000"},
	{"aiff", ".aiff", "audio/aiff", "-c:a pcm_s16be -ac 2 -ar 44100"},
	{"aiff-24bit", ".aif", "audio/x-aiff", "-c:a pcm_s24be -ar 48000"},
	{"aifc-f32", ".aifc", "audio/aiff", "-c:a pcm_f32be -ar 48000 -f aiff"},

	// Names and types that are not what is inside.
	{"webm-named-mp4", ".mp4", "audio/mp4", "-c:a libopus -ac 2 -ar 48000 -f webm -seekable 0"},
	{"ogg-named-webm", ".webm", "audio/webm", "-c:a libopus -ar 48000 -f ogg"},
	{"wav-named-mp3", ".mp3", "audio/mpeg", "-c:a pcm_s16le -ar 44100 -f wav"},
	{"mp3-named-wav", ".wav", "audio/wav", "-c:a libmp3lame -ac 2 -ar 44100 -f mp3"},
	{"m4a-named-ogg", ".ogg", "audio/ogg", "-c:a aac -ar 44100 -f ipod"},
	{"adts-named-m4a", ".m4a", "audio/mp4", "-c:a aac -ar 44100 -f adts"},
	{"flac-named-bin", ".bin", "application/octet-stream", "-c:a flac -ar 44100 -f flac"},
	{"webm-named-nothing", "", "", "-c:a libopus -ar 48000 -f webm"},
	{"aac-said-to-be-text", ".m4a", "text/plain", "-c:a aac -ac 2 -ar 48000"},
}
