// wordcount counts the words of a text. It is a skill of the skill_alloc and
// skill_run ABI, in C without a library: JSON in, JSON out.
//
//   {"text": "To be, or not to be", "top": 1}
//   {"words":6,"unique":4,"characters":19,"sentences":1,"top":[{"word":"to","count":2}]}
//
// A word is a run of letters, digits and apostrophes; every character beyond
// ASCII is taken for a letter. Words are compared without the case of A to Z.

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long long u64;

#define EXPORT(name) __attribute__((export_name(#name)))

// Memory: everything is given out once, and the module is gone after the run.

extern byte __heap_base;
static u32 heap_end;

static void *alloc(u32 n) {
	if (heap_end == 0) heap_end = (u32)&__heap_base;
	u32 at = (heap_end + 7) & ~7u;
	u64 end = (u64)at + n, have = (u64)__builtin_wasm_memory_size(0) << 16;
	if (end > have && __builtin_wasm_memory_grow(0, (u32)((end - have + 0xffff) >> 16)) == (u32)-1)
		__builtin_trap();
	heap_end = (u32)end;
	return (void *)at;
}

EXPORT(skill_alloc) void *skill_alloc(u32 n) { return alloc(n); }

// Output: written once, in room that was measured to be enough.

static byte *out, *out_end;

static void put(byte c) {
	if (out == out_end) __builtin_trap();
	*out++ = c;
}

static void puts_(const char *s) {
	while (*s) put((byte)*s++);
}

static void put_number(u32 n) {
	byte digits[10];
	int k = 0;
	do digits[k++] = (byte)('0' + n % 10); while (n /= 10);
	while (k) put(digits[--k]);
}

// Input: helixd gives valid JSON, at most 1 MB and 1,000 levels deep, so this
// reads it without looking for mistakes; it never reads past the end.

static const byte *in, *in_end;

static byte peek(void) { return in < in_end ? *in : 0; }
static byte next(void) { return in < in_end ? *in++ : 0; }

static byte token(void) {
	for (;;) {
		byte c = peek();
		if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c;
		in++;
	}
}

