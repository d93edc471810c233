#!/bin/sh
# Fails as the message says: for trying out what a bridge makes of it.
echo "AGENT_SESSION:failing"
case $AGENT_MESSAGE in
error) # says so itself: the turn has failed whatever the exit status
    echo 'this body is never seen'
    echo 'AGENT_ERROR:"The upstream API is rate limited. Try again in 60s."'
    echo 'AGENT_PARTIAL:"nor is this"'
    ;;
empty-error) echo 'AGENT_ERROR:""' ;;
two-errors)
    echo 'AGENT_ERROR:"the first one counts"'
    echo 'AGENT_ERROR:"the second one goes to the log"'
    ;;
exit) # a status, and why on stderr
    echo 'half a reply'
    echo 'no configuration found' >&2
    exit 3
    ;;
signal) kill -ABRT $$ ;;
timeout) # takes too long, and does not even stop when asked
    echo 'AGENT_PARTIAL:"I am thinking …"'
    trap '' TERM
    while :; do sleep 1; done
    ;;
obedient-timeout) # takes too long, but leaves when asked
    trap 'echo "AGENT_PARTIAL:\"I did not finish.\""; exit 0' TERM
    while :; do sleep 0.05; done
    ;;
child) # leaves something behind that holds stdout
    sleep 3600 &
    echo 'the turn does not wait for my child'
    ;;
not-json)
    echo 'AGENT_PARTIAL:no quotes'
    echo 'AGENT_ERROR:no quotes either'
    ;;
bad-session)
    echo 'AGENT_SESSION:../../etc/passwd'
    echo 'the session id before is kept'
    ;;
long-line) head -c 9000000 /dev/zero | tr '\0' x ;;
flood) yes 'the same line again and again, far more than anybody wants to read' ;;
not-utf8) printf 'caf\351\n' ;;
silent) ;;
*)
    echo 'AGENT_ERROR:"I know these: error, empty-error, two-errors, exit, signal, timeout, obedient-timeout, child, not-json, bad-session, long-line, flood, not-utf8, silent"'
    ;;
esac
