/* What perch tour shows. */
#include <stddef.h>

#include "cli/tour/tour.h"

const struct tour_scene tour_scenes[] = {
	{
		.title = "A plugin asks, and remembers",
		.text = "A plugin is a program of its own that talks to perch in lines of JSON. It may\n"
				"do what you grant it; this one asks for a store of its own.\n",
		.steps = {
			{ NULL, "perch plugins install ./greeter --yes", NULL, 0 },
			{ "It asks, perch draws the question.\n", "perch run greet",
				"perch run --answer 'Your name:=Ada' greet", 0 },
			{ "And a second time:\n", "perch run greet", NULL, 0 },
		},
	},
	{
		.title = "A tool is refused, and then allowed",
		.text = "A tool answers one request of another program. It sees the system and its own\n"
				"folder, and nothing else of yours; this one wants to read diary.txt.\n",
		.steps = {
			{ NULL, "perch tool add ./diary --yes", NULL, 0 },
			{ "It may not yet, so this ends in an error, as it should:\n",
				"perch tool call tour.diary diary.read", NULL, 1 },
			{ "The hint says what would help. It is you who decides:\n",
				"perch tool allow tour.diary --read diary.txt", NULL, 0 },
			{ NULL, "perch tool call tour.diary diary.read", NULL, 0 },
		},
	},
	{
		.title = "An agent streams its answer",
		.text = "An agent is any program that takes a message and prints a reply. Its words are\n"
				"shown as they come, and a conversation is known again.\n",
		.steps = {
			{ NULL, "perch agent run -p teller/teller.yaml --prompt 'Good morning!'", NULL, 0 },
			{ NULL, "perch agent run -p teller/teller.yaml --prompt 'Still there?'", NULL, 0 },
		},
	},
	{
		.title = "A sandbox stops a theft",
		.text = "Somebody gave you a plugin that counts files. It looks for your private key as\n"
				"well. (This home directory, and the key in it, were made for the tour.)\n",
		.steps = {
			{ NULL, "cat ~/.ssh/id_ed25519", NULL, 0 },
			{ NULL, "perch plugins install ./thief --yes", NULL, 0 },
			{ NULL, "perch run count", NULL, 0 },
			{ "Without its sandbox this would have happened:\n",
				"perch plugins allow thief --sandbox off", NULL, 0 },
			{ "Now it finds the key and ends with code 1. perch tells that as an error, as it\n"
			  "should:\n",
				"perch run count", NULL, 1 },
		},
	},
	{ 0 },
};
