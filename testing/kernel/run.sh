# run.sh FILE: runs the tests of the kernel server and also writes their summary line to FILE.
set -u
cd "${0%/*}" || exit
case $1 in /*) counts=$1 ;; *) counts=$OLDPWD/$1 ;; esac
rm -f "$counts"
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  echo 'NOT RUN the tests of the kernel server: no python3 of 3.9 or newer'
  echo '0 passed, 0 failed, 1 skipped' >"$counts"
  exit
fi
log=$counts.log
python3 -B test_kernel.py >"$log" 2>&1
status=$?
[ "$status" = 0 ] || cat "$log"
grep 'NOT RUN' "$log"
if ! tail -n 1 "$log" | grep -E '^[0-9]+ passed, ' >"$counts"; then
  echo '0 passed, 1 failed, 0 skipped' >"$counts"
fi
cat "$counts"
exit "$status"
