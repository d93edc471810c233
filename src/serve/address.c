/* Addresses of peers. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define STRANGERS_WINDOW_NS (60 * NSEC_PER_SEC)

static const uint8_t address_mapped[12] = { [10] = 0xff, [11] = 0xff };

struct address address_of(const struct sockaddr_storage *socket)
{
	struct address address = { 0 };
	if (socket->ss_family == AF_INET) {
		memcpy(address.bytes, address_mapped, sizeof(address_mapped));
		memcpy(address.bytes + 12, &((const struct sockaddr_in *)socket)->sin_addr, 4);
	} else if (socket->ss_family == AF_INET6) {
		memcpy(address.bytes, &((const struct sockaddr_in6 *)socket)->sin6_addr, ADDRESS_SIZE);
	}
	return address;
}

bool address_parse(struct str text, struct address *ret_address)
{
	char copy[ADDRESS_TEXT_SIZE];
	struct address address = { 0 };
	if (!text.len || text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	memcpy(address.bytes, address_mapped, sizeof(address_mapped));
	if (inet_pton(AF_INET, copy, address.bytes + 12) != 1 &&
		inet_pton(AF_INET6, copy, address.bytes) != 1)
		return false;
	*ret_address = address;
	return true;
}

bool address_is_local(const struct address *address)
{
	static const uint8_t none[ADDRESS_SIZE] = { 0 };
	static const uint8_t loopback[ADDRESS_SIZE] = { [15] = 1 };
	if (memcmp(address->bytes, address_mapped, sizeof(address_mapped)) == 0)
		return address->bytes[12] == 127;
	return memcmp(address->bytes, none, sizeof(none)) == 0 ||
		memcmp(address->bytes, loopback, sizeof(loopback)) == 0;
}

void address_write(const struct address *address, char out[ADDRESS_TEXT_SIZE])
{
	static const struct address nobody;
	bool is_old = memcmp(address->bytes, address_mapped, sizeof(address_mapped)) == 0;
	if (memcmp(address, &nobody, sizeof(nobody)) == 0)
		strcpy(out, "unix");
	else
		inet_ntop(is_old ? AF_INET : AF_INET6, address->bytes + (is_old ? 12 : 0), out,
			ADDRESS_TEXT_SIZE);
}

/* ---- strangers ----------------------------------------------------------------- */

struct stranger {
	struct link link;
	struct address address;
	unsigned connections;
	unsigned wrongs;
	uint64_t since_ns; /* the first of these wrongs */
};

/* Who has one address of IPv6 has the 2^64 that begin like it. */
static struct address strangers_network(const struct address *address)
{
	struct address network = *address;
	if (memcmp(address->bytes, address_mapped, sizeof(address_mapped)) != 0 &&
		!address_is_local(address))
		memset(network.bytes + ADDRESS_SIZE / 2, 0, ADDRESS_SIZE / 2);
	return network;
}

static unsigned strangers_bucket(const struct address *address)
{
	unsigned hash = 0;
	for (size_t i = 0; i < ADDRESS_SIZE; i++)
		hash = hash * 31 + address->bytes[i];
	return hash % STRANGERS_BUCKETS;
}

static struct stranger *strangers_find(
	const struct strangers *strangers, const struct address *address)
{
	const struct address network = strangers_network(address);
	const struct list *bucket = &strangers->buckets[strangers_bucket(&network)];
	for (struct stranger *item = list_first(bucket); item; item = list_next(item)) {
		if (memcmp(&item->address, &network, sizeof(network)) == 0)
			return item;
	}
	return NULL;
}

static void strangers_remove(struct strangers *strangers, struct stranger *stranger)
{
	list_remove(&strangers->buckets[strangers_bucket(&stranger->address)], stranger);
	strangers->count--;
	free(stranger);
}

/* Room is made by forgetting one that holds no connection: of the same bucket, or of the next that
 * has such a one, because a client with many addresses chooses which buckets it fills. */
static bool strangers_make_room(struct strangers *strangers, unsigned bucket)
{
	if (strangers->count < STRANGERS_MAX)
		return true;
	for (unsigned i = 0; i < STRANGERS_BUCKETS; i++) {
		const struct list *place = &strangers->buckets[(bucket + i) % STRANGERS_BUCKETS];
		struct stranger *item = list_first(place);
		while (item && item->connections)
			item = list_next(item);
		if (item) {
			strangers_remove(strangers, item);
			return true;
		}
	}
	return false;
}

static struct stranger *strangers_get(struct strangers *strangers, const struct address *address)
{
	const struct address network = strangers_network(address);
	unsigned bucket = strangers_bucket(&network);
	struct stranger *stranger = strangers_find(strangers, address);
	if (stranger || !strangers_make_room(strangers, bucket))
		return stranger;
	stranger = calloc(1, sizeof(*stranger));
	if (!stranger)
		return NULL;
	stranger->address = network;
	list_append(&strangers->buckets[bucket], stranger);
	strangers->count++;
	return stranger;
}

size_t strangers_enter(struct strangers *strangers, const struct address *address)
{
	struct stranger *stranger = strangers_get(strangers, address);
	return stranger ? ++stranger->connections : SIZE_MAX;
}

void strangers_leave(struct strangers *strangers, const struct address *address)
{
	struct stranger *stranger = strangers_find(strangers, address);
	if (stranger && stranger->connections && !--stranger->connections && !stranger->wrongs)
		strangers_remove(strangers, stranger);
}

void strangers_blame(struct strangers *strangers, const struct address *address, uint64_t now_ns)
{
	struct stranger *stranger = strangers_get(strangers, address);
	if (!stranger)
		return;
	if (!stranger->wrongs || now_ns - stranger->since_ns >= STRANGERS_WINDOW_NS) {
		stranger->wrongs = 0;
		stranger->since_ns = now_ns;
	}
	stranger->wrongs++;
}

bool strangers_are_blocked(
	const struct strangers *strangers, const struct address *address, uint64_t now_ns)
{
	const struct stranger *stranger = strangers_find(strangers, address);
	return stranger && stranger->wrongs >= STRANGERS_WRONG_MAX &&
		now_ns - stranger->since_ns < STRANGERS_WINDOW_NS;
}

void strangers_free(struct strangers *strangers)
{
	for (size_t i = 0; i < STRANGERS_BUCKETS; i++) {
		struct stranger *stranger;
		while ((stranger = list_first(&strangers->buckets[i])))
			strangers_remove(strangers, stranger);
	}
}
