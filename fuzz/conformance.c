/* Any bytes as a file of the conformance kit, and, behind a line `---`, as what the
 * other side says: no crash, no hang; what is accepted can be played to its end. */
#include "fuzz.h"

#include "conformance/case_player.h"

enum { ACTS_MAX = 100 * 1000 };

/* Until it waits, or is over. A fill of 256 MiB has 4096 acts. */
static bool carry_on(struct player *player)
{
	for (int i = 0; i < ACTS_MAX; i++) {
		struct act act = player_next(player);
		check(!act.text.len || act.text.data);
		if (act.kind == ACT_WAIT || act.kind == ACT_DONE)
			return act.kind == ACT_WAIT;
	}
	return false;
}

static void play(const struct conformance_case *test, struct str lines)
{
	static const struct variable variables[] = { { "dir", "\"/d\"" }, { 0 } };
	struct player player;
	player_init(&player, test, variables);
	while (carry_on(&player) && lines.len)
		player_hear(&player, str_cut(&lines, '\n'));
	player_hear_end(&player);
	carry_on(&player);
	check(!player.is_out_of_memory);
	check(!player.has_failed || player.problem.len);
	player_free(&player);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct case_file file;
	struct str text = { (const char *)data, size };
	const char *end = size ? memmem(text.data, text.len, "\n---\n", 5) : NULL;
	struct str lines = { 0 };
	if (end) {
		lines = (struct str){ end + 5, (size_t)(text.data + text.len - (end + 5)) };
		text.len = (size_t)(end - text.data) + 1;
	}
	case_file_parse(text, PROTOCOL_FLEDGE, &arena, &file, &findings);
	check(!findings.failed && (!findings.errors || !file.count));
	for (size_t i = 0; i < file.count && i < 4; i++) {
		check(file.items[i].id && file.items[i].rule && file.items[i].options);
		check(file.items[i].expect.lines && file.items[i].expect.stderr_has);
		play(&file.items[i], lines);
	}
	findings_free(&findings);
	arena_free(&arena);
	return 0;
}