static u32 hex4(void) {
	u32 n = 0;
	for (int i = 0; i < 4; i++) {
		byte c = next();
		n = n << 4 | (u32)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return n;
}

static byte *put_utf8(byte *to, u32 c) {
	if (c < 0x80) {
		*to++ = (byte)c;
	} else if (c < 0x800) {
		*to++ = (byte)(0xc0 | c >> 6), *to++ = (byte)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (byte)(0xe0 | c >> 12), *to++ = (byte)(0x80 | (c >> 6 & 63)), *to++ = (byte)(0x80 | (c & 63));
	} else {
		*to++ = (byte)(0xf0 | c >> 18), *to++ = (byte)(0x80 | (c >> 12 & 63));
		*to++ = (byte)(0x80 | (c >> 6 & 63)), *to++ = (byte)(0x80 | (c & 63));
	}
	return to;
}

// string reads a string's text to `to`, which is never longer than its JSON.
static byte *string(byte *to) {
	next();
	for (byte c; in < in_end && (c = next()) != '"';) {
		if (c != '\\') {
			*to++ = c;
			continue;
		}
		switch (c = next()) {
		case 'b': *to++ = '\b'; break;
		case 'f': *to++ = '\f'; break;
		case 'n': *to++ = '\n'; break;
		case 'r': *to++ = '\r'; break;
		case 't': *to++ = '\t'; break;
		case 'u': {
			u32 u = hex4();
			if (u >= 0xd800 && u < 0xdc00 && peek() == '\\') {
				next(), next();
				u32 low = hex4() - 0xdc00;
				if (low < 0x400) u = 0x10000 + ((u - 0xd800) << 10) + low;
			}
			// Half a pair is no character.
			to = put_utf8(to, u >= 0xd800 && u < 0xe000 ? 0xfffd : u);
			break;
		}
		default: *to++ = c; // " \ and /
		}
	}
	return to;
}

// skip passes over a value of any kind.
static void skip(void) {
	int depth = 0;
	do {
		byte c = token();
		if (c == '"') {
			for (next(); in < in_end && (c = next()) != '"';)
				if (c == '\\') next();
		} else {
			if (c == '{' || c == '[') depth++;
			if (c == '}' || c == ']') depth--;
			next();
			if (c != '{' && c != '[' && c != '}' && c != ']')
				while (peek() > ',' && peek() != ']' && peek() != '}' && peek() != ':') next();
		}
	} while (in < in_end && depth > 0);
}

static int is(const byte *a, const byte *end, const char *name) {
	while (a < end && *name && *a == (byte)*name) a++, name++;
	return a == end && !*name;
}

// Words: a table by their hash, open, at most half full.

struct word {
	byte *text;
	u32 length, count;
};

static struct word *table;
static u32 size, unique;

static struct word *find(byte *text, u32 length) {
	u32 h = 2166136261u;
	for (u32 i = 0; i < length; i++) h = (h ^ text[i]) * 16777619u;
	for (u32 at = h & (size - 1);; at = (at + 1) & (size - 1)) {
		struct word *w = &table[at];
		if (w->count == 0) {
			w->text = text, w->length = length, unique++;
			return w;
		}
		u32 i = 0;
		if (w->length == length)
			while (i < length && w->text[i] == text[i]) i++;
		if (i == length && w->length == length) return w;
	}
}

// before says whether a comes before b: the more frequent, then by its bytes.
static int before(const struct word *a, const struct word *b) {
	if (a->count != b->count) return a->count > b->count;
	for (u32 i = 0;; i++) {
		if (i == b->length) return 0;
		if (i == a->length) return 1;
		if (a->text[i] != b->text[i]) return a->text[i] < b->text[i];
	}
}

static int is_letter(byte c) {
	return c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

EXPORT(skill_run) u64 skill_run(const byte *input, u32 n) {
	in = input, in_end = input + n;
	byte *text = alloc(n), *end = text, *key = alloc(n);
	u32 top = 10;
	if (token() == '{') {
		for (next(); token() == '"';) {
			byte *name_end = string(key);
			token(), next(); // the colon
			byte c = token();
			if (c == '"' && is(key, name_end, "text")) {
				end = string(text);
			} else if (c >= '0' && c <= '9' && is(key, name_end, "top")) {
				for (top = 0; (c = peek()) >= '0' && c <= '9'; next()) top = top < 100 ? top * 10 + (u32)(c - '0') : 100;
				while ((c = peek()) == '.' || c == '+' || c == '-' || (c | 32) == 'e' || (c >= '0' && c <= '9')) next();
			} else {
				skip();
			}
			if (token() == ',') next(), token();
		}
	}
	if (top > 100) top = 100;

	for (size = 16; size < (u32)(end - text); size <<= 1) {}
	table = alloc(size * sizeof *table); // fresh memory is zero
	u32 words = 0, characters = 0, sentences = 0;
	int open = 0; // a sentence has begun
	for (byte *p = text; p < end;) {
		if (!is_letter(*p)) {
			if ((*p == '.' || *p == '!' || *p == '?') && open) sentences++, open = 0;
			characters++, p++;
			continue;
		}
		byte *start = p;
		for (; p < end && (is_letter(*p) || (*p == '\'' && p + 1 < end && is_letter(p[1]))); p++) {
			if ((*p & 0xc0) != 0x80) characters++;
			if (*p >= 'A' && *p <= 'Z') *p |= 32;
		}
		find(start, (u32)(p - start))->count++;
		words++, open = 1;
	}
	sentences += (u32)open;

	// The first of each round are found anew: top is at most 100.
	struct word **best = alloc((top + 1) * sizeof *best);
	u32 have = 0, room = 160;
	while (have < top && have < unique) {
		struct word *first = 0;
		for (u32 i = 0; i < size; i++) {
			struct word *w = &table[i];
			if (w->count && (!have || before(best[have - 1], w)) && (!first || before(w, first))) first = w;
		}
		best[have++] = first;
		room += first->length + 40;
	}

	byte *start = out = alloc(room);
	out_end = out + room;
	puts_("{\"words\":"), put_number(words);
	puts_(",\"unique\":"), put_number(unique);
	puts_(",\"characters\":"), put_number(characters);
	puts_(",\"sentences\":"), put_number(sentences);
	puts_(",\"top\":[");
	for (u32 i = 0; i < have; i++) {
		if (i) put(',');
		// A word holds nothing that JSON escapes.
		puts_("{\"word\":\"");
		for (u32 k = 0; k < best[i]->length; k++) put(best[i]->text[k]);
		puts_("\",\"count\":"), put_number(best[i]->count);
		put('}');
	}
	puts_("]}");
	return (u64)(u32)start << 32 | (u32)(out - start);
}
