package dev.isola.provider.e2b.file;

/** Scripts for file operations. Paths are passed as arguments, never inserted into a script. */
final class FileScripts {
  private static final String FAIL = "fail() { echo \"isola: $1\" >&2; exit 1; }\n";

  /** Fails with the reason if $1 does not exist; a dangling link exists. */
  private static final String THERE =
      "[ -L \"$1\" ] || find \"$1\" -maxdepth 0 >/dev/null || exit 1\n";

  /** Fails with the reason if $1 is not a readable folder. */
  private static final String FOLDER =
      FAIL
          + """
          [ -d "$1" ] || { find "$1" -maxdepth 0 >/dev/null || exit 1; fail 'Not a directory'; }
          [ -r "$1" ] && [ -x "$1" ] || fail 'Permission denied'
          """;

  /** Prints ten NUL-terminated fields per result. */
  private static final String WORDS =
      " -printf '%p\\0%y\\0%m\\0%s\\0%U\\0%G\\0%u\\0%g\\0%T@\\0%l\\0'";

  static final String STAT = "exec find \"$1\" -maxdepth 0" + WORDS;

  /** Describes the target of $1, under its resolved path. */
  static final String FOLLOW =
      FAIL
          + """
          p=$(readlink -en -- "$1" && echo x) || {
            find "$1" -maxdepth 0 >/dev/null || exit 1
            fail 'No such file or directory'
          }
          """
          + "exec find \"${p%x}\" -maxdepth 0"
          + WORDS;

  /** Lists $1, spelled $2, to the depth $3. */
  static final String LIST =
      FOLDER
          + "find \"$2\" -mindepth 1 -maxdepth $3 -ignore_readdir_race"
          + WORDS
          + " 2>/dev/null || true";

  /** Lists the paths below $1, spelled $2, that match $3. */
  static final String GLOB =
      FOLDER
          + "find \"$2\" -mindepth 1 -ignore_readdir_race -regextype posix-extended -regex \"$3\""
          + WORDS
          + " 2>/dev/null || true";

  static final String MAKE_FOLDER = "exec mkdir -p -m \"$2\" -- \"$1\"";

  static final String MOVE =
      FAIL
          + THERE
          + """
          if [ "$3" != replace ]; then
            if [ -e "$2" ] || [ -L "$2" ]; then fail 'File exists'; fi
          fi
          exec mv -fT -- "$1" "$2"
          """;

  static final String REMOVE =
      """
      if [ -d "$1" ] && [ ! -L "$1" ]; then exec rmdir -- "$1"; fi
      exec rm -- "$1" </dev/null
      """;

  static final String REMOVE_ALL = THERE + "exec rm -rf -- \"$1\"";

  static final String CHANGE_MODE = "exec chmod -- \"$2\" \"$1\"";

  static final String CHANGE_OWNER = "exec chown -h -- \"$2\" \"$1\"";

  static final String LINK = "exec ln -sT -- \"$2\" \"$1\"";

  static final String DROP = "exec rm -f -- \"$1\"";

