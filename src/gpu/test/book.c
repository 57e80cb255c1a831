/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/daemon/book.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

static char folder[] = "/tmp/muster-book-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    (void)snprintf(path, sizeof path, "%s/book", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void a_killed_writer_leaves_everything_in_the_file(void **state)
{
    struct book *book;
    struct err err = {0};
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        struct book_slot *slot;

        if (book_open(path, &book, NULL) < 0)
            _exit(1);
        slot = book_take(book);
        slot->pid = 4711;
        slot->session = 42;
        (void)strcpy(slot->group, "team-a");
        slot->holdings[3].plain = 12345;
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(book_open(path, &book, &err), 0);
    struct book_slot *slot = book_slots(book);
    assert_int_equal(slot->is_used, 1);
    assert_int_equal(slot->pid, 4711);
    assert_int_equal(slot->session, 42);
    assert_string_equal(slot->group, "team-a");
    assert_int_equal(slot->holdings[3].plain, 12345);
    book_give(book, slot);
    assert_int_equal(slot->is_used, 0);
    book_close(book);
}

static void two_daemons_do_not_share_a_book(void **state)
{
    struct book *book;
    struct book *other;
    struct err err = {0};

    (void)state;
    assert_int_equal(book_open(path, &book, &err), 0);
    assert_int_equal(book_open(path, &other, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another daemon"));
    book_close(book);
}

static void what_is_no_book_of_this_boot_is_emptied(void **state)
{
    struct book *book;
    struct err err = {0};
    int fd;

    (void)state;
    assert_int_equal(book_open(path, &book, &err), 0);
    book_take(book)->pid = 1;
    book_close(book);
    fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "x", 1, 20), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(book_open(path, &book, &err), 0);
    assert_int_equal(book_slots(book)->is_used, 0);
    book_close(book);
}

static void nonsense_in_a_slot_is_dropped(void **state)
{
    struct book *book;
    struct err err = {0};

    (void)state;
    assert_int_equal(book_open(path, &book, &err), 0);
    memset(book_take(book)->group, 'x', BOOK_NAME_SIZE);
    book_take(book)->holdings[0].plain = UINT64_MAX;
    book_take(book)->pid = 7;
    book_close(book);
    assert_int_equal(book_open(path, &book, &err), 0);
    assert_int_equal(book_slots(book)[0].is_used, 0);
    assert_int_equal(book_slots(book)[1].is_used, 0);
    assert_int_equal(book_slots(book)[2].pid, 7);
    book_give(book, &book_slots(book)[2]);
    book_close(book);
}

static void slots_are_limited(void **state)
{
    struct book *book;
    struct err err = {0};

    (void)state;
    assert_int_equal(book_open(path, &book, &err), 0);
    assert_int_equal(book_free_count(book), BOOK_SLOTS_MAX);
    for (int i = 0; i < BOOK_SLOTS_MAX; i++)
        assert_non_null(book_take(book));
    assert_null(book_take(book));
    assert_int_equal(book_free_count(book), 0);
    for (int i = 0; i < BOOK_SLOTS_MAX; i++)
        book_give(book, &book_slots(book)[i]);
    book_close(book);
}

static void a_process_is_known_by_its_beginning(void **state)
{
    (void)state;
    assert_true(process_started(getpid()) > 0);
    assert_int_equal(process_started(getpid()), process_started(getpid()));
    assert_int_equal(process_started(0x7ffffff0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_leaves_everything_in_the_file),
        cmocka_unit_test(two_daemons_do_not_share_a_book),
        cmocka_unit_test(what_is_no_book_of_this_boot_is_emptied),
        cmocka_unit_test(nonsense_in_a_slot_is_dropped),
        cmocka_unit_test(slots_are_limited),
        cmocka_unit_test(a_process_is_known_by_its_beginning),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
