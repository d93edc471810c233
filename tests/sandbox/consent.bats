#!/usr/bin/env bats
# What decides a sandbox, a profile, a binding, a bundle, is not decided from inside of it; and
# nothing is started before somebody has agreed. The cases are in consent.sh.

load sandbox.bash
load ../harness/users

setup() {
    sandbox_open
    users_bring "$PERCH_SOURCE/tests/sandbox/consent.sh"
}

# both CASE
both() {
    has_rooms || skip "no namespaces here"
    as_both consent.sh "$1"
}

@test "a bundle does not name a folder outside of its own" { both bundle_names_its_folder; }
@test "a bundle does not name a command outside of its folder" { both bundle_names_its_command; }
@test "a bundle that is a link brings no other folder" { both bundle_is_a_link; }
@test "a tool uncovers nothing by lying where secrets are" { both tool_lies_where_secrets_are; }
@test "what a tool would see is shown, and nothing started, before somebody agrees" {
    both consent_comes_before_the_start
}
@test "a tool in the home directory: told at add, perch's own files stay hidden" {
    both tool_in_the_home_directory_is_told
}

@test "an agent does not rewrite its profile, nor its program" { both agent_rewrites_its_profile; }
@test "an agent does not rename what holds its profile" { both agent_renames_what_holds_its_profile; }
@test "an agent does not replace a link to its profile" { both agent_replaces_a_link_to_its_profile; }
@test "an agent does not replace a link on the way to its profile" {
    both agent_replaces_a_link_on_the_way
}
@test "an agent does not lead its directory elsewhere" { both agent_moves_its_directory; }
@test "what was recorded of profiles that are gone is forgotten" {
    both what_is_recorded_of_files_that_are_gone_is_forgotten
}
@test "without a room, a profile that was away and allows more is refused" {
    both profile_goes_away_and_comes_back
}
@test "without a room, a profile that allows more than before is refused" {
    both agent_rewrites_its_profile_without_a_room
}
@test "a network that was closed is opened by nobody but you" { both network_that_was_closed_stays_so; }
@test "a grant from before there were hashes: approved at the next run" {
    both old_grants_without_a_hash_are_approved_at_the_next_run
}
@test "no other sandbox rewrites a profile or its program" { both others_rewrite_a_profile; }
@test "a tool does not rewrite its binding, its bundle, its program" { both tool_rewrites_its_binding; }
@test "a tool does not replace a link to its binding" { both tool_replaces_a_link_to_its_binding; }
@test "a binding that allows more than before is refused" { both binding_that_allows_more_is_refused; }
@test "without a room, a binding that asks about less, pins less, limits less is refused" {
    both binding_that_takes_away_less_is_refused
}
@test "perch's own programs are not replaced where they lie in the project" { both perch_in_the_project; }
@test "a tree of programs that is planted beside a perch in the project is not perch's" { both perch_and_a_planted_tree; }
@test "a perch alone in the project: that its programs were planted is told" { both perch_alone_in_the_project; }

@test "what is advised is one word for each name, whatever it is called" { both advice_is_quoted; }
@test "what cannot be shown as it is, is not advised" { both advice_is_exact_or_not_there; }
