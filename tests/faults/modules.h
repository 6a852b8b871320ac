/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of the executable for modules that are opened at run time (the wrapping plugin and
 * the driver proxies) and for its own C part. Thread-safe. */
#ifndef WYE_FAULTS_MODULES_H
#define WYE_FAULTS_MODULES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts a call of this kind (faults::Kind) with a static name; 1: it must fail. */
int faults_hit(uint32_t kind, const char* name);
/* The same for a system call, whose caller may not be Wye. */
int faults_system_call(const char* name, void* caller);
/* 1: all later calls fail as well. */
int faults_persistent(void);
/* Which of the call's possible errors. */
uint32_t faults_flavour(void);
/* The driver made (1) or freed (-1) an object. */
void faults_driver_object(int change);

/* How the monotonic clock runs for the calling thread: as it does, a thousand times slower, or 1 ms
 * ahead at each look. */
enum { kFaultsRealClock, kFaultsSlowClock, kFaultsFastClock };
void faults_set_clock(int mode);

#ifdef __cplusplus
}
#endif

#endif
