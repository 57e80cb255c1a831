/* SPDX-License-Identifier: Apache-2.0 */

/* What somebody may have meant: the word that takes the fewest keys to make of what was typed. */
#include "text/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

/* Names of Kubernetes objects are at most 253 characters long, nearly all far shorter. */
enum { WORD_MAX = 128, KEYS_MAX = 2 };

/* Letters to add, take away, change or swap with the next one (Damerau and Levenshtein), row by row; a swap looks two rows
 * back. */
static size_t keys_between(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t len = strlen(b);
    size_t i;

    if (strlen(a) > WORD_MAX || len > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= len; j++)
        rows[0][j] = j;
    for (i = 0; a[i]; i++) {
        const size_t *above = rows[i % 3];
        size_t *row = rows[(i + 1) % 3];

        row[0] = i + 1;
        for (size_t j = 0; j < len; j++) {
            row[j + 1] = MIN(MIN(above[j + 1], row[j]) + 1, above[j] + (a[i] != b[j]));
            if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
                row[j + 1] = MIN(row[j + 1], rows[(i + 2) % 3][j - 1] + 1);
        }
    }
    return rows[i % 3][len];
}

void suggestion_init(struct suggestion *suggestion, const char *typed)
{
    *suggestion = (struct suggestion){.typed = typed, .keys = KEYS_MAX + 1};
}

void suggestion_offer(struct suggestion *suggestion, const char *word)
{
    size_t typed_len = strlen(suggestion->typed);
    bool is_begun = typed_len > 1 && strncmp(word, suggestion->typed, typed_len) == 0;
    size_t keys = is_begun ? 0 : keys_between(suggestion->typed, word);

    /* Half of a short word changed is another word. */
    if (keys < suggestion->keys && keys * 2 < strlen(word)) {
        suggestion->keys = keys;
        suggestion->word = word;
    }
}

const char *suggestion_text(const struct suggestion *suggestion, const char *before, char text[static SUGGESTION_MAX])
{
    text[0] = '\0';
    if (suggestion->word)
        (void)snprintf(text, SUGGESTION_MAX, "; did you mean %s%s?", before, suggestion->word);
    return text;
}
