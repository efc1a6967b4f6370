/* Decides whether a load makes sense: somebody listens, and what comes is no redirect to a login. */
#include "loop.h"
#include <string.h>

/* A server that was there may be starting anew: so long it is waited for. */
#define REFUSED_NS 1000000000u
/* It is looked this often whether the load is of redirects only: minutes should not be spent on them. */
#define LOOK_NS 1000000000u

/* RFC 9110, section 15.4; of the other 3xx, none leads anywhere else by itself. */
static bool is_redirect(int status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* A query is the visitor's own: it is left out. */
static void copy_location(char *copy, const struct response *response)
{
    size_t i;

    for (i = 0; i < response->location_length && i < LOCATION_MAX && !strchr("?#\r", response->location[i]); i++) {
        char c = response->location[i];
        copy[i] = c > ' ' && c <= '~' ? c : '?';
    }
    copy[i] = '\0';
}

void load_count_redirect(struct tally *all, struct request_tally *tally, const struct response *response)
{
    char location[LOCATION_MAX + 1];

    if (!is_redirect(response->status)) return;
    copy_location(location, response);
    all->redirects_count++;
    tally->redirected_count++;
    if (!tally->location[0]) strcpy(tally->location, location);
    else if (strcmp(tally->location, location) != 0) tally->other_locations = true;
}

/* Tells whether more than half of what is sent, by weight, is mostly answered with redirects that are not meant. */
static bool redirected(const struct loop *loop)
{
    uint64_t redirected_weight = 0, all_weight = 0;

    if (!loop->tally->redirects_count) return false; /* a mix may be long */
    for (uint32_t i = 0; i < loop->plan->requests_count; i++) {
        const struct request *request = &loop->plan->requests[i];
        const struct request_tally *tally = &loop->tally->requests[i];
        all_weight += request->weight;
        if (!request->redirect_is_meant && tally->redirected_count * 2 > tally->answered_count) redirected_weight += request->weight;
    }
    return redirected_weight * 2 > all_weight;
}

/* Nobody has listened from the beginning, or nobody does any more. */
static bool refused(const struct loop *loop, uint64_t now)
{
    return loop->refused_since_ns && (loop->tally->answered_count == 0 || now >= loop->refused_since_ns + REFUSED_NS);
}

bool load_pointless(struct loop *loop, uint64_t now)
{
    uint64_t looks_count = (now - loop->began_ns) / LOOK_NS;

    if (refused(loop, now)) return loop->tally->refused = true;
    if (looks_count == loop->looks_count) return false;
    loop->looks_count = looks_count;
    return redirected(loop);
}

void load_conclude(struct loop *loop) { loop->tally->redirected = redirected(loop); }
