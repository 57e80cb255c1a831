/* SPDX-License-Identifier: Apache-2.0 */

/* Host memory for what is parked: in large pages where this process may have them, and in small ones where it may not. */
#include "gpu/daemon/park/host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

/* Not a whole number of large pages. */
static const uint64_t wanted = 5 * MIB + 4096;

static void check_memory(void)
{
    struct stat stat;
    int file = host_memory_new("test", wanted);

    assert_true(file >= 0);
    assert_int_equal(host_memory_take(file, wanted), 0);
    assert_int_equal(fstat(file, &stat), 0);
    assert_int_equal(stat.st_size, wanted);
    assert_true((uint64_t)stat.st_blocks * 512 >= wanted);

    uint8_t *mem = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(mem != MAP_FAILED);
    for (uint64_t i = 0; i < wanted; i++)
        assert_int_equal(mem[i], 0);
    memset(mem, 1, wanted);
    assert_int_equal(munmap(mem, wanted), 0);
    assert_int_equal(close(file), 0);
}

/* Whoever has the file gets no more memory by it than was taken for it. */
static void check_growth(void)
{
    int file = host_memory_new("test", wanted);

    assert_true(file >= 0);
    assert_int_equal(host_memory_take(file, wanted), 0);
    bool is_longer = ftruncate(file, (off_t)(wanted + 4 * MIB)) == 0;
    assert_true(!is_longer || fallocate(file, 0, 0, (off_t)(wanted + 4 * MIB)) < 0);
    assert_int_equal(close(file), 0);
}

static void memory_is_all_there(void **state)
{
    (void)state;
    check_memory();
}

static void memory_does_not_grow(void **state)
{
    (void)state;
    check_growth();
}

/* The last test: what was given up does not come back. */
static void no_capability_is_needed(void **state)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    (void)state;
    assert_int_equal(syscall(SYS_capset, &header, none), 0);
    check_memory();
    check_growth();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_all_there),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(no_capability_is_needed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
