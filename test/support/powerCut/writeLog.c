/*
 * Preloaded into processes: notes all writes to the files of a store, and when they are on the disk, in the order in which they say
 * so. The log of all processes has records: a kind, flags, an offset, a length, and the process, whose own file has as many bytes. A
 * kill cuts no record, because none crosses a page.
 *
 * SVC_WRITE_LOG: the folder of the log and of the processes' files. SVC_WRITE_NAME: the beginning of the names of files that are
 * noted. Writes to the file SVC_WRITE_MARKS are marks in the log, let calls fail ("fail KIND ERRNO TIMES"), or kill the process after
 * so many more writes, before the last of them is flushed ("die WRITES"), with SVC_WRITE_GROUP together with its process group.
 * SVC_SYNC_MS: how much longer a flush takes, in ms.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 3, MARK = 4 };
/* Ways in which a call can fail: a write, a write that is on the disk when it returns, and a flush. */
enum { FAIL_WRITE = 0, FAIL_SYNCED_WRITE = 1, FAIL_SYNC = 2 };
enum { NOT_NOTED = 0, NOTED = 1, NOTED_SYNCED = 2, MARKS = 3 };
enum { FILES = 65536 };

struct record { uint32_t kind, flags; uint64_t offset, length; uint32_t process, unused; };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static unsigned char roles[FILES];
static int logged = -1, contents = -1;
static int failures[3], failure_errno[3];
static int writes_to_death, dies_with_group;
static useconds_t sync_us;
static const char *noted_name, *marks_path;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off64_t);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);
static int (*real_ftruncate)(int, off64_t);
static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);

__attribute__((constructor)) static void begin(void) {
	real_write = dlsym(RTLD_NEXT, "write");
	real_writev = dlsym(RTLD_NEXT, "writev");
	real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
	real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
	real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	real_fsync = dlsym(RTLD_NEXT, "fsync");
	real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
	real_open = dlsym(RTLD_NEXT, "open64");
	real_openat = dlsym(RTLD_NEXT, "openat64");
	real_close = dlsym(RTLD_NEXT, "close");
	const char *path = getenv("SVC_WRITE_LOG");
	noted_name = getenv("SVC_WRITE_NAME");
	marks_path = getenv("SVC_WRITE_MARKS");
	dies_with_group = getenv("SVC_WRITE_GROUP") != NULL;
	const char *sync_ms = getenv("SVC_SYNC_MS");
	if (sync_ms) sync_us = (useconds_t) atoi(sync_ms) * 1000;
	if (!path || !noted_name) return;
	char name[4096];
	snprintf(name, sizeof name, "%s/log", path);
	logged = real_open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	snprintf(name, sizeof name, "%s/%d", path, getpid());
	contents = real_open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int role_of(int file) {
	return logged >= 0 && file >= 0 && file < FILES ? roles[file] : NOT_NOTED;
}

static void add(int file, const char *bytes, size_t size) {
	for (size_t written = 0; written < size;) {
		ssize_t more = real_write(file, bytes + written, size - written);
		if (more < 0) abort();
		written += (size_t) more;
	}
}

static void note(uint32_t kind, uint32_t flags, uint64_t offset, const struct iovec *parts, int count, uint64_t length) {
	struct record head = { kind, flags, offset, length, (uint32_t) getpid(), 0 };
	for (int at = 0; at < count && length > 0; at++) {
		uint64_t part = parts[at].iov_len < length ? parts[at].iov_len : length;
		add(contents, parts[at].iov_base, part);
		length -= part;
	}
	add(logged, (const char *) &head, sizeof head);
}

static int fails(int way) {
	if (failures[way] == 0) return 0;
	failures[way]--;
	errno = failure_errno[way];
	return 1;
}

static void opened(int file, const char *path, int flags) {
	if (file < 0 || file >= FILES) return;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int role = NOT_NOTED;
	if (logged >= 0 && marks_path && strcmp(path, marks_path) == 0) role = MARKS;
	else if (logged >= 0 && strncmp(name, noted_name, strlen(noted_name)) == 0 && !strstr(name, "-lock"))
		role = flags & O_DSYNC ? NOTED_SYNCED : NOTED;
	roles[file] = (unsigned char) role;
}

static ssize_t noted_write(int file, const struct iovec *parts, int count, off64_t offset, int role) {
	pthread_mutex_lock(&turn);
	int is_synced = role == NOTED_SYNCED;
	ssize_t written = fails(is_synced ? FAIL_SYNCED_WRITE : FAIL_WRITE) ? -1 : real_pwritev(file, parts, count, offset);
	int reason = errno;
	if (written > 0) note(WRITE, is_synced, (uint64_t) offset, parts, count, (uint64_t) written);
	if (written > 0 && !is_synced && writes_to_death > 0 && --writes_to_death == 0) {
		kill(dies_with_group ? 0 : getpid(), SIGKILL);
		/* Nothing more is written. */
		for (;;) pause();
	}
	pthread_mutex_unlock(&turn);
	errno = reason;
	return written;
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
	int role = role_of(file);
	if (role != NOTED && role != NOTED_SYNCED) return real_pwrite(file, bytes, length, offset);
	struct iovec part = { (void *) bytes, length };
	return noted_write(file, &part, 1, offset, role);
}
ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) { return pwrite64(file, bytes, length, offset); }

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
	int role = role_of(file);
	if (role != NOTED && role != NOTED_SYNCED) return real_pwritev(file, parts, count, offset);
	return noted_write(file, parts, count, offset, role);
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) { return pwritev64(file, parts, count, offset); }

