package dev.isola.engine.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.file.TreeLimits;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Executes the steps of a recipe in a sandbox, in order. */
final class BuildStepRunner {
  private static final Duration LONGEST = Duration.ofMinutes(30);
  private static final TreeLimits UPLOAD = new TreeLimits(8L << 30, 1_000_000);
  private static final String ROOT = "root";

  /** Runs the last argument with bash if the image has it, otherwise with sh. */
  static final String SHELL =
      "if [ -x /bin/bash ]; then exec /bin/bash -l -c \"$1\"; else exec /bin/sh -l -c \"$1\"; fi";

  private static final String COPY =
      """
      set -e
      if [ -n "$BASH_VERSION" ]; then shopt -s dotglob nullglob; fi
      cd "$1"; src="${2#./}"; dest="$3"; owner="$4"; mode="$5"
      if [ -z "$src" ]; then src=.; fi
      if [ -e "$src" ]; then set -- "$src"; else IFS=; set -- $src; fi
      if [ -n "$BASH_VERSION" ]; then shopt -u dotglob; fi
      if [ $# -eq 0 ] || { [ ! -e "$1" ] && [ ! -L "$1" ]; }; then
        echo "nothing is called $src in the upload" >&2; exit 1
      fi
      folder() {
        if [ ! -d "$1" ]; then mkdir -p -- "$1"; chown -- "$owner" "$1"; fi
      }
      count=$#
      for one in "$@"; do
        chown -R -h -- "$owner" "$one"
        if [ -n "$mode" ]; then chmod -R -- "$mode" "$one"; fi
        if [ -d "$one" ] && [ ! -L "$one" ]; then
          folder "$dest"
          for child in "$one"/* "$one"/.[!.]* "$one"/..?*; do
            if [ -e "$child" ] || [ -L "$child" ]; then cp -a -- "$child" "${dest%/}/"; fi
          done
        elif [ "$count" -gt 1 ] || [ -d "$dest" ] || [ "${dest%/}" != "$dest" ]; then
          folder "$dest"; cp -a -- "$one" "${dest%/}/"
        else
          mkdir -p -- "$(dirname -- "$dest")"; cp -a -- "$one" "$dest"
        fi
      done
      """;

  private final Sandbox sandbox;
  private final BuildLogWriter log;
  private final Function<String, InputStream> uploads;
  private final Map<String, String> env = new LinkedHashMap<>();
  private String user;
  private String cwd;

  /**
   * @param from the defaults of the base
   * @param uploads opens the archive with a given SHA-256
   */
  BuildStepRunner(
      Sandbox sandbox,
      Recipe.Defaults from,
      BuildLogWriter log,
      Function<String, InputStream> uploads) {
    this.sandbox = sandbox;
    this.log = log;
    this.uploads = uploads;
    env.putAll(from.env());
    user = from.user();
    cwd = from.cwd();
  }

  Map<String, String> env() {
    return Map.copyOf(env);
  }

  String user() {
    return user;
  }

  String cwd() {
    return cwd;
  }

  /** Applies a step whose files are cached. */
  void skip(BuildStep step, int number) {
    log.info("CACHED " + step.text(), Optional.of(number));
    applySettings(step);
  }

  /**
   * Executes a step.
   *
   * @throws SandboxException with {@code BUILD_FAILED} if the step itself fails
   */
  void run(BuildStep step, int number) {
    log.info(step.text(), Optional.of(number));
    applySettings(step);
    switch (step) {
      case BuildStep.Run run -> shell(run, number);
      case BuildStep.Copy copy -> copy(copy, number);
      case BuildStep.Workdir _ ->
          asRoot(
              step,
              number,
              "mkdir -p -- \"$1\" && chown -- \"$2\" \"$1\"",
              List.of(cwd, user.isEmpty() ? ROOT : user),
              Map.of());
      case BuildStep.Packages packages ->
          asRoot(step, number, InstallScripts.of(packages.installer()), packages.names(), env);
      case BuildStep.Env _, BuildStep.User _ -> {}
    }
  }

  /** Returns whether a step changes files. */
  static boolean changesFiles(BuildStep step) {
    return !(step instanceof BuildStep.Env || step instanceof BuildStep.User);
  }

  private void applySettings(BuildStep step) {
    switch (step) {
      case BuildStep.Env variables -> env.putAll(variables.variables());
      case BuildStep.Workdir workdir -> cwd = absolute(workdir.path());
      case BuildStep.User next -> user = next.name();
      case BuildStep.Run _, BuildStep.Copy _, BuildStep.Packages _ -> {}
    }
  }

