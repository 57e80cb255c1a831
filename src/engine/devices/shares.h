/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/devices/offer.h"

/*
 * Devices that several claims share, each with a part of their capacities. What a request takes of each capacity is decided
 * by the device's request policies alone; whether that is left, by what others have taken.
 */

/* An amount in billionths. */
__extension__ typedef __int128 device_nano;

static inline device_nano amount_nano(const struct device_amount *amount)
{
    return (device_nano)amount->whole * 1000000000 + amount->nano;
}

struct share_sum {
    const char *name;  // of the capacity; NULL: a share that takes nothing
    device_nano sum;
    uint32_t shares;  // that take some of it; 0: none is left
    uint32_t next;
};

/* By device: what all shares of it take. Zeroed memory is an empty book. */
struct share_book {
    struct map64 first;  // device -> its first sum
    VEC(struct share_sum) sums;
};

void share_book_done(struct share_book *book);
void share_book_clear(struct share_book *book);
size_t share_book_bytes(const struct share_book *book);

/* Adds a share of the device, or takes one out that was added. The amounts' names are those of the state. */
void share_book_add(struct share_book *book, uint32_t device, const struct device_amount *amounts, uint32_t count);
void share_book_remove(struct share_book *book, uint32_t device, const struct device_amount *amounts, uint32_t count);

/* Is there a share of the device? One that takes some of its capacities? How much of one do they take together? */
bool share_book_has(const struct share_book *book, uint32_t device);
bool share_book_has_amounts(const struct share_book *book, uint32_t device);
device_nano share_book_sum(const struct share_book *book, uint32_t device, const char *name);

enum share_answer {
    SHARE_OK,
    SHARE_NO_CAPACITY,  // the device has no capacity of that name
    SHARE_NOT_ALLOWED,  // the policy does not allow as much
};

/*
 * What a request takes of each capacity of the device, in the order of offer->capacity; the list lies in the arena. Amounts
 * that were rounded to a step have no text. `ret_name` is the capacity that an answer other than SHARE_OK is about.
 */
enum share_answer share_amounts(struct arena *arena, const struct device_offer *offer, const struct device_ask *ask,
                                const struct device_amount **ret_amounts, const char **ret_name);
