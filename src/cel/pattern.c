/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCRE2 matches by its DFA algorithm, which follows all alternatives at once and goes over the text only once. What RE2
 * does not have (look-around, back references, possessive repetition, recursion) is refused before PCRE2 sees it, since
 * these are what makes matching expensive; what both have under the same name but with another meaning is rewritten.
 */
#include "cel/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

enum {
    REPEAT_MAX = 1000,
    GROUPS_MAX = 1000,
    WORKSPACE_START = 128,
    WORKSPACE_MAX = 1 << 20,
    WORKSPACE_STATE = 6,  // what a state takes in it: three numbers now, and three for the next character
    STATES_STEP = 64,     // comparisons of states that take as long as one step
    FIND_START = 256,
    FIND_MAX = 1 << 24,
    FIND_KIB_MAX = 16 << 10,
};

struct pattern {
    pcre2_code *code;     // anywhere in a text, without places
    pcre2_code *placing;  // as it is written
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

/* --- The syntax of RE2 --- */

struct reader {
    const char *start;
    const char *at;
    struct strbuf *out;  // the expression as PCRE2 understands it
    int open_groups;
    bool can_repeat;  // something stands before that an operator can repeat
    bool is_group;    // and it is a group
    size_t atom;      // where it starts in `out`
    struct err *err;
};

static int refuse(struct reader *reader, const char *what, const char *part, size_t len)
{
    return err_set(reader->err, -EINVAL, "%s: `%.*s`", what, (int)len, part);
}

/* The digits of a repeat count; -1 when there are none, or far too many. */
static int read_count(const char **at)
{
    int count = 0;

    if (!isdigit((unsigned char)**at))
        return -1;
    for (; isdigit((unsigned char)**at); (*at)++)
        count = MIN(count * 10 + (**at - '0'), REPEAT_MAX + 1);
    return count;
}

/* The length of "{2,3}" at `at`; 0 when the brace is only a character, -EINVAL when a count is too large. */
static int repeat_len(const char *at)
{
    const char *end = at + 1;
    int low = read_count(&end);
    int high = low;

    if (low < 0)
        return 0;
    if (*end == ',') {
        end++;
        high = *end == '}' ? low : read_count(&end);
    }
    if (*end != '}' || high < 0)
        return 0;
    return low > REPEAT_MAX || high > REPEAT_MAX || high < low ? -EINVAL : (int)(end + 1 - at);
}

static size_t repeat_end(const char *at)
{
    return strcspn(at, "}") + 1;
}

/*
 * PCRE2 counts the repetitions of a single character, so that each number of them is a state of its own, and loops in
 * loops take cubic time. It does not count those of a group.
 */
static void make_group(struct reader *reader)
{
    char *atom = xstrdup(reader->out->text + reader->atom);

    reader->out->len = reader->atom;
    strbuf_addf(reader->out, "(?:%s)", atom);
    free(atom);
}

/* *, +, ? or a repeat count, and the ? behind it that makes it lazy; a second one cannot follow. */
static int read_repeat(struct reader *reader, size_t len)
{
    const char *start = reader->at;

    if (!reader->can_repeat)
        return refuse(reader, "missing argument to repetition operator", start, len);
    if (!reader->is_group)
        make_group(reader);
    strbuf_add(reader->out, start, len);
    reader->at += len;
    if (*reader->at == '?') {
        strbuf_addch(reader->out, '?');
        reader->at++;
    }
    size_t more = strchr("*+?", *reader->at) && *reader->at          ? 1
                  : *reader->at == '{' && repeat_len(reader->at) > 0 ? (size_t)repeat_len(reader->at)
                                                                     : 0;
    if (more)
        return refuse(reader, "invalid nested repetition operator", start, (size_t)(reader->at - start) + more);
    reader->can_repeat = false;
    return 0;
}

static int read_group(struct reader *reader)
{
    static const char flags[] = "imsU-";
    const char *start = reader->at;
    const char *end = start + 1;

    if (++reader->open_groups > GROUPS_MAX)
        return refuse(reader, "expression nests too deeply", start, 1);
    reader->can_repeat = false;
    if (*end != '?') {
        strbuf_addch(reader->out, '(');
        reader->at = end;
        return 0;
    }
    end++;
    if (*end == 'P' || (*end == '<' && end[1] != '=' && end[1] != '!')) {
        const char *name = end + (*end == 'P' ? 2 : 1);
        size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if ((*end == 'P' && end[1] != '<') || !len || name[len] != '>')
            return refuse(reader, "invalid named capture", start, strlen(start));
        strbuf_add(reader->out, "(", 1);
        reader->at = name + len + 1;
        return 0;
    }
    end += strspn(end, flags);
    if (*end != ':' && *end != ')')
        return refuse(reader, "invalid or unsupported Perl syntax", start, (size_t)(end - start) + (*end != '\0'));
    if (*end == ')') {
        if (end == start + 2)
            return refuse(reader, "missing argument to repetition operator", "?", 1);
        reader->open_groups--;
    }
    strbuf_add(reader->out, start, (size_t)(end + 1 - start));
    reader->at = end + 1;
    return 0;
}

/* A class by its property, such as \pL or \p{Greek}. */
static int read_property(struct reader *reader)
{
    size_t len = reader->at[2] == '{' ? 2 + repeat_end(reader->at + 2) : 3;

    if (strnlen(reader->at, len) < len)
        return refuse(reader, "invalid character class range", reader->at, strlen(reader->at));
    strbuf_add(reader->out, reader->at, len);
    reader->at += len;
    return 0;
}

/* An escape, in a class or outside. */
static int read_escape(struct reader *reader, bool is_in_class)
{
    const char *start = reader->at;
    const char c = start[1];

    if (c == '\0')
        return refuse(reader, "trailing backslash at end of expression", "", 0);
    if (c == 'p' || c == 'P')
        return read_property(reader);
    if (c == 'Q' && !is_in_class) {
        const char *end = strstr(start + 2, "\\E");
        for (const char *at = start + 2; *at && at != end;) {
            size_t len = utf8_len(at);
            reader->atom = reader->out->len;
            if (ispunct((unsigned char)*at))
                strbuf_addch(reader->out, '\\');
            strbuf_add(reader->out, at, len);
            at += len;
        }
        reader->at = end ? end + 2 : start + strlen(start);
        return 0;
    }
    if (c == 'v') {
        strbuf_addstr(reader->out, "\\x0b");
        reader->at += 2;
        return 0;
    }
    if (c == 'x') {
        size_t len = start[2] == '{' ? 2 + repeat_end(start + 2) : 4;
        if (strnlen(start, len) < len || !isxdigit((unsigned char)start[start[2] == '{' ? 3 : 2]))
            return refuse(reader, "invalid escape sequence", start, strnlen(start, 3));
        strbuf_add(reader->out, start, len);
        reader->at += len;
        return 0;
    }
    if (c == '0') {
        size_t len = 1 + strspn(start + 1, "01234567");
        len = MIN(len, (size_t)4);
        strbuf_add(reader->out, start, len);
        reader->at += len;
        return 0;
    }
    bool is_known = strchr("dDsSwWafnrt", c) || (ispunct((unsigned char)c)) || (!is_in_class && strchr("AzbB", c));
    if (!is_known)
        return refuse(reader, "invalid escape sequence", start, 1 + MAX(utf8_len(start + 1), (size_t)1));
    strbuf_add(reader->out, start, 2);
    reader->at += 2;
    return 0;
}

static int read_class(struct reader *reader)
{
    const char *start = reader->at;
    bool is_first = true;

    strbuf_addch(reader->out, *reader->at++);
    if (*reader->at == '^')
        strbuf_addch(reader->out, *reader->at++);
    for (; *reader->at && (*reader->at != ']' || is_first); is_first = false) {
        if (*reader->at == '\\') {
            int r = read_escape(reader, true);
            if (r < 0)
                return r;
        } else if (strncmp(reader->at, "[:", 2) == 0 && strstr(reader->at, ":]")) {
            size_t len = (size_t)(strstr(reader->at, ":]") + 2 - reader->at);
            strbuf_add(reader->out, reader->at, len);
            reader->at += len;
        } else {
            if (reader->at[1] == '-' && !strchr("\\]", reader->at[2]) && reader->at[2] > 0 &&
                reader->at[2] < reader->at[0])
                return refuse(reader, "invalid character class range", reader->at, 3);
            /* "[" begins nothing in RE2, and "[.x.]" and "[=x=]" are errors in PCRE2. */
            if (*reader->at == '[' || *reader->at == ']')
                strbuf_addch(reader->out, '\\');
            strbuf_addch(reader->out, *reader->at++);
        }
    }
    if (*reader->at != ']')
        return refuse(reader, "missing closing ]", start, strlen(start));
    strbuf_addch(reader->out, *reader->at++);
    return 0;
}

static int read_one(struct reader *reader)
{
    int len;

    if (!strchr("*+?{", *reader->at)) {
        reader->atom = reader->out->len;
        reader->is_group = false;
    }
    switch (*reader->at) {
    case '(':
        return read_group(reader);
    case ')':
        if (reader->open_groups-- == 0)
            return refuse(reader, "unexpected )", reader->start, strlen(reader->start));
        reader->is_group = true;
        break;
    case '[':
        reader->can_repeat = true;
        return read_class(reader);
    case '\\':
        reader->can_repeat = true;
        return read_escape(reader, false);
    case '*':
    case '+':
    case '?':
        return read_repeat(reader, 1);
    case '{':
        len = repeat_len(reader->at);
        if (len < 0)
            return refuse(reader, "invalid repeat count", reader->at, repeat_end(reader->at));
        if (len > 0)
            return read_repeat(reader, (size_t)len);
        reader->atom = reader->out->len;
        reader->is_group = false;
        strbuf_addch(reader->out, '\\');
        break;
    case '|':
        strbuf_addch(reader->out, *reader->at++);
        reader->can_repeat = false;
        return 0;
    default:
        break;
    }
    size_t bytes = utf8_len(reader->at);
    reader->can_repeat = true;
    strbuf_add(reader->out, reader->at, bytes);
    reader->at += bytes;
    return 0;
}

static int translate(const char *text, struct strbuf *out, struct err *err)
{
    struct reader reader = {.start = text, .at = text, .out = out, .err = err};

    if (!utf8_is_valid(text))
        return err_set(err, -EINVAL, "invalid UTF-8");
    while (*reader.at) {
        int r = read_one(&reader);
        if (r < 0)
            return r;
    }
    if (reader.open_groups > 0)
        return refuse(&reader, "missing closing )", text, strlen(text));
    return 0;
}

/* --- Matching --- */

static int compile(const char *text, const char *translated, uint32_t options, pcre2_code **ret_code, struct err *err)
{
    PCRE2_UCHAR reason[160];
    PCRE2_SIZE at;
    int code;

    options |= PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE;
    *ret_code = pcre2_compile((PCRE2_SPTR)translated, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
    if (*ret_code)
        return 0;
    (void)pcre2_get_error_message(code, reason, sizeof reason);
    return err_set(err, -EINVAL, "%s: `%.*s`", (const char *)reason, 40, text);
}

int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err)
{
    static const char anywhere[] = "(?s:.*)";
    struct strbuf translated;

    if (strlen(text) > PATTERN_BYTES_MAX)
        return err_set(err, -EINVAL, "expression too large");
    struct pattern *pattern = xcalloc(1, sizeof *pattern);
    strbuf_init(&translated, (size_t)4 * PATTERN_BYTES_MAX);
    strbuf_addf(&translated, "%s(?:", anywhere);
    int r = translate(text, &translated, err);
    strbuf_addch(&translated, ')');
    /* Tried from every character, a search would take quadratic time; as a part of the expression it takes one pass. */
    r = r < 0 ? r : compile(text, translated.text, PCRE2_ANCHORED, &pattern->code, err);
    r = r < 0 ? r : compile(text, translated.text + strlen(anywhere), 0, &pattern->placing, err);
    strbuf_done(&translated);
    if (r < 0) {
        pattern_free(pattern);
        return r;
    }
    pattern->match = pcre2_match_data_create(1, NULL);
    pattern->limits = pcre2_match_context_create(NULL);
    BUG_ON(!pattern->match || !pattern->limits);
    (void)pcre2_set_heap_limit(pattern->limits, FIND_KIB_MAX);
    *ret_pattern = pattern;
    return 0;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_match_data_free(pattern->match);
    pcre2_match_context_free(pattern->limits);
    pcre2_code_free(pattern->code);
    pcre2_code_free(pattern->placing);
    free(pattern);
}

size_t pattern_bytes(const struct pattern *pattern)
{
    size_t code = 0;
    size_t placing = 0;

    (void)pcre2_pattern_info(pattern->code, PCRE2_INFO_SIZE, &code);
    (void)pcre2_pattern_info(pattern->placing, PCRE2_INFO_SIZE, &placing);
    return code + placing;
}

static bool take_steps(uint64_t *steps, uint64_t count)
{
    const bool is_enough = count <= *steps;

    *steps -= is_enough ? count : *steps;
    return is_enough;
}

int pattern_matches_within(const struct pattern *pattern, const char *text, size_t len, uint64_t *steps)
{
    int result = PCRE2_ERROR_DFA_WSSIZE;

    (void)pcre2_set_match_limit(pattern->limits, FIND_MAX);
    /* The workspace holds a state for each place of the expression that is reached at once, and each of them is compared
     * with all others for each character. */
    for (size_t size = WORKSPACE_START; result == PCRE2_ERROR_DFA_WSSIZE && size <= WORKSPACE_MAX; size *= 2) {
        const uint64_t states = size / WORKSPACE_STATE;
        if (!take_steps(steps, 1 + (len + 1) * states * states / STATES_STEP))
            return -E2BIG;
        int *workspace = xcalloc(size, sizeof *workspace);
        result = pcre2_dfa_match(pattern->code, (PCRE2_SPTR)text, len, 0, PCRE2_DFA_SHORTEST, pattern->match,
                                 pattern->limits, workspace, size);
        free(workspace);
    }
    return result >= 0 ? 1 : result == PCRE2_ERROR_NOMATCH ? 0 : -E2BIG;
}

bool pattern_matches(const struct pattern *pattern, const char *text, size_t len)
{
    return pattern_matches_within(pattern, text, len, &(uint64_t){UINT64_MAX}) == 1;
}

int pattern_find(const struct pattern *pattern, const char *text, size_t len, size_t from, uint64_t *steps,
                 struct pattern_place *ret_place)
{
    int result = PCRE2_ERROR_MATCHLIMIT;

    /* How many steps a search has taken is not known behind it: it is given few, and more when they were too few. */
    for (uint32_t limit = FIND_START; result == PCRE2_ERROR_MATCHLIMIT && limit <= FIND_MAX; limit *= 4) {
        if (!take_steps(steps, limit / 4 + (len - from) / 16))
            return -E2BIG;
        (void)pcre2_set_match_limit(pattern->limits, limit);
        result = pcre2_match(pattern->placing, (PCRE2_SPTR)text, len, from, 0, pattern->match, pattern->limits);
    }
    if (result == PCRE2_ERROR_NOMATCH)
        return 0;
    if (result < 0)
        return -E2BIG;
    const PCRE2_SIZE *places = pcre2_get_ovector_pointer(pattern->match);
    *ret_place = (struct pattern_place){.start = places[0], .end = places[1]};
    return 1;
}
