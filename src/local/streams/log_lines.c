/* SPDX-License-Identifier: Apache-2.0 */
#include "local/streams/log_lines.h"

#include <string.h>

/* The next word, up to a space; false without one. */
static bool take_word(const char **at, const char *end, const char **ret_word, size_t *ret_len)
{
    const char *space = memchr(*at, ' ', (size_t)(end - *at));

    if (!space)
        return false;
    *ret_word = *at;
    *ret_len = (size_t)(space - *at);
    *at = space + 1;
    return true;
}

bool log_line_parse(const char *bytes, size_t len, struct log_line *ret_line)
{
    const char *at = bytes, *end = bytes + len, *stream, *tag;
    size_t stream_len, tag_len;
    struct log_line line = {0};
    char time[TIME_TEXT_MAX];

    if (!take_word(&at, end, &line.time_text, &line.time_len) || !take_word(&at, end, &stream, &stream_len) ||
        !take_word(&at, end, &tag, &tag_len) || line.time_len >= sizeof time || stream_len != strlen("stdout") ||
        tag_len != 1)
        return false;
    memcpy(time, line.time_text, line.time_len);
    time[line.time_len] = '\0';
    line.is_stderr = memcmp(stream, "stderr", stream_len) == 0;
    line.is_whole = *tag == 'F';
    if (time_parse(time, &line.time, NULL) < 0 || (!line.is_stderr && memcmp(stream, "stdout", stream_len) != 0) ||
        (!line.is_whole && *tag != 'P'))
        return false;
    line.text = at;
    line.len = (size_t)(end - at);
    *ret_line = line;
    return true;
}

bool log_line_is_wanted(const struct log_line *line, const struct log_options *options)
{
    return line->time >= options->since && !(line->is_stderr ? options->skips_stderr : options->skips_stdout);
}
