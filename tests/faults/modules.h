/* SPDX-License-Identifier: Apache-2.0
 *
 * What the executable says to the modules that are opened at run time (the wrapping plugin and the
 * proxies of the drivers) and to its own C part. Thread-safe. */
#ifndef WYE_FAULTS_MODULES_H
#define WYE_FAULTS_MODULES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One call of this kind (faults::Kind), by a static name; 1: it fails. */
int faults_hit(uint32_t kind, const char* name);
/* As that, for a system call whose caller may not be Wye. */
int faults_system_call(const char* name, void* caller);
/* 1: all later calls fail as well. */
int faults_persistent(void);
/* Which of the errors that a call may give. */
uint32_t faults_flavour(void);
/* The driver made (1) or freed (-1) an object. */
void faults_driver_object(int change);

#ifdef __cplusplus
}
#endif

#endif
