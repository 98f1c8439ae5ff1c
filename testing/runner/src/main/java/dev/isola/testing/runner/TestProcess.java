package dev.isola.testing.runner;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A process that runs test classes of one module, one after the other. */
final class TestProcess implements AutoCloseable {
  /** After this time a test class is hanging. Its process prints its threads and is ended. */
  private static final Duration LONGEST = Duration.ofMinutes(20);

  private static final ScheduledExecutorService TIMER =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());

  private final Process process;
  private final BufferedReader output;
  private final Writer log;

  private boolean ended;

  TestProcess(List<String> command, Path folder, Path log) throws IOException {
    this.process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.log = Files.newBufferedWriter(log);
  }

  /** Runs the class and returns the results of its tests; of a process that ended, one failure. */
  List<TestResult> run(String module, String suite) throws IOException {
    long start = System.nanoTime();
    List<TestResult> results = new ArrayList<>();
    ScheduledFuture<?> timeout =
        TIMER.schedule(this::abandon, LONGEST.toMillis(), TimeUnit.MILLISECONDS);
    log.write("=== " + suite + "\n");
    try {
      process.getOutputStream().write((suite + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (!line.startsWith(TestResult.MARK)) {
          log.write(line + "\n");
        } else if (line.equals(TestResult.MARK + "end")) {
          log.flush();
          return results;
        } else {
          String[] words = line.substring(1).split(" ");
          results.add(
              new TestResult(
                  module,
                  suite,
                  decode(words[2]),
                  TestResult.Outcome.valueOf(words[0]),
                  Long.parseLong(words[1]),
                  decode(words[3])));
        }
      }
    } catch (IOException e) {
      log.write("the process ended: " + e + "\n");
    } finally {
      timeout.cancel(false);
    }
    log.flush();
    ended = true;
    process.destroyForcibly();
    long millis = (System.nanoTime() - start) / 1_000_000;
    results.add(
        new TestResult(
            module,
            suite,
            "did not finish",
            TestResult.Outcome.FAILED,
            millis,
            "the process ended or was stopped after " + LONGEST.toMinutes() + " minutes"));
    return results;
  }

  /** A process that was ended takes a while to be gone on a busy machine. */
  boolean isAlive() {
    return !ended && process.isAlive();
  }

  /** Returns the processor time until now; 0 if the process has ended. */
  double processorSeconds() {
    return ProcessorTime.of(process.pid());
  }

  private static String decode(String word) {
    return new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
  }

  private void abandon() {
    try {
      // A JVM prints its threads and goes on.
      Commands.run(Path.of("."), List.of("kill", "-QUIT", Long.toString(process.pid())));
      process.waitFor(2, TimeUnit.SECONDS);
    } catch (IOException e) {
      // It has ended meanwhile.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    try (log) {
      process.getOutputStream().close(); // the end of its input ends it
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
  }

  /** Ends the process at once, and what it has started. */
  void destroy() {
    List<ProcessHandle> started = process.descendants().toList();
    process.destroyForcibly();
    started.forEach(ProcessHandle::destroyForcibly);
  }
}
