package provider

import (
	"mime"
	"regexp"
	"strings"
)

var (
	tagShape = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$`)
	shortTag = regexp.MustCompile(`^[a-z]{2,3}$`)
)

// tag is a BCP 47 tag, or "" where the text does not look like one. What people
// write with an underscore is one, too.
func tag(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "_", "-")
	if !tagShape.MatchString(text) {
		return ""
	}
	return text
}

// shortLanguage is the language of a tag without its country, which is all that
// Whisper takes; "": it is none of two or three letters.
func shortLanguage(text string) string {
	short, _, _ := strings.Cut(strings.ToLower(tag(text)), "-")
	if !shortTag.MatchString(short) {
		return ""
	}
	return short
}

// whisperLanguage is the tag of a language as Whisper names it: "english", or "en".
func whisperLanguage(text string) string {
	name := strings.ToLower(strings.TrimSpace(text))
	if tag, ok := whisperNames[name]; ok {
		return tag
	}
	return tag(name)
}

// whisperNames are those of whisper/tokenizer.py. The tag of Javanese is BCP 47's.
var whisperNames = func() map[string]string {
	names := map[string]string{"haitian creole": "ht", "castilian": "es", "mandarin": "zh", "burmese": "my", "flemish": "nl", "moldavian": "ro"}
	for pair := range strings.FieldsSeq(`
		english:en chinese:zh german:de spanish:es russian:ru korean:ko french:fr japanese:ja portuguese:pt turkish:tr
		polish:pl catalan:ca dutch:nl arabic:ar swedish:sv italian:it indonesian:id hindi:hi finnish:fi vietnamese:vi
		hebrew:he ukrainian:uk greek:el malay:ms czech:cs romanian:ro danish:da hungarian:hu tamil:ta norwegian:no
		thai:th urdu:ur croatian:hr bulgarian:bg lithuanian:lt latin:la maori:mi malayalam:ml welsh:cy slovak:sk
		telugu:te persian:fa latvian:lv bengali:bn serbian:sr azerbaijani:az slovenian:sl kannada:kn estonian:et
		macedonian:mk breton:br basque:eu icelandic:is armenian:hy nepali:ne mongolian:mn bosnian:bs kazakh:kk
		albanian:sq swahili:sw galician:gl marathi:mr punjabi:pa sinhala:si khmer:km shona:sn yoruba:yo somali:so
		afrikaans:af occitan:oc georgian:ka belarusian:be tajik:tg sindhi:sd gujarati:gu amharic:am yiddish:yi lao:lo
		uzbek:uz faroese:fo pashto:ps turkmen:tk nynorsk:nn maltese:mt sanskrit:sa luxembourgish:lb myanmar:my
		tibetan:bo tagalog:tl malagasy:mg assamese:as tatar:tt hawaiian:haw lingala:ln hausa:ha bashkir:ba
		javanese:jv sundanese:su cantonese:yue`) {
		name, tag, _ := strings.Cut(pair, ":")
		names[name] = tag
	}
	return names
}()

// mediaType is what a Content-Type says of audio; what is no media type is not
// sent on.
func mediaType(contentType string) string {
	name, _, err := mime.ParseMediaType(contentType)
	if err != nil || !strings.Contains(name, "/") {
		return "application/octet-stream"
	}
	return name
}

// fileName is one that ends as the media type's files do: OpenAI's API goes by it.
func fileName(contentType string) string {
	switch mediaType(contentType) {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return "audio.wav"
	case "audio/webm", "video/webm":
		return "audio.webm"
	case "audio/ogg", "application/ogg", "audio/opus":
		return "audio.ogg"
	case "audio/mp4", "video/mp4":
		return "audio.mp4"
	case "audio/x-m4a", "audio/m4a", "audio/aac":
		return "audio.m4a"
	case "audio/mpeg", "audio/mp3":
		return "audio.mp3"
	case "audio/flac", "audio/x-flac":
		return "audio.flac"
	}
	return "audio.bin"
}
