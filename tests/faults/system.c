/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the C library's functions for system calls in the whole process: files, folders,
 * libraries, threads. Calls that Wye's code makes are counted. A call may fail with an errno that
 * the call can return, be interrupted, or transfer fewer bytes. This file is C, since in C++ some
 * of these functions are declared with exception specifications. */
#undef _FILE_OFFSET_BITS /* both the 32-bit and the 64-bit form of each call are defined */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "faults/modules.h"

/* The errors of a call by flavour. The most common error is the first. */
typedef struct Errors {
    int by_flavour[3];
} Errors;
static const Errors kOpen = {{EMFILE, EACCES, EINTR}};
static const Errors kRead = {{EIO, ENOMEM, EINTR}};
static const Errors kWrite = {{ENOSPC, EIO, EINTR}};
static const Errors kMake = {{ENOSPC, EACCES, EROFS}};
static const Errors kLook = {{EACCES, EIO, ENOMEM}};
static const Errors kRemove = {{EBUSY, EACCES, EROFS}};
static const Errors kClose = {{EIO, EDQUOT, EINTR}};
static const Errors kLock = {{ENOLCK, EWOULDBLOCK, EINTR}};
static const Errors kFolder = {{EMFILE, ENOMEM, EIO}};
static const Errors kThread = {{EAGAIN, ENOMEM, EPERM}};

static int chosen(Errors errors) { return errors.by_flavour[faults_flavour() % 3]; }

/* Whether this call must fail. If so, errno is set. */
static int fails(const char* name, Errors errors, void* caller) {
    if (!faults_system_call(name, caller)) return 0;
    errno = chosen(errors);
    return 1;
}

/* The sanitizers' own functions, which must see each new thread and library. */
__attribute__((weak)) int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*,
                                                       void* (*)(void*), void*);
__attribute__((weak)) void* __interceptor_dlopen(const char*, int);

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define EXPORT __attribute__((visibility("default"), noinline))
#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

/* Defines `result name parameters`, a function that returns `bad` if it fails. `given` has the
 * names of the parameters. */
