/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/keys.h"

enum { STATUS_MAX = 1 << 20 };

static void add_group(struct strbuf *to, const char *name, int gpu, double gib, double now, const char *state)
{
    strbuf_addf(to,
                "{\"group\": \"%s\", \"gpu\": \"GPU-%d\", \"mode\": \"%s\", \"state\": \"%s\", \"share\": 0.25, "
                "\"shareActual\": %f, \"usedBytes\": %.0f, \"contextBytes\": 0, \"limitBytes\": 42949672960, "
                "\"requestBytes\": 1073741824, \"denied\": 0, \"wantedBytes\": %d, \"processes\": [{\"pid\": 4711, "
                "\"name\": \"train\", \"usedBytes\": %.0f, \"contextBytes\": 0, \"connected\": true}]}",
                name, gpu, strcmp(state, "free") == 0 ? "time" : "fair", state, now, gib * (1 << 30),
                strcmp(name, "starved") == 0 ? 5 : 0, gib * (1 << 30));
}

/* So many GPUs, and groups with names that are long or could move the cursor. */
static char *make_status(int gpus, int groups)
{
    struct strbuf text;

    strbuf_init(&text, STATUS_MAX);
    strbuf_addstr(&text, "{\"unregisteredProcesses\": 1, \"gpus\": [");
    for (int i = 0; i < gpus; i++)
        strbuf_addf(&text,
                    "%s{\"uuid\": \"GPU-%d\", \"name\": \"A GPU with a name that goes on and on\", \"capacityBytes\": "
                    "150323855360, \"requestedBytes\": 42949672960, \"takenBytes\": 21474836480}",
                    i ? "," : "", i);
    strbuf_addstr(&text, "], \"groups\": [");
    for (int i = 0; i < groups; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "%s-%02d",
                       i % 3 ? "group" : "a-group-\\u001b[2J-of-a-name-that-is-far-too-long", i);
        strbuf_addstr(&text, i ? "," : "");
        add_group(&text, name, i % gpus, i, 0.01 * i, "idle");
    }
    strbuf_addstr(&text, "]}");
    return text.text;
}

static char *draw(struct gpu_screen *screen, const char *status)
{
    struct err err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    assert_int_equal(gpu_screen_draw(screen, status, out, &err), 0);
    (void)fclose(out);
    return text;
}

/* Columns of the widest line, and lines; a letter beyond ASCII, which marks what was cut, counts once. */
static void measure(const char *text, uint32_t *ret_width, uint32_t *ret_height)
{
    uint32_t width = 0;

    *ret_width = 0;
    *ret_height = 1;
    for (; *text; text++) {
        width += *text != '\n' && ((unsigned char)*text & 0xc0) != 0x80;
        *ret_width = MAX(*ret_width, width);
        *ret_height += *text == '\n';
        if (*text == '\n')
            width = 0;
    }
}

static void every_terminal_is_filled_and_none_overflows(void **state)
{
    static const struct {
        uint32_t width, height;
    } sizes[] = {{60, 15}, {80, 24}, {100, 30}, {132, 43}, {200, 50}, {300, 12}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        for (int groups = 0; groups <= 80; groups += 40) {
            for (int gpus = 1; gpus <= 16; gpus += 15) {
                struct gpu_screen screen = {
                    .width = sizes[i].width, .height = sizes[i].height, .shows_processes = groups == 80};
                _cleanup_(freep) char *status = make_status(gpus, groups);
                _cleanup_(freep) char *text = draw(&screen, status);
                uint32_t width;
                uint32_t height;

                measure(text, &width, &height);
                assert_true(width <= sizes[i].width);
                assert_int_equal(height, sizes[i].height);
                assert_null(strchr(text, '\033'));
                assert_non_null(strstr(text, "q quit"));
            }
        }
    }
}

static void a_file_gets_everything(void **state)
{
    struct gpu_screen screen = {0};
    _cleanup_(freep) char *status = make_status(2, 40);
    _cleanup_(freep) char *text = draw(&screen, status);

    (void)state;
    assert_non_null(strstr(text, "group-01"));
    assert_non_null(strstr(text, "group-38"));
    assert_non_null(strstr(text, "REFUSED"));
    assert_null(strstr(text, "q quit"));
}

static void without_groups_it_says_how_to_make_one(void **state)
{
    struct gpu_screen screen = {.width = 80, .height = 24};
    _cleanup_(freep) char *status = make_status(1, 0);
    _cleanup_(freep) char *text = draw(&screen, status);

    (void)state;
    assert_non_null(strstr(text, "muster gpu run --memory"));
}

static char *three_groups(void)
{
    struct strbuf text;

    strbuf_init(&text, STATUS_MAX);
    strbuf_addstr(&text, "{\"gpus\": [{\"uuid\": \"GPU-0\", \"capacityBytes\": 1}], \"groups\": [");
    add_group(&text, "busy", 0, 1, 0.7, "running");
    strbuf_addstr(&text, ",");
    add_group(&text, "starved", 0, 2, 0.1, "idle");
    strbuf_addstr(&text, ",");
    add_group(&text, "large", 0, 30, 0.2, "waiting");
    strbuf_addstr(&text, "]}");
    return text.text;
}

