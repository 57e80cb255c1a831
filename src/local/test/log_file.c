/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/pipes/log_file.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "local/server/files.h"
#include "text/file.h"

#define NOW (INT64_C(1800000000) * NSEC_PER_SEC)

static char *read_log(const char *folder)
{
    char path[128];
    char *text = NULL;
    size_t len = 0;

    (void)snprintf(path, sizeof path, "%s/0.log", folder);
    assert_int_equal(file_read(path, 64 << 20, &text, &len, NULL), 0);
    return text;
}

static void pieces_of_lines_are_put_together(void **state)
{
    char folder[] = "/tmp/muster-log-XXXXXX";
    char *text;
    struct log_file *file = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(log_file_open(folder, 0, &file, NULL), 0);
    log_file_add(file, LOG_STDOUT, NOW, "one ", 4);
    log_file_add(file, LOG_STDERR, NOW, "other\n", 6);
    log_file_add(file, LOG_STDOUT, NOW, "line\nlast", 9);
    log_file_close(file);
    text = read_log(folder);
    static const char wanted[] = "2027-01-15T08:00:00.000000000Z stderr F other\n"
                                 "2027-01-15T08:00:00.000000000Z stdout F one line\n";
    assert_memory_equal(text, wanted, sizeof wanted - 1);
    /* A line without an end is a piece, with the time of the end. */
    assert_non_null(strstr(text, " stdout P last\n"));
    free(text);
    assert_int_equal(folder_remove(folder), 0);
}

static void large_files_are_replaced_and_the_newest_kept(void **state)
{
    char folder[] = "/tmp/muster-log-XXXXXX";
    char *line = xmalloc(LOG_LINE_MAX + 1);
    struct log_file *file = NULL;
    uint32_t count = 0;

    (void)state;
    memset(line, 'x', LOG_LINE_MAX);
    line[LOG_LINE_MAX] = '\n';
    assert_non_null(mkdtemp(folder));
    assert_int_equal(log_file_open(folder, 0, &file, NULL), 0);
    for (int i = 0; i < 7 * LOG_FILE_MAX / LOG_LINE_MAX; i++)
        log_file_add(file, LOG_STDOUT, NOW + i * NSEC_PER_SEC, line, LOG_LINE_MAX + 1);
    log_file_close(file);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        count += strncmp(entry->d_name, "0.log", 5) == 0;
    (void)closedir(dir);
    assert_int_equal(count, 1 + LOG_OLD_FILES_MAX);
    free(line);
    assert_int_equal(folder_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_lines_are_put_together),
        cmocka_unit_test(large_files_are_replaced_and_the_newest_kept),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
