/* SPDX-License-Identifier: Apache-2.0
 *
 * choose_device [SELECTOR]: opens the best device, and says why the others were passed over. A
 * device that the selector names is preferred. */
#include <stdio.h>

#include "wye/device.h"

static int fail(wye_error* error) {
    fprintf(stderr, "choose_device: %s\n", wye_error_text(error).data);
    wye_error_free(error);
    return 1;
}

static void print(const char* what, wye_string selector, wye_string reason) {
    printf("%s: %.*s, because: %.*s\n", what, (int)selector.size, selector.data, (int)reason.size,
           reason.data);
}

int main(int argc, char** argv) {
    wye_error* error = NULL;
    wye_context* context = NULL;
    wye_device_choice choice;
    wye_device device = 0;
    wye_device_description chosen;
    wye_passed_over other;
    int status = 1;

    if (wye_context_create(NULL, &context, &error) != WYE_OK) return fail(error);
    WYE_INIT(choice);
    choice.selector = wye_str(argc > 1 ? argv[1] : "");
    choice.policy = WYE_POLICY_PREFER;
    WYE_INIT(chosen);
    if (wye_device_choose(context, &choice, &device, &error) != WYE_OK ||
        wye_device_describe(context, device, &chosen, &error) != WYE_OK) {
        fail(error);
    } else {
        print("chosen", chosen.selector, chosen.reason);
        WYE_INIT(other);
        /* The call that finds no further device ends the list, so it needs no error. */
        for (uint64_t i = 0; wye_device_passed_over(context, device, i, &other, NULL) == WYE_OK;
             ++i) {
            print("passed over", other.selector, other.reason);
            WYE_INIT(other);
        }
        status = 0;
    }
    wye_context_destroy(context); /* closes the device, too */
    return status;
}