  private String absolute(String path) {
    return path.startsWith("/") ? path : (cwd.endsWith("/") ? cwd : cwd + "/") + path;
  }

  private void shell(BuildStep.Run run, int number) {
    String as = run.user().filter(name -> !name.isEmpty()).orElse(user);
    execute(
        run,
        number,
        Command.argv("/bin/sh", "-c", SHELL, "run", path() + run.command())
            .withUser(as.isEmpty() ? ROOT : as)
            .withEnv(env)
            .withCwd(cwd.isEmpty() ? "/" : cwd)
            .withTimeout(LONGEST));
  }

  /** A login shell sets PATH anew; the one that a step or the base has set takes precedence. */
  private String path() {
    String path = env.getOrDefault("PATH", "");
    return path.isEmpty() ? "" : "export PATH='" + path.replace("'", "'\\''") + "'; ";
  }

  private void asRoot(
      BuildStep step,
      int number,
      String script,
      List<String> arguments,
      Map<String, String> variables) {
    List<String> words = new ArrayList<>(List.of("-c", script, "step"));
    words.addAll(arguments);
    execute(
        step,
        number,
        Command.argv("/bin/sh", words.toArray(String[]::new))
            .withUser(ROOT)
            .withEnv(variables)
            .withCwd("/")
            .withTimeout(LONGEST));
  }

  private void copy(BuildStep.Copy copy, int number) {
    String place = "/tmp/isola-copy-" + number;
    try (InputStream upload = plain(uploads.apply(copy.archive()))) {
      sandbox.files().importTree(place, upload, UPLOAD);
    } catch (IOException e) {
      throw failure(copy, number, "its archive cannot be read: " + e.getMessage()).exception(e);
    } catch (SandboxException e) {
      throw e.code() == ErrorCode.BAD_ARCHIVE
          ? failure(copy, number, "its archive was rejected: " + e.fault().problem()).exception(e)
          : e;
    }
    asRoot(
        copy,
        number,
        "if [ -x /bin/bash ]; then exec /bin/bash -c \"$@\"; else exec /bin/sh -c \"$@\"; fi",
        List.of(
            COPY,
            "copy",
            place,
            copy.source(),
            absolute(copy.destination()),
            copy.owner().filter(name -> !name.isEmpty()).orElse(user.isEmpty() ? ROOT : user),
            copy.mode().orElse("")),
        Map.of());
    sandbox.files().remove(place, true);
  }

  /** Decompresses the stream if it is gzipped. */
  private static InputStream plain(InputStream in) throws IOException {
    BufferedInputStream buffered = new BufferedInputStream(in);
    buffered.mark(2);
    int first = buffered.read();
    int second = buffered.read();
    buffered.reset();
    return first == 0x1f && second == 0x8b ? new GZIPInputStream(buffered) : buffered;
  }

  private void execute(BuildStep step, int number, Command command) {
    try (Execution running = sandbox.start(command)) {
      OutputLineSplitter lines =
          new OutputLineSplitter(line -> log.info(line, Optional.of(number)));
      for (Optional<Output> part = running.read(); part.isPresent(); part = running.read()) {
        if (part.get() instanceof Output.Data data) {
          lines.add(data.bytes().toArray());
        }
      }
      lines.end();
      check(step, number, running.await(), lines.tail());
    }
  }

  /**
   * Throws if the command failed. A non-zero exit is an error of the client; a lost command is not.
   */
  private static void check(BuildStep step, int number, Exit exit, String tail) {
    if (exit.equals(new Exit.Exited(0))) {
      return;
    }
    if (exit instanceof Exit.Lost(String why)) {
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the sandbox of step " + number + " (" + step.text() + ") is gone: " + why,
              "build again")
          .exception();
    }
    String words =
        switch (exit) {
          case Exit.Exited(int code) -> "it ended with exit code " + code;
          case Exit.TimedOut(Duration after) -> "it took longer than " + after.toMinutes() + " min";
          case Exit.OutOfMemory _ -> "it ran out of memory";
          default -> "it ended with exit code " + exit.shellCode();
        };
    String end = tail.strip();
    throw failure(step, number, end.isEmpty() ? words : words + "; its output ends with: " + end)
        .with("exitCode", Integer.toString(exit.shellCode()))
        .with("output", tail)
        .exception();
  }

  private static Fault failure(BuildStep step, int number, String why) {
    return Fault.of(
            ErrorCode.BUILD_FAILED,
            "step " + number + " (" + step.text() + ") failed: " + why,
            "correct the step; the log contains its full output")
        .with("command", step.text());
  }
}
