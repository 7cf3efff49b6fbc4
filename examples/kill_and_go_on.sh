#!/bin/sh
# kill_and_go_on.sh PROGRAM [ARGS]: runs an example, kills it before its first checkpoint, and starts it again, without a
# terminal. The exit code is the second one's.
unset MARTELLO_OLD_RUN
rm -rf train_log
"$@" </dev/null &
until ls train_log/*/log.log >/dev/null 2>&1; do sleep 0.05; done
kill -9 $!
wait $!
"$@" </dev/null