/* The names in the order in which they are shown: their first letters. */
static void order_of(struct gpu_screen *screen, char order[static 4])
{
    _cleanup_(freep) char *status = three_groups();
    _cleanup_(freep) char *text = draw(screen, status);
    char *save = NULL;

    memset(order, 0, 4);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "busy ", 5) == 0 || strncmp(line, "starved ", 8) == 0 || strncmp(line, "large ", 6) == 0)
            strncat(order, line, 1);
    }
}

static void keys_sort(void **state)
{
    static const struct {
        const char *keys;
        const char *order;
    } cases[] = {{"n", "bls"}, {"m", "lsb"}, {"c", "bls"}, {"w", "lsb"}, {"nr", "slb"}, {"mr", "bsl"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gpu_screen screen = {.width = 100, .height = 24};
        char order[4];

        for (const char *key = cases[i].keys; *key; key++)
            assert_true(gpu_screen_key(&screen, *key));
        order_of(&screen, order);
        assert_string_equal(order, cases[i].order);
    }
}

static void it_says_who_holds_and_who_waits(void **state)
{
    struct gpu_screen screen = {.width = 80, .height = 24};
    _cleanup_(freep) char *status = three_groups();
    _cleanup_(freep) char *text = draw(&screen, status);

    (void)state;
    assert_non_null(strstr(text, "2 waiting"));
    assert_non_null(strstr(text, "wants mem"));
    assert_non_null(strstr(text, "     2  busy"));
}

static void processes_and_help_come_and_go(void **state)
{
    struct gpu_screen screen = {.width = 80, .height = 24};
    _cleanup_(freep) char *status = three_groups();
    _cleanup_(freep) char *before = draw(&screen, status);

    (void)state;
    assert_null(strstr(before, "4711 train"));
    assert_true(gpu_screen_key(&screen, 'p'));
    _cleanup_(freep) char *with = draw(&screen, status);
    assert_non_null(strstr(with, "4711 train"));
    assert_true(gpu_screen_key(&screen, '?'));
    _cleanup_(freep) char *help = draw(&screen, status);
    assert_non_null(strstr(help, "reverse the order"));
    assert_null(strstr(help, "4711 train"));
    assert_true(gpu_screen_key(&screen, 'h'));
    assert_false(gpu_screen_key(&screen, 'q'));
}

static void scrolling_ends_at_the_last_line(void **state)
{
    struct gpu_screen screen = {.width = 80, .height = 15};
    _cleanup_(freep) char *status = make_status(1, 40);

    (void)state;
    assert_true(gpu_screen_key(&screen, KEY_END));
    _cleanup_(freep) char *end = draw(&screen, status);
    assert_non_null(strstr(end, "-40 of 40"));
    uint32_t last = screen.first;
    assert_true(gpu_screen_key(&screen, KEY_PAGE_DOWN));
    _cleanup_(freep) char *further = draw(&screen, status);
    assert_int_equal(screen.first, last);
    assert_true(gpu_screen_key(&screen, KEY_UP));
    assert_int_equal(screen.first, last - 1);
    assert_true(gpu_screen_key(&screen, KEY_HOME));
    assert_true(gpu_screen_key(&screen, KEY_PAGE_UP));
    assert_int_equal(screen.first, 0);
}

static void unknown_keys_are_passed_over_whole(void **state)
{
    static const struct {
        const char *bytes;
        int key;
        size_t len;
    } cases[] = {{"q", 'q', 1},         {"\033[A", KEY_UP, 3}, {"\033[6~q", KEY_PAGE_DOWN, 4},
                 {"\033[1;5Dq", -1, 6}, {"\033", -1, 1},       {"\033OF", KEY_END, 3},
                 {"\033[200", -1, 5},   {"\033x", -1, 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t len = 0;

        assert_int_equal(key_read(cases[i].bytes, strlen(cases[i].bytes), &len), cases[i].key);
        assert_int_equal(len, cases[i].len);
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    struct gpu_screen screen = {.width = 80, .height = 24};
    struct err err = {0};

    (void)state;
    assert_true(gpu_screen_draw(&screen, "no", stderr, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_terminal_is_filled_and_none_overflows),
        cmocka_unit_test(a_file_gets_everything),
        cmocka_unit_test(without_groups_it_says_how_to_make_one),
        cmocka_unit_test(keys_sort),
        cmocka_unit_test(it_says_who_holds_and_who_waits),
        cmocka_unit_test(processes_and_help_come_and_go),
        cmocka_unit_test(scrolling_ends_at_the_last_line),
        cmocka_unit_test(unknown_keys_are_passed_over_whole),
        cmocka_unit_test(what_is_no_answer_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