ssize_t writev(int file, const struct iovec *parts, int count) {
	int role = role_of(file);
	if (role != NOTED && role != NOTED_SYNCED) return real_writev(file, parts, count);
	off64_t offset = lseek64(file, 0, SEEK_CUR);
	ssize_t written = noted_write(file, parts, count, offset, role);
	if (written > 0) lseek64(file, offset + written, SEEK_SET);
	return written;
}

static void mark(const char *text, size_t length) {
	char way[16] = "";
	int reason = 0, times = 0;
	char line[64];
	snprintf(line, sizeof line, "%.*s", (int) length, text);
	pthread_mutex_lock(&turn);
	if (sscanf(line, "fail %15s %d %d", way, &reason, &times) == 3) {
		int at = strcmp(way, "sync") == 0 ? FAIL_SYNC : strcmp(way, "synced") == 0 ? FAIL_SYNCED_WRITE : FAIL_WRITE;
		failures[at] = times;
		failure_errno[at] = reason;
	} else if (sscanf(line, "die %d", &times) == 1) {
		writes_to_death = times;
	} else {
		struct iovec part = { (void *) text, length };
		note(MARK, 0, 0, &part, 1, length);
	}
	pthread_mutex_unlock(&turn);
}

ssize_t write(int file, const void *bytes, size_t length) {
	int role = role_of(file);
	if (role == MARKS) {
		mark(bytes, length);
		return (ssize_t) length;
	}
	if (role == NOT_NOTED) return real_write(file, bytes, length);
	struct iovec part = { (void *) bytes, length };
	return writev(file, &part, 1);
}

static int noted_sync(int file, int (*real)(int)) {
	if (role_of(file) != NOTED && role_of(file) != NOTED_SYNCED) return real(file);
	pthread_mutex_lock(&turn);
	if (sync_us) usleep(sync_us);
	int result = fails(FAIL_SYNC) ? -1 : real(file);
	int reason = errno;
	if (result == 0) note(SYNC, 0, 0, NULL, 0, 0);
	pthread_mutex_unlock(&turn);
	errno = reason;
	return result;
}
int fdatasync(int file) { return noted_sync(file, real_fdatasync); }
int fsync(int file) { return noted_sync(file, real_fsync); }

int ftruncate64(int file, off64_t length) {
	if (role_of(file) != NOTED && role_of(file) != NOTED_SYNCED) return real_ftruncate(file, length);
	pthread_mutex_lock(&turn);
	int result = real_ftruncate(file, length);
	int reason = errno;
	if (result == 0) note(TRUNCATE, 0, (uint64_t) length, NULL, 0, 0);
	pthread_mutex_unlock(&turn);
	errno = reason;
	return result;
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

/* A store that is written through its map cannot be noted. */
int msync(void *address, size_t length, int flags) {
	(void) address, (void) length, (void) flags;
	abort();
}

static int is_making(int flags) { return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE; }

int open64(const char *path, int flags, ...) {
	va_list more;
	va_start(more, flags);
	int mode = is_making(flags) ? va_arg(more, int) : 0;
	va_end(more);
	int file = real_open(path, flags, mode);
	opened(file, path, flags);
	return file;
}
int open(const char *path, int flags, ...) {
	va_list more;
	va_start(more, flags);
	int mode = is_making(flags) ? va_arg(more, int) : 0;
	va_end(more);
	return open64(path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
	va_list more;
	va_start(more, flags);
	int mode = is_making(flags) ? va_arg(more, int) : 0;
	va_end(more);
	int file = real_openat(folder, path, flags, mode);
	opened(file, path, flags);
	return file;
}
int openat(int folder, const char *path, int flags, ...) {
	va_list more;
	va_start(more, flags);
	int mode = is_making(flags) ? va_arg(more, int) : 0;
	va_end(more);
	return openat64(folder, path, flags, mode);
}

int close(int file) {
	if (file >= 0 && file < FILES) roles[file] = NOT_NOTED;
	return real_close(file);
}
