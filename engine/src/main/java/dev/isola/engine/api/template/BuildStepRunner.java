package dev.isola.engine.api.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.engine.api.Startup;
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
  private static final String WHOAMI = "whoami";
  private static final Duration CHECK = Duration.ofSeconds(30);

  /** The number of characters of a command that an error includes. */
  private static final int LONGEST_COMMAND = 1000;

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
  private final BuildEnvironment environment;

  /**
   * @param environment what earlier steps and the base have set
   * @param uploads opens the archive with a given SHA-256
   */
  BuildStepRunner(
      Sandbox sandbox,
      BuildEnvironment environment,
      BuildLogWriter log,
      Function<String, InputStream> uploads) {
    this.sandbox = sandbox;
    this.log = log;
    this.uploads = uploads;
    this.environment = environment;
  }

  /** Applies a step whose files are cached. */
  void skip(BuildStep step, int number) {
    log.info("CACHED " + step.text(), Optional.of(number));
    environment.apply(step);
  }

  /**
   * Executes a step.
   *
   * @throws SandboxException with {@code BUILD_FAILED} if the step itself fails
   */
  void run(BuildStep step, int number) {
    log.info(step.text(), Optional.of(number));
    environment.apply(step);
    switch (step) {
      case BuildStep.Run run -> shell(run, number);
      case BuildStep.Copy copy -> copy(copy, number);
      case BuildStep.Workdir _ ->
          asRoot(
              step,
              number,
              "mkdir -p -- \"$1\" && chown -- \"$2\" \"$1\"",
              List.of(environment.cwd(), currentUser()),
              Map.of());
      case BuildStep.Packages packages ->
          asRoot(
              step,
              number,
              InstallScripts.of(packages.installer()),
              packages.names(),
              environment.env());
      case BuildStep.User next -> checkUser(next.name());
      case BuildStep.Env _ -> {}
    }
  }

  /** Returns whether a step changes files. */
  static boolean changesFiles(BuildStep step) {
    return !(step instanceof BuildStep.Env || step instanceof BuildStep.User);
  }

  private void shell(BuildStep.Run run, int number) {
    String as = run.user().filter(name -> !name.isEmpty()).orElseGet(this::currentUser);
    execute(
        run,
        number,
        Command.argv("/bin/sh", "-c", Startup.SHELL, "run", path() + run.command())
            .withUser(as)
            .withEnv(environment.env())
            .withCwd(environment.cwd().isEmpty() ? "/" : environment.cwd())
            .withTimeout(LONGEST));
  }

  private String currentUser() {
    return environment.user().isEmpty() ? ROOT : environment.user();
  }

  /**
   * Checks that a user exists in the sandbox, by a command that needs nothing else of it.
   *
   * @throws SandboxException with {@code BUILD_FAILED} if there is no such user
   */
  private void checkUser(String name) {
    try (Execution running =
        sandbox.start(Command.argv(WHOAMI).withUser(name).withCwd("/").withTimeout(CHECK))) {
      Exit _ = running.await();
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.USER_NOT_FOUND) {
        throw unknownUser(name).exception(e);
      }
      if (e.code() != ErrorCode.COMMAND_NOT_FOUND) {
        throw e;
      }
    }
  }

  /** Returns the error for an unknown user, in the words that E2B's clients expect. */
  private static Fault unknownUser(String name) {
    return Fault.of(
        ErrorCode.BUILD_FAILED,
        "failed to run command '"
            + WHOAMI
            + "': command failed: unauthenticated: invalid username: '"
            + shortened(name)
            + "'",
        "use a user of the image, or create it in an earlier step");
  }

  /** A login shell sets PATH anew; the one that a step or the base has set takes precedence. */
  private String path() {
    String path = environment.env().getOrDefault("PATH", "");
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
    String owner = copy.owner().filter(name -> !name.isEmpty()).orElseGet(this::currentUser);
    checkUser(owner.replaceFirst(":.*$", ""));
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
            environment.absolute(copy.destination()),
            owner,
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
    try (Execution running = start(step, number, command)) {
      OutputLineSplitter lines =
          new OutputLineSplitter(line -> log.info(line, Optional.of(number)));
      Exit exit =
          running.follow(
              piece -> {
                if (piece instanceof Output.Data data) {
                  lines.add(data.bytes());
                }
              });
      lines.end();
      check(step, number, exit, lines.tail());
    }
  }

  private Execution start(BuildStep step, int number, Command command) {
    try {
      return sandbox.start(command);
    } catch (SandboxException e) {
      switch (e.code()) {
        case USER_NOT_FOUND -> throw unknownUser(command.user().orElse("")).exception(e);
        case COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE, FILE_NOT_FOUND, NOT_A_FOLDER ->
            throw failure(step, number, e.fault().problem()).exception(e);
        default -> throw e;
      }
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
              "the sandbox of step " + number + " (" + shortened(step.text()) + ") is gone: " + why,
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
            "step " + number + " (" + shortened(step.text()) + ") failed: " + why,
            "correct the step; the log contains its full output")
        .with("command", step.text());
  }

  /** Shortens a text, so that the rest of an error is not cut off. */
  private static String shortened(String text) {
    return text.length() > LONGEST_COMMAND ? text.substring(0, LONGEST_COMMAND) + "..." : text;
  }
}
