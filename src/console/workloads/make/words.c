/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { WORDS_MAX = 1024 };

/* Whether a backslash in double quotes keeps the next character; before others it stands for itself. */
static bool is_kept_in_quotes(char c)
{
    return c == '"' || c == '\\' || c == '$' || c == '`';
}

/* One word, without its quotes, to `word`, which has room for all of the text. Returns where it ends, or NULL. */
static const char *take_word(const char *text, char *word)
{
    char quote = '\0';

    for (; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
        if (*text == quote) {
            quote = '\0';
        } else if (!quote && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else if (*text == '\\' && quote != '\'' && text[1] && (!quote || is_kept_in_quotes(text[1]))) {
            *word++ = *++text;
        } else {
            *word++ = *text;
        }
    }
    *word = '\0';
    return quote ? NULL : text;
}

int words_split(yyjson_mut_doc *doc, const char *text, yyjson_mut_val **ret_list, struct err *err)
{
    _cleanup_(freep) char *word = xmalloc(strlen(text) + 1);
    yyjson_mut_val *list = yyjson_mut_arr(doc);

    for (text += strspn(text, " \t\r\n"); *text; text += strspn(text, " \t\r\n")) {
        if (!(text = take_word(text, word)))
            return err_set(err, -EINVAL, "a quote is not closed");
        if (yyjson_mut_arr_size(list) == WORDS_MAX)
            return err_set(err, -EINVAL, "more than %d words", WORDS_MAX);
        (void)yyjson_mut_arr_add_strcpy(doc, list, word);
    }
    *ret_list = list;
    return 0;
}
