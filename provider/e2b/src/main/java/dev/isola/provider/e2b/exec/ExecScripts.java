package dev.isola.provider.e2b.exec;

/**
 * Scripts that start, signal and kill commands in a sandbox. Caller-supplied text is passed as
 * arguments, never inserted into a script.
 */
final class ExecScripts {
  /** The environment variable that identifies all processes of a command. */
  static final String MARK = "ISOLA_EXECUTION";

  /** Printed after the mark when the command is about to run. */
  static final char RUNS = '.';

  static final char NO_FOLDER = 'd';
  static final char NOT_FOUND = 'n';
  static final char NOT_EXECUTABLE = 'x';

  /**
   * Changes to the folder $2, looks up the program $3, prints the mark $1 with the result, and runs
   * the program.
   */
  static final String START =
      """
      m=$1; d=$2; shift 2
      cd -- "$d" 2>/dev/null || { printf %sd "$m" >&2; exit 125; }
      case $1 in
      */*) p=$1 ;;
      *)
        p=; IFS=:; set -f
        for f in ${PATH:-/usr/local/bin:/usr/bin:/bin}; do
          if [ -f "$f/$1" ]; then
            p=$f/$1
            [ -x "$p" ] && break
          fi
        done
        unset IFS; set +f ;;
      esac
      [ -n "$p" ] && [ -e "$p" ] || { printf %sn "$m" >&2; exit 127; }
      [ -x "$p" ] && [ ! -d "$p" ] || { printf %sx "$m" >&2; exit 126; }
      shift
      printf %s. "$m" >&2
      exec "$p" "$@"
      """;

  /**
   * Kills all processes with the mark $1, the process $2 unless it is 0, and all their descendants,
   * repeatedly until none is left, and waits until they are reaped.
   */
  static final String KILL =
      """
      m=$1; main=$2; all=" "; n=0
      while [ $n -lt 100 ]; do
        n=$((n+1)); tree=" "
        for e in $(grep -lszF -- "$m" /proc/[0-9]*/environ 2>/dev/null); do
          p=${e#/proc/}; tree="$tree${p%/environ} "
        done
        read -r line 2>/dev/null </proc/$main/stat && case ${line##*) } in
        Z*) ;;
        *) tree="$tree$main " ;;
        esac
        grown=1
        while [ $grown = 1 ]; do
          grown=0
          for s in /proc/[0-9]*/stat; do
            read -r line 2>/dev/null <$s || continue
            p=${line%% *}; set -- ${line##*) }
            [ "$1" = Z ] && continue
            case $tree in *" $p "*) continue ;; esac
            case $tree in *" $2 "*) tree="$tree$p "; grown=1 ;; esac
            [ "$4" = "$main" ] && { tree="$tree$p "; grown=1; }
          done
        done 2>/dev/null
        [ "$tree" = " " ] && break
        case $tree in *" $main "*) kill -9 $main 2>/dev/null ;; esac
        some=0
        for p in $tree; do kill -9 $p 2>/dev/null && some=1; done
        [ $some = 1 ] || break
        all="$all$tree"
      done
      for p in $all; do
        while [ -d /proc/$p ] && [ $n -lt 200 ]; do n=$((n+1)); sleep 0.02; done
      done
      exit 0
      """;

  /**
   * Sends the signal $1 to the process group $2, or to the process $2 alone if it leads no group.
   */
  static final String SIGNAL =
      """
      kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" "$2" 2>/dev/null || true
      """;

  private ExecScripts() {}
}