#define FAILING(result, name, parameters, given, errors, bad) \
    EXPORT result name parameters {                           \
        REAL(name);                                           \
        if (fails(#name, errors, CALLER)) return bad;         \
        return real given;                                    \
    }

#define OPENING(name, parameters, given, given_mode, flags)                                        \
    EXPORT int name parameters {                                                                   \
        REAL(name);                                                                                \
        if (fails(#name, (flags & O_CREAT) != 0 && faults_flavour() == 0 ? kMake : kOpen, CALLER)) \
            return -1;                                                                             \
        if ((flags & (O_CREAT | __O_TMPFILE)) == 0) return real given;                             \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        const mode_t mode = va_arg(more, mode_t);                                                  \
        va_end(more);                                                                              \
        return real given_mode;                                                                    \
    }

/* An interrupted transfer moves half of the bytes. The caller must then transfer the rest. */
#define MOVING(name, parameters, given, given_half, errors)                      \
    EXPORT ssize_t name parameters {                                             \
        REAL(name);                                                              \
        if (!fails(#name, errors, CALLER)) return real given;                    \
        if (faults_flavour() != 2 || faults_persistent() || size < 2) return -1; \
        return real given_half;                                                  \
    }

OPENING(open, (const char* path, int flags, ...), (path, flags), (path, flags, mode), flags)
OPENING(openat, (int at, const char* path, int flags, ...), (at, path, flags),
        (at, path, flags, mode), flags)
MOVING(read, (int file, void* to, size_t size), (file, to, size), (file, to, size / 2), kRead)
MOVING(write, (int file, const void* from, size_t size), (file, from, size), (file, from, size / 2),
       kWrite)
MOVING(pread, (int file, void* to, size_t size, off_t at), (file, to, size, at),
       (file, to, size / 2, at), kRead)
MOVING(pwrite, (int file, const void* from, size_t size, off_t at), (file, from, size, at),
       (file, from, size / 2, at), kWrite)
OPENING(open64, (const char* path, int flags, ...), (path, flags), (path, flags, mode), flags)
OPENING(openat64, (int at, const char* path, int flags, ...), (at, path, flags),
        (at, path, flags, mode), flags)
MOVING(pread64, (int file, void* to, size_t size, off64_t at), (file, to, size, at),
       (file, to, size / 2, at), kRead)
MOVING(pwrite64, (int file, const void* from, size_t size, off64_t at), (file, from, size, at),
       (file, from, size / 2, at), kWrite)
FAILING(int, fstat64, (int file, struct stat64* out), (file, out), kLook, -1)
FAILING(int, stat64, (const char* path, struct stat64* out), (path, out), kLook, -1)
FAILING(int, lstat64, (const char* path, struct stat64* out), (path, out), kLook, -1)
FAILING(int, fstatat64, (int at, const char* path, struct stat64* out, int flags),
        (at, path, out, flags), kLook, -1)
FAILING(int, mkstemp64, (char* path), (path), kMake, -1)
FAILING(int, mkostemp64, (char* path, int flags), (path, flags), kMake, -1)
FAILING(FILE*, fopen64, (const char* path, const char* mode), (path, mode), kOpen, NULL)
FAILING(int, ftruncate64, (int file, off64_t size), (file, size), kWrite, -1)
FAILING(struct dirent64*, readdir64, (DIR * folder), (folder), kRead, NULL)
FAILING(int, fstat, (int file, struct stat* out), (file, out), kLook, -1)
FAILING(int, stat, (const char* path, struct stat* out), (path, out), kLook, -1)
FAILING(int, lstat, (const char* path, struct stat* out), (path, out), kLook, -1)
FAILING(int, fstatat, (int at, const char* path, struct stat* out, int flags),
        (at, path, out, flags), kLook, -1)
FAILING(int, access, (const char* path, int mode), (path, mode), kLook, -1)
FAILING(int, mkdir, (const char* path, mode_t mode), (path, mode), kMake, -1)
FAILING(int, mkdirat, (int at, const char* path, mode_t mode), (at, path, mode), kMake, -1)
FAILING(int, mkstemp, (char* path), (path), kMake, -1)
FAILING(int, mkostemp, (char* path, int flags), (path, flags), kMake, -1)
FAILING(int, fchmod, (int file, mode_t mode), (file, mode), kRemove, -1)
FAILING(int, rename, (const char* from, const char* to), (from, to), kMake, -1)
FAILING(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to), kMake,
        -1)
FAILING(int, linkat, (int a, const char* from, int b, const char* to, int flags),
        (a, from, b, to, flags), kMake, -1)
FAILING(int, unlink, (const char* path), (path), kRemove, -1)
FAILING(int, unlinkat, (int at, const char* path, int flags), (at, path, flags), kRemove, -1)
FAILING(int, ftruncate, (int file, off_t size), (file, size), kWrite, -1)
FAILING(int, fsync, (int file), (file), kWrite, -1)
FAILING(int, fdatasync, (int file), (file), kWrite, -1)
FAILING(int, flock, (int file, int operation), (file, operation), kLock, -1)
FAILING(int, futimens, (int file, const struct timespec times[2]), (file, times), kRemove, -1)
FAILING(DIR*, opendir, (const char* path), (path), kFolder, NULL)
FAILING(DIR*, fdopendir, (int file), (file), kFolder, NULL)
FAILING(struct dirent*, readdir, (DIR * folder), (folder), kRead, NULL)
FAILING(char*, realpath, (const char* path, char* out), (path, out), kLook, NULL)

/* Closes the descriptor, even if the call reports an error. */
EXPORT int close(int file) {
    REAL(close);
    if (!fails("close", kClose, CALLER)) return real(file);
    (void)real(file);
    errno = chosen(kClose);
    return -1;
}

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument) {
    REAL(pthread_create);
    if (fails("pthread_create", kThread, CALLER)) return chosen(kThread);
    if (__interceptor_pthread_create != NULL)
        return __interceptor_pthread_create(thread, attributes, start, argument);
    return real(thread, attributes, start, argument);
}

/* Fails by opening a library that does not exist, so that dlerror reports the failure as usual. */
EXPORT void* dlopen(const char* path, int mode) {
    REAL(dlopen);
    if (path != NULL && fails("dlopen", kOpen, CALLER)) path = "libmade-to-fail.so.0";
    if (__interceptor_dlopen != NULL) return __interceptor_dlopen(path, mode);
    /* A tail call, so that the C library sees the caller, whose library path applies. */
    return real(path, mode);
}
