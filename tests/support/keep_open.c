/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded for sanitizer runs: libraries stay open. What a driver leaks by design is reported by
 * the name of its library then, which tests/drivers.supp forgives, and not as an address in
 * "<unknown module>". */
int dlclose(void* handle);
int dlclose(void* handle) {
    (void)handle;
    return 0;
}
