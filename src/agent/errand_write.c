/* How a file of an agent is written: by a shell in the sandbox, so that the kernel decides at every
 * step, whatever becomes of the path meanwhile. The content is whole before the file is touched; a
 * file has its old content or the new one, also where the disk is full. */
#include "agent/errand_parts.h"

/* $1 is the path, $2 the bytes of what stdin has.
 *
 * A file that is there is opened first, which says what is refused by its own name. Where mode,
 * owner and links of it stay, another takes its place; a file with several names, of somebody else
 * or in a directory that cannot be written is written in place, once there is room for all of it.
 * What is no file (a pipe, a device) is written to. A name is known before its file is made: who is
 * stopped in between leaves nothing. Where the file itself is begun, it is not stopped by asking.
 */
const char errand_write_script[] =
	"PATH=/usr/bin:/bin\n"
	"unset all new\n"
	"trap 'trap \"\" HUP INT TERM; rm -f -- ${all:+\"$all\"} ${new:+\"$new\"}' EXIT\n"
	"trap 'exit 1' HUP INT TERM\n"
	"make() { (umask 077; set -C; : >\"$1\") 2>/dev/null; }\n"
	"all=$(mktemp -u) && make \"$all\" && cat >\"$all\" || exit\n"
	"[ $(stat -c %s \"$all\") = \"$2\" ] || { echo 'its content did not come whole' >&2; exit 1; "
	"}\n"
	"if file=$(readlink -f -- \"$1\" && echo .); then file=${file%??}; else file=$1; fi\n"
	"if [ ! -e \"$file\" ]; then\n"
	"	trap '' HUP INT TERM\n"
	"	set -C\n"
	"	exec 3>\"$file\"\n"
	"	new=$file\n"
	"	trap 'exit 1' HUP INT TERM\n"
	"	cat <\"$all\" >&3 || exit\n"
	"	new=\n"
	"	exit\n"
	"fi\n"
	"[ -f \"$file\" ] || { cat <\"$all\" >\"$file\"; exit; }\n"
	": >>\"$file\"\n"
	"about() { stat -c '%a %u %g' -- \"$1\"; }\n"
	"if [ \"$(stat -c %h -- \"$file\")\" = 1 ] && [ -O \"$file\" ] &&\n"
	"	new=$(mktemp -u \"${file%/*}/.perch-XXXXXXXX\") && make \"$new\" &&\n"
	"	cp --attributes-only --preserve=mode,ownership,xattr -- \"$file\" \"$new\" 2>/dev/null &&\n"
	"	[ \"$(about \"$file\")\" = \"$(about \"$new\")\" ]\n"
	"then\n"
	"	cat <\"$all\" >\"$new\" && mv -fT -- \"$new\" \"$file\"\n"
	"	exit\n"
	"fi\n"
	"trap '' HUP INT TERM\n"
	"had=$(stat -c %s -- \"$file\")\n"
	"if [ \"$2\" -gt \"$had\" ] && ! head -c $(($2 - had)) /dev/zero >>\"$file\"; then\n"
	"	truncate -s \"$had\" -- \"$file\"\n"
	"	exit 1\n"
	"fi\n"
	"dd if=\"$all\" of=\"$file\" bs=64k conv=notrunc status=none && truncate -s \"$2\" -- "
	"\"$file\"\n";
