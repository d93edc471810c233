#!/usr/bin/env bats
# The functions of the queue and a small model of them: random steps and deaths, no difference.

load queue

setup() { queue_open; }
teardown() { queue_close; }

@test "random steps and deaths: the functions do what the model does" { scene model.py model; }
