/* SPDX-License-Identifier: Apache-2.0 */
/* Door B: the library is loaded before everything else, and programs that look the driver's functions up by dlsym() get
 * ours. All other lookups are handed on by a jump instead of a call: the C library decides by the caller's address what
 * RTLD_NEXT means, and that has to stay the program's. */
#include <dlfcn.h>
#include <string.h>

#include "gpu/tenant/driver.h"

/* What dlsym() answers, or NULL when the C library's own has to: a pair, because both are needed afterwards. */
struct choice {
    void *answer;
    void *real_dlsym;
};
__attribute__((used)) struct choice door_choose(void *handle, const char *name);

struct choice door_choose(void *handle, const char *name)
{
    dlsym_fn *real_dlsym = driver_dlsym();
    struct choice choice = {.real_dlsym = (void *)real_dlsym};
    if (!name || !real_dlsym)
        return choice;
    if (strcmp(name, "dlsym") == 0) {
        choice.answer = (void *)dlsym;
        return choice;
    }
    int hook = driver_hook_of(name);
    if (hook < 0)
        return choice;
    /* From here RTLD_NEXT is whatever comes after us: the driver, if it is loaded for all to see. */
    void *found = real_dlsym(handle == RTLD_DEFAULT ? RTLD_NEXT : handle, name);
    if (found && driver_real((enum hook)hook))
        choice.answer = driver_swap(found);
    return choice;
}

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call door_choose\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    testq %rax, %rax\n"
        "    jnz 1f\n"
        "    testq %rdx, %rdx\n"
        "    jz 1f\n"
        "    jmp *%rdx\n"
        "1:  ret\n"
        ".cfi_endproc\n"
        ".size dlsym, .-dlsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    .cfi_def_cfa_offset 32\n"
        "    .cfi_offset 29, -32\n"
        "    .cfi_offset 30, -24\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl door_choose\n"
        "    mov x2, x0\n"
        "    mov x3, x1\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_def_cfa_offset 0\n"
        "    cbnz x2, 1f\n"
        "    cbz x3, 1f\n"
        "    br x3\n"
        "1:  mov x0, x2\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size dlsym, .-dlsym\n");
#endif
