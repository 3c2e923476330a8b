// What libavutil's sources need to compile and wasi-libc lacks; none of it is
// linked.

#ifndef MISSING_H
#define MISSING_H

char *tempnam(const char *dir, const char *prefix);
#define F_DUPFD_CLOEXEC 1

#endif