  /**
   * Moves the staged content $1 to $2 in the folder $3: with the strategy $4 (whole, new, in-place,
   * append), the mode $5 if any, moved or copied ($6), and synced to disk or not ($7).
   */
  static final String PUT =
      FAIL
          + """
          t=$2; d=$3
          [ -d "$t" ] && fail 'Is a directory'
          if [ -e "$d" ] && [ ! -d "$d" ]; then fail 'Not a directory'; fi
          mkdir -p -- "$d" || exit 1
          case $4 in
          append|in-place)
            if [ -e "$t" ] && [ ! -f "$t" ]; then fail 'Not a regular file'; fi
            if [ -e "$t" ]; then m=$5; else m=${5:-00644}; fi
            if [ $4 = append ]; then cat "$1" >>"$t" || exit 1; else cat "$1" >"$t" || exit 1; fi
            [ -z "$m" ] || chmod -- "$m" "$t" || exit 1
            [ "$7" != sync ] || sync -- "$t" || exit 1 ;;
          *)
            n=$d/.isola-${1##*-}
            trap 'rm -f -- "$n"' EXIT
            if [ $4 = new ]; then if [ -e "$t" ] || [ -L "$t" ]; then fail 'File exists'; fi; fi
            if [ "$6" = move ]; then mv -fT -- "$1" "$n" || exit 1; else cp -T -- "$1" "$n" || exit 1; fi
            if [ -z "$5" ] && [ -f "$t" ]; then chmod --reference="$t" -- "$n"; else chmod -- "${5:-00644}" "$n"; fi || exit 1
            [ "$7" != sync ] || sync -- "$n" || exit 1
            if [ $4 = new ]; then ln -T -- "$n" "$t" || exit 1; else mv -fT -- "$n" "$t" || exit 1; fi ;;
          esac
          rm -f -- "$1" 2>/dev/null
          """
          + "find \"$t\" -maxdepth 0"
          + WORDS;

  /** Prints the topmost path of $1 and its parents that does not exist, as seen by the user $2. */
  static final String MISSING =
      """
      case $2 in
      [0-9]*) ;;
      *) id -u -- "$2" >/dev/null 2>&1 || { echo "invalid user: $2" >&2; exit 1; } ;;
      esac
      top=; p=$1
      while [ -n "$p" ] && [ ! -e "$p" ] && [ ! -L "$p" ]; do
        top=$p
        case ${p%/*} in "$p") break ;; esac
        p=${p%/*}
      done
      printf %s "$top"
      """;

  /** Changes the owner of $1 and everything below it to $2. */
  static final String GIVE = "exec chown -hR -- \"$2\" \"$1\"";

  /** Prints the content of $1 from byte $2 (the first is 1), limited to $3 bytes if given. */
  static final String READ =
      """
      exec 3<"$1" || exit 2
      if [ -n "$3" ]; then tail -c +"$2" <&3 | head -c "$3"; else tail -c +"$2" <&3; fi || exit 2
      """;

  /** Archives the entry $1 of the folder $2 under the name $3, without paths that match $4. */
  static final String PACK =
      THERE
          + """
          if [ -L "$1" ] || [ ! -d "$1" ]; then
            exec tar -C "$2" --format=pax -cf - -- "$3"
          fi
          cd -- "$1" || exit 1
          find . -mindepth 1 -ignore_readdir_race -regextype posix-extended \\
              \\( -regex "$4" -prune \\) -o \\( -type f -o -type d -o -type l \\) -printf '%P\\0' |
            tar --format=pax --null --verbatim-files-from --no-recursion \\
                --ignore-failed-read --warning=none -cf - -T -
          """;

  /** Extracts $1 into $2. */
  static final String UNPACK =
      """
      tar -C "$2" --no-same-owner -pxf "$1" || exit 1
      rm -f -- "$1"
      """;

  /** Prints the extended attributes of $2 in hexadecimal, or changes one. */
  static final String ATTRIBUTES =
      """
      command -v python3 >/dev/null || { echo 'python3: not found' >&2; exit 1; }
      exec python3 -c '
      import os, sys
      what, path = sys.argv[1], os.fsencode(sys.argv[2])
      try:
          if what == "get":
              for name in os.listxattr(path):
                  if name.startswith("user."):
                      print(os.fsencode(name[5:]).hex(), os.getxattr(path, name).hex())
          elif what == "set":
              os.setxattr(path, "user." + sys.argv[3], bytes.fromhex(sys.argv[4]))
          else:
              os.removexattr(path, "user." + sys.argv[3])
      except OSError as e:
          sys.stderr.write("isola: " + os.strerror(e.errno) + chr(10))
          sys.exit(1)
      ' "$@"
      """;

  private FileScripts() {}
}
