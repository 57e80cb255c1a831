/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own way to look functions up, which the CUDA runtime uses for all it needs. The driver answers, with its
 * rules for versions and flags; if the pointer in its answer is one that we hook, ours takes its place. Pointers that we
 * do not hook although another variant of the same name is are told to the daemon: there should be none. */
#include "gpu/tenant/tenant.h"

#include <string.h>

/* Without the endings of its variants: _v2, _ptsz, _ptds. */
static size_t stem_of(const char *name)
{
    size_t len = strlen(name);
    if (len > 5 && (strcmp(name + len - 5, "_ptsz") == 0 || strcmp(name + len - 5, "_ptds") == 0))
        len -= 5;
    if (len > 3 && name[len - 3] == '_' && name[len - 2] == 'v')
        len -= 3;
    return len;
}

/* Whether any variant of it is hooked. */
static bool is_ours_to_hook(const char *symbol)
{
    size_t len = stem_of(symbol);
    for (int i = 0; i < HOOK_CUDA_COUNT; i++) {
        const char *name = driver_hook_name((enum hook)i);
        if (stem_of(name) == len && strncmp(name, symbol, len) == 0)
            return true;
    }
    return false;
}

static void swap(const char *symbol, void **function)
{
    void *ours = driver_swap(*function);
    if (ours == *function && !driver_is_export(ours) && is_ours_to_hook(symbol))
        ledger_note_unhooked(symbol);
    *function = ours;
}

int on_get_proc(get_proc_fn *real, const char *symbol, void **ret_function, int version, uint64_t flags)
{
    cu_result result = real(symbol, ret_function, version, flags);
    if (result == CU_SUCCESS && symbol && ret_function && *ret_function)
        swap(symbol, ret_function);
    return result;
}

int on_get_proc_v2(get_proc_v2_fn *real, const char *symbol, void **ret_function, int version, uint64_t flags,
                   int *ret_status)
{
    cu_result result = real(symbol, ret_function, version, flags, ret_status);
    if (result == CU_SUCCESS && symbol && ret_function && *ret_function)
        swap(symbol, ret_function);
    return result;
}
