/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded in sanitizer runs to keep libraries open. A driver's leaks are then reported with the
 * name of its library, which tests/drivers.supp suppresses, instead of "<unknown module>". */
int dlclose(void* handle);
int dlclose(void* handle) {
    (void)handle;
    return 0;
}
