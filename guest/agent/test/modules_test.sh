#!/bin/sh
# Tests that the files of the agent, and those of the launcher, do not depend on each other in a circle. A module is a
# .c file with the .h file of its name. It depends on another one if it includes its header or uses a function or a
# variable that it defines, whichever header declares it. usage: modules_test.sh OUT
set -u
out=$1
planted=$out/release/planted
passed=0
failed=0

# Prints "USER USED REASON" for each dependency. usage: dependencies SOURCES OBJECTS
dependencies() {
  (cd "$1" && grep -H '^#include "' ./*.[ch]) |
    sed -n 's|^\./\([a-z0-9_]*\)\.[ch]:#include "\([a-z0-9_]*\)\.h".*|\1 \2 includes|p' |
    while read -r user used reason; do
      if [ "$user" != "$used" ] && [ -e "$1/$used.h" ]; then echo "$user $used $reason"; fi
    done
  nm -A "$2"/*.o | sed 's|^[^:]*/\([a-z0-9_]*\)\.o:[0-9a-f ]*|\1 |' | awk '
    $2 == "U" { users[$3] = users[$3] " " $1; next }
    $2 ~ /^[A-Z]$/ { definer[$3] = $1 }
    END {
      for (name in definer) {
        count = split(users[name], list, " ")
        for (i = 1; i <= count; i++) if (list[i] != definer[name]) print list[i], definer[name], "uses:" name
      }
    }'
}

# Prints a circle of modules, or nothing if there is none. usage: circle SOURCES OBJECTS
circle() {
  dependencies "$1" "$2" | LC_ALL=C sort | awk '
    { reason[$1, $2] = $3; uses[$1] = uses[$1] " " $2; modules[$1]; modules[$2] }
    # Every module that is left uses one that is left, so that a walk among them returns to where it has been.
    function next_of(module, list, count, i) {
      count = split(uses[module], list, " ")
      for (i = 1; i <= count; i++) if (list[i] in modules) return list[i]
      return ""
    }
    END {
      do {
        removed = 0
        for (module in modules) if (next_of(module) == "") { delete modules[module]; removed = 1 }
      } while (removed)
      for (module in modules) break
      if (next_of(module) == "") exit
      while (!(module in seen)) { seen[module]; module = next_of(module) }
      start = module
      do {
        following = next_of(module)
        text = text module " (" reason[module, following] ") -> "
        module = following
      } while (module != start)
      print text start
    }'
}

# Writes a file of a planted module and compiles it. usage: plant NAME CONTENT
plant() {
  printf '%b' "$2" >"$planted/$1"
  case $1 in
  *.c) "${CC:-cc}" -I"$planted" -c -o "$planted/${1%.c}.o" "$planted/$1" || exit ;;
  esac
}

# usage: expect TEST PATTERN TEXT
expect() {
  # shellcheck disable=SC2254 # it is a pattern
  case $3 in
  $2)
    echo "ok $1"
    passed=$((passed + 1))
    ;;
  *)
    echo "FAILED $1: ${3:-nothing}"
    failed=$((failed + 1))
    ;;
  esac
}

rm -rf "$planted"
mkdir -p "$planted"
plant lower.h 'void lower(void);\n'
plant upper.h 'void upper(void);\n'
plant lower.c '#include "lower.h"\nvoid lower(void) {}\n'
plant upper.c '#include "lower.h"\n#include "upper.h"\nvoid upper(void) { lower(); }\n'
expect modules_in_layers_have_no_circle '' "$(circle "$planted" "$planted")"
plant lower.h '#include "upper.h"\nvoid lower(void);\n'
expect a_circle_of_headers_is_found '*lower (includes)*' "$(circle "$planted" "$planted")"
plant both.h 'void lower(void);\nvoid upper(void);\n'
plant lower.c '#include "both.h"\nvoid lower(void) { upper(); }\n'
plant upper.c '#include "both.h"\nvoid upper(void) { lower(); }\n'
rm "$planted/lower.h" "$planted/upper.h"
expect a_circle_of_calls_is_found '*upper (uses:lower)*' "$(circle "$planted" "$planted")"
rm -r "$planted"

agent=$out/release/src
launcher=../../host/launcher/src
launcher_objects=$out/release/launcher
expect dependencies_of_the_agent_are_found '*main dispatch uses:dispatch_frame*' "$(dependencies src "$agent")"
expect the_agent_has_no_circle_of_modules '' "$(circle src "$agent")"
expect dependencies_of_the_launcher_are_found '*launch ready uses:ready_await*' \
  "$(dependencies "$launcher" "$launcher_objects")"
expect the_launcher_has_no_circle_of_modules '' "$(circle "$launcher" "$launcher_objects")"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
