#!/bin/sh
# What the sandbox has on this machine: the layers, and the properties that nothing enforces.
#
#     tests/machines/layers.sh PERCH
"$1" sandbox check --json | jq -r '
    def lacks: [.properties[] | select(.asked and .layer == null) | .name];
    "layers " + (.policies[0].layers | join(" ")),
    (.policies[] | select(lacks != []) | "nothing enforces for \(.policy): \(lacks | join(" "))"),
    (.policies[0].no_namespaces // empty | "no namespaces: \(.)")'
