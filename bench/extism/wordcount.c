// wordcount for Extism: the same source as helixd's example, behind Extism's ABI.
// Input and output are copied through the kernel's memory, as its PDKs do.

#include "../../examples/skills/wordcount/wordcount.c"

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(#name)))

IMPORT(input_length) extern u64 input_length(void);
IMPORT(input_load_u8) extern byte input_load_u8(u64 at);
IMPORT(input_load_u64) extern u64 input_load_u64(u64 at);
IMPORT(alloc) extern u64 extism_alloc(u64 n);
IMPORT(store_u8) extern void store_u8(u64 at, byte v);
IMPORT(store_u64) extern void store_u64(u64 at, u64 v);
IMPORT(output_set) extern void output_set(u64 at, u64 n);

// clean undoes the last call, where an instance is used again: the example relies
// on fresh memory.
static void clean(void) {
	for (byte *p = &__heap_base; heap_end && p < (byte *)heap_end; p++) *p = 0;
	heap_end = 0;
	unique = 0;
}

EXPORT(count) int count(void) {
	clean();
	u32 n = (u32)input_length(), i = 0;
	byte *input = alloc(n);
	for (; i + 8 <= n; i += 8) *(u64 *)(input + i) = input_load_u64(i);
	for (; i < n; i++) input[i] = input_load_u8(i);

	u64 result = skill_run(input, n);
	const byte *from = (const byte *)(u32)(result >> 32);
	n = (u32)result;
	u64 to = extism_alloc(n);
	for (i = 0; i + 8 <= n; i += 8) store_u64(to + i, *(const u64 *)(from + i));
	for (; i < n; i++) store_u8(to + i, from[i]);
	output_set(to, n);
	return 0;
}
