// What FFmpeg's libraries refer to and this decoder does without: clocks,
// waiting, randomness, the environment and files. Without these the module would
// import them.

#include <errno.h>
#include <fcntl.h>
#include <libavutil/random_seed.h>
#include <libavutil/time.h>
#include <stdlib.h>

int64_t av_gettime(void) { return 0; }
int64_t av_gettime_relative(void) { return 0; }
int av_gettime_relative_is_monotonic(void) { return 1; }
int av_usleep(unsigned microseconds) { return 0; }
uint32_t av_get_random_seed(void) { return 0; }
char *getenv(const char *name) { return NULL; }
