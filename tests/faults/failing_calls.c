/* Makes chosen writes, syncs and truncations of a process fail, as a full or broken disk does.
 *
 * Loaded with LD_PRELOAD. Until `faults_arm` is called it does nothing. Then it counts the calls of the chosen
 * kinds whose file matches a pattern, and lets some of them fail with an errno: the `first`-th of them (from 0)
 * and the `times - 1` that follow, or all that follow where `times` is negative. One rule at a time.
 *
 *   cc -shared -fPIC -O1 -o failing_calls.so failing_calls.c -ldl
 *
 * `tests/faults/failing_calls.py` builds it and calls it from Python.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITES = 1, SYNCS = 2, TRUNCATIONS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int kinds; /* which calls; 0: no rule */
    char pattern[PATH_MAX];
    long first, times, partial, seen, failed;
    int error;
} rule;

/* Set the rule. `partial` bytes of a write that fails are written all the same, as when a disk becomes full. */
void faults_arm(const char *pattern, int kinds, long first, long times, int error, long partial) {
    pthread_mutex_lock(&lock);
    snprintf(rule.pattern, sizeof rule.pattern, "%s", pattern);
    rule.first = first;
    rule.times = times;
    rule.error = error;
    rule.partial = partial;
    rule.seen = rule.failed = 0;
    rule.kinds = kinds;
    pthread_mutex_unlock(&lock);
}

void faults_disarm(void) { rule.kinds = 0; }

/* How many calls matched since the rule was set, and how many of them failed. */
long faults_seen(void) { return rule.seen; }
long faults_failed(void) { return rule.failed; }

/* Say whether this call must fail; -1 is "no", else how many bytes are written before it does. */
static long must_fail(int kind, int file) {
    char link[64], path[PATH_MAX];
    long partial = -1;
    if (!(rule.kinds & kind)) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = 0;
    pthread_mutex_lock(&lock);
    if ((rule.kinds & kind) && fnmatch(rule.pattern, path, 0) == 0) {
        long number = rule.seen++;
        if (number >= rule.first && (rule.times < 0 || number < rule.first + rule.times)) {
            rule.failed++;
            partial = rule.partial;
            errno = rule.error;
        }
    }
    pthread_mutex_unlock(&lock);
    return partial;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t count) {
    long partial = must_fail(WRITES, file);
    if (partial < 0) return REAL(write)(file, bytes, count);
    int error = errno;
    if (partial > 0) (void)!REAL(write)(file, bytes, (size_t)partial < count ? (size_t)partial : count);
    errno = error;
    return -1;
}

#define PWRITE(name)                                                                                         \
    ssize_t name(int file, const void *bytes, size_t count, off_t offset) {                                  \
        long partial = must_fail(WRITES, file);                                                              \
        if (partial < 0) return REAL(name)(file, bytes, count, offset);                                      \
        int error = errno;                                                                                   \
        size_t some = (size_t)partial < count ? (size_t)partial : count;                                     \
        if (partial > 0) (void)!REAL(name)(file, bytes, some, offset);                                       \
        errno = error;                                                                                       \
        return -1;                                                                                           \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t writev(int file, const struct iovec *parts, int count) {
    return must_fail(WRITES, file) < 0 ? REAL(writev)(file, parts, count) : -1;
}

int fsync(int file) { return must_fail(SYNCS, file) < 0 ? REAL(fsync)(file) : -1; }
int fdatasync(int file) { return must_fail(SYNCS, file) < 0 ? REAL(fdatasync)(file) : -1; }
int ftruncate(int file, off_t size) {
    return must_fail(TRUNCATIONS, file) < 0 ? REAL(ftruncate)(file, size) : -1;
}
int ftruncate64(int file, off_t size) {
    return must_fail(TRUNCATIONS, file) < 0 ? REAL(ftruncate64)(file, size) : -1;
}
