package dev.isola.app.documentation;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The shell of a page: variables, functions and background processes of a block are there for the
 * next one. It ends with the first command that fails.
 */
final class PageShell implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /**
   * Runs a block and reports it. A block with typed input has a terminal; the text is typed after
   * the prompt of a shell. Variables are exported for it.
   */
  private static final String PRELUDE =
      """
      set -aeuE -o pipefail
      trap 'failed $? "${BASH_SOURCE[0]-}:$LINENO" "$BASH_COMMAND"' ERR
      failed() {
        [ -e "$DOCS_WORK/failure" ] || echo "$2: exit code $1: $3" > "$DOCS_WORK/failure"
      }
      run_block() {
        . "$1" > "$2" 2>&1 < /dev/null
      }
      run_typed_block() {
        rm -f "$DOCS_WORK/keys" && mkfifo "$DOCS_WORK/keys"
        script -qefc "bash -eu $1" /dev/null > "$2" 2>&1 < "$DOCS_WORK/keys" &
        exec 9> "$DOCS_WORK/keys"
        until grep -q '[$#] ' "$2" || ! kill -0 $!; do sleep 0.1; done
        printf '%s\\r' "$3" >&9
        wait $!
        exec 9>&-
      }
      """;

  private final Path folder;
  private final Path work;
  private final Process bash;
  private final BufferedReader reports;
  private final Writer commands;

  /**
   * Starts the shell.
   *
   * @param folder current folder of the first block
   * @param work folder for scripts and output, outside of {@code folder}
   * @param environment variables to set; a variable with an empty value is removed
   */
  PageShell(Path folder, Path work, Map<String, String> environment) throws IOException {
    this.folder = folder;
    this.work = work;
    ProcessBuilder builder =
        new ProcessBuilder("bash", "--noprofile", "--norc")
            .directory(folder.toFile())
            .redirectError(work.resolve("shell-errors").toFile());
    Map<String, String> variables = builder.environment();
    List.copyOf(variables.keySet()).stream()
        .filter(name -> name.matches("(ISOLA|E2B|XDG|GIT)_.*|DOCKER_HOST|CONTAINER_HOST|BASH_ENV"))
        .forEach(variables::remove);
    variables.putAll(environment);
    variables.put("DOCS_WORK", work.toString());
    bash = builder.start();
    reports = bash.inputReader(UTF_8);
    commands = bash.outputWriter(UTF_8);
    commands.write(PRELUDE);
  }

  /** Current folder of the first block. */
  Path folder() {
    return folder;
  }

  /**
   * Runs a script and returns what it printed.
   *
   * @param line number of the line of the page before the first of the script, for messages
   * @throws AssertionError if a command fails, or the script takes too long
   */
  String run(FencedBlock block, int line, String script) {
    try {
      Path file = work.resolve("block-" + block.line() + ".sh");
      Files.writeString(file, "\n".repeat(line) + script);
      Path output = work.resolve("output-" + block.line());
      String call =
          block
              .marks()
              .typed()
              .map(text -> "run_typed_block '%s' '%s' '%s'".formatted(file, output, text))
              .orElse("run_block '%s' '%s'".formatted(file, output));
      if (!bash.isAlive()) {
        throw block.fault("the shell of the page has ended, see the blocks before");
      }
      commands.write(call + "\necho done\n");
      commands.flush();
      Optional<String> report = report(block);
      String text = Files.exists(output) ? Files.readString(output) : "";
      if (!report.equals(Optional.of("done"))) {
        close();
        throw block.fault(failure(file) + "\n" + text);
      }
      return text.replace("\r\n", "\n");
    } catch (IOException e) {
      throw block.fault("the shell of the page has ended: " + e.getMessage());
    }
  }

  /** Returns the next line that the shell prints, empty if it has ended. */
  private Optional<String> report(FencedBlock block) throws IOException {
    FutureTask<Optional<String>> line =
        new FutureTask<>(() -> Optional.ofNullable(reports.readLine()));
    Thread.ofVirtual().start(line);
    try {
      return line.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      close();
      throw block.fault("the block did not end within " + TIMEOUT);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Describes the failed command, with its line in the page. */
  private String failure(Path file) throws IOException {
    Path failure = work.resolve("failure");
    String text = Files.exists(failure) ? Files.readString(failure).strip() : "";
    if (text.isEmpty()) {
      text = Files.readString(work.resolve("shell-errors")).strip();
    }
    return "a command failed: " + text.replace(file.toString(), "line ").replace("line :", "line ");
  }

  @Override
  public void close() {
    List<ProcessHandle> children = bash.descendants().toList();
    children.forEach(ProcessHandle::destroy);
    children.forEach(
        child ->
            child
                .onExit()
                .completeOnTimeout(child, 10, TimeUnit.SECONDS)
                .thenAccept(ProcessHandle::destroyForcibly)
                .join());
    bash.destroyForcibly().onExit().join();
  }
}
