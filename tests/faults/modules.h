/* SPDX-License-Identifier: Apache-2.0
 *
 * What the executable offers to modules that are opened at run time (the wrapping plugin and the
 * driver proxies) and to its own C files. Thread-safe. */
#ifndef WYE_FAULTS_MODULES_H
#define WYE_FAULTS_MODULES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts a call of this kind (faults::Kind) with a static name; 1: it must fail. */
int faults_hit(uint32_t kind, const char* name);
/* As faults_hit, for a system call, which counts only if `caller` is Wye's code. */
int faults_system_call(const char* name, void* caller);
/* 1: all later calls fail as well. */
int faults_persistent(void);
/* Which of the errors that the call may return. */
uint32_t faults_flavour(void);
/* Counts an object that the driver has made (1) or freed (-1). */
void faults_driver_object(int change);

/* How the calling thread's monotonic clock runs: normally, a thousand times slower, or 1 ms further
 * at each reading. */
enum { kFaultsRealClock, kFaultsSlowClock, kFaultsFastClock };
void faults_set_clock(int mode);

#ifdef __cplusplus
}
#endif

#endif
