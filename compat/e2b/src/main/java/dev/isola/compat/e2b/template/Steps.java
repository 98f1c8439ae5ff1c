package dev.isola.compat.e2b.template;

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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Carries out the instructions of a template in a sandbox, one after the other. */
final class Steps {
  private static final Duration LONGEST = Duration.ofMinutes(30);

  /** How many characters of the output an error carries: the last ones. */
  private static final int TAIL = 2048;

  private static final TreeLimits UPLOAD = new TreeLimits(8L << 30, 1_000_000);
  private static final String COPY =
      """
      set -e
      shopt -s nullglob dotglob
      cd "$1"; src="${2#./}"; dest="$3"; owner="$4"; mode="$5"
      if [ -e "$src" ]; then found=("$src"); else found=($src); fi
      if [ -z "$src" ] || [ "$src" = . ]; then found=(.); fi
      [ ${#found[@]} -gt 0 ] || { echo "nothing is called $2 in the upload" >&2; exit 1; }
      put() { cp -a -T -- "$1" "$2"; chown -R -- "$owner" "$2"; \
        if [ -n "$mode" ]; then chmod -R -- "$mode" "$2"; fi; }
      for one in "${found[@]}"; do
        if [ -d "$one" ]; then mkdir -p -- "$dest"; put "$one" "$dest"
        elif [ ${#found[@]} -gt 1 ] || [ -d "$dest" ] || [ "${dest%/}" != "$dest" ]; then
          mkdir -p -- "$dest"; put "$one" "${dest%/}/$(basename -- "$one")"
        else mkdir -p -- "$(dirname -- "$dest")"; put "$one" "$dest"; fi
      done
      """;

  private final Sandbox sandbox;
  private final BuildLog log;
  private final Function<String, InputStream> uploads;
  private final Map<String, String> env = new LinkedHashMap<>();
  private String user = Template.USER;
  private String folder = Template.HOME;

  /**
   * @param uploads opens the archive of a hash
   */
  Steps(Sandbox sandbox, Template from, BuildLog log, Function<String, InputStream> uploads) {
    this.sandbox = sandbox;
    this.log = log;
    this.uploads = uploads;
    env.putAll(from.env());
    user = from.user();
    folder = from.folder();
  }

  Map<String, String> env() {
    return Map.copyOf(env);
  }

  String user() {
    return user;
  }

  String folder() {
    return folder;
  }

  void run(Step step, int number) {
    log.line("info", step.toString(), Optional.of(number));
    switch (step.type()) {
      case "RUN" -> shell(step.arg(0, "true"), step.arg(1, user), number);
      case "COPY" -> copy(step, number);
      case "ENV" -> {
        for (int i = 0; i + 1 < step.args().size(); i += 2) {
          env.put(step.args().get(i), step.args().get(i + 1));
        }
      }
      case "WORKDIR" -> {
        folder = absolute(step.arg(0, folder));
        root(
            number,
            "sh",
            "-c",
            "mkdir -p -- \"$1\" && chown -- \"$2\" \"$1\"",
            "workdir",
            folder,
            user);
      }
      case "USER" -> user = step.arg(0, user);
      default ->
          throw Fault.of(
                  ErrorCode.NOT_IMPLEMENTED,
                  "the instruction " + step.type() + " is not known",
                  "use RUN, COPY, ENV, WORKDIR and USER")
              .exception();
    }
  }

  private String absolute(String path) {
    return path.startsWith("/") ? path : folder + "/" + path;
  }

  void shell(String text, String as, int number) {
    follow(
        Command.argv("/bin/bash", "-l", "-c", text)
            .withUser(as)
            .withEnv(env)
            .withCwd(folder)
            .withTimeout(LONGEST),
        number);
  }

  private void root(int number, String program, String... args) {
    follow(Command.argv(program, args).withUser("root").withCwd("/").withTimeout(LONGEST), number);
  }

  private void copy(Step step, int number) {
    String hash =
        step.filesHash()
            .orElseThrow(() -> failure("a COPY came without files", "upload them first"));
    String place = "/tmp/isola-copy-" + number;
    try (InputStream upload = plain(uploads.apply(hash))) {
      sandbox.files().importTree(place, upload, UPLOAD);
    } catch (IOException e) {
      throw failure("the upload of a COPY cannot be read: " + e.getMessage(), "upload it again");
    }
    root(
        number,
        "/bin/bash",
        "-c",
        COPY,
        "copy",
        place,
        step.arg(0, "."),
        absolute(step.arg(1, ".")),
        step.arg(2, user),
        step.arg(3, ""));
    sandbox.files().remove(place, true);
  }

  /** Undoes gzip where there is some. */
  private static InputStream plain(InputStream in) throws IOException {
    BufferedInputStream buffered = new BufferedInputStream(in);
    buffered.mark(2);
    int first = buffered.read();
    int second = buffered.read();
    buffered.reset();
    return first == 0x1f && second == 0x8b ? new GZIPInputStream(buffered) : buffered;
  }

  private void follow(Command command, int number) {
    try (Execution running = sandbox.start(command)) {
      StringBuilder line = new StringBuilder();
      StringBuilder tail = new StringBuilder();
      for (Optional<Output> part = running.read(); part.isPresent(); part = running.read()) {
        if (part.get() instanceof Output.Data data) {
          String text = new String(data.bytes().toArray(), StandardCharsets.UTF_8);
          tail.append(text).delete(0, Math.max(0, tail.length() - TAIL));
          line.append(text);
          lines(line, number);
        }
      }
      if (!line.isEmpty()) {
        log.line("info", line.toString(), Optional.of(number));
      }
      check(command, running.await(), tail.toString());
    }
  }

  /** A command that fails is the client's; one whose end was not seen is not. */
  private static void check(Command command, Exit exit, String tail) {
    if (exit.equals(new Exit.Exited(0))) {
      return;
    }
    ErrorCode code = exit instanceof Exit.Lost ? ErrorCode.OUTCOME_UNKNOWN : ErrorCode.BUILD_FAILED;
    throw Fault.of(
            code,
            "'" + command.args().getLast() + "' ended with " + exit,
            "look at the lines before")
        .with("exitCode", Integer.toString(exit.shellCode()))
        .with("output", tail)
        .exception();
  }

  private void lines(StringBuilder text, int number) {
    for (int end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      log.line("info", text.substring(0, end), Optional.of(number));
      text.delete(0, end + 1);
    }
    if (text.length() > 4096) {
      log.line("info", text.toString(), Optional.of(number));
      text.setLength(0);
    }
  }

  private static SandboxException failure(String what, String remedy) {
    return Fault.of(ErrorCode.BUILD_FAILED, what, remedy).exception();
  }
}
