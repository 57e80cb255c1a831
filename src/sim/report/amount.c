/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report/amount.h"

#include <math.h>
#include <stdio.h>

#include "model/resources.h"

static const struct {
    const char *key;
    enum quantity_unit unit;
    double scale;  // from the model's doubles to the integers of the quantity
} shares[] = {
    [SHARE_CPU] = {"cpu", QUANTITY_MILLI, 1},
    [SHARE_MEMORY] = {"memory", QUANTITY_ONE, 1},
    [SHARE_GPU] = {"gpu", QUANTITY_MILLI, 1000},
};

const char *amount_key(int share)
{
    return shares[share].key;
}

const char *amount_format(int share, double amount, char text[static QUANTITY_TEXT_MAX])
{
    if (amount >= 0)
        return quantity_format(llround(amount * shares[share].scale), shares[share].unit, text);
    (void)snprintf(text, QUANTITY_TEXT_MAX, "unlimited");
    return text;
}
