package dev.isola.provider.microvm.qemu;

import dev.isola.codec.proc.ProcessStat;
import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.HostProgram;
import dev.isola.link.local.ProcessFolders;
import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Machines that are not sandboxes: a template being booted, the trial of KVM. Each has a folder
 * named after the server process that uses it, so that the next one ends it if that process was
 * killed. A machine also ends by itself after two minutes.
 */
final class TemporaryMachines {
  private static final Path PROC = Path.of("/proc");
  private static final String LIFETIME_SECONDS = "120";

  private final ProcessFolders folders;

  /**
   * @param folder where they are; need not exist
   */
  TemporaryMachines(Path folder) {
    this.folders = new ProcessFolders(folder);
  }

  /** Creates the folder of a machine. */
  Folder newFolder() throws IOException {
    removeAbandoned();
    return new Folder(folders.create());
  }

  /** Ends the machines of server processes that are gone. */
  void removeAbandoned() throws IOException {
    for (Path abandoned : folders.abandoned()) {
      new Folder(abandoned).close();
    }
  }

  /** The folder of a machine, which ends when the folder is closed. */
  static final class Folder implements AutoCloseable {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(2);
    private static final int MAX_MESSAGE = 1000;

    private final Path path;
    private @Nullable Process process;

    private Folder(Path path) {
      this.path = path;
    }

    Path file(String name) {
      return path.resolve(name);
    }

    /** Returns the port of the agent. */
    QemuPort port() {
      return new QemuPort(controlSocket(), path, UnaryOperator.identity(), OptionalLong.empty());
    }

    Path controlSocket() {
      return path.resolve("control");
    }

    Path stateSocket() {
      return path.resolve("state");
    }

    /** Starts QEMU and waits until it listens. */
    void start(List<String> words, Duration timeout) throws IOException {
      HostProgram limiter =
          HostProgram.find("timeout")
              .orElseThrow(() -> new IOException("timeout is not installed (coreutils)"));
      List<String> limited =
          new ArrayList<>(List.of(limiter.path().toString(), "--signal=KILL", LIFETIME_SECONDS));
      limited.addAll(words);
      Path messages = path.resolve("messages");
      ProcessBuilder builder = new ProcessBuilder(limited).redirectErrorStream(true);
      builder.redirectInput(Path.of("/dev/null").toFile());
      builder.redirectOutput(messages.toFile());
      builder.environment().clear();
      Process started = builder.start();
      process = started;
      Deadline deadline = Deadline.in(timeout);
      while (!Files.exists(controlSocket())) {
        if (!started.isAlive()) {
          String text = Files.readString(messages, StandardCharsets.UTF_8).strip();
          throw new IOException(
              "QEMU did not start: " + text.substring(0, Math.min(text.length(), MAX_MESSAGE)));
        }
        if (!deadline.pause(POLL_INTERVAL)) {
          throw new IOException("QEMU did not start within " + timeout.toMillis() + " ms");
        }
      }
    }

    /** Waits for the end of QEMU. */
    void awaitEnd(Duration timeout) throws IOException {
      Process running = process;
      try {
        if (running != null && !running.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IOException("QEMU did not end within " + timeout.toMillis() + " ms");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while QEMU ended", e);
      }
    }

    @Override
    public void close() throws IOException {
      Process running = process;
      if (running != null) {
        running.descendants().forEach(ProcessHandle::destroyForcibly);
        running.destroyForcibly();
      }
      killUsers();
      TreeRemoval.remove(path);
    }

    /** Kills the QEMU that has this folder on its command line. */
    private void killUsers() throws IOException {
      String mark = "unix:" + controlSocket();
      try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
        for (Path found : processes) {
          if (commandLine(found).contains(mark) && ProcessStat.read(found).isPresent()) {
            ProcessHandle.of(Long.parseLong(found.getFileName().toString()))
                .filter(handle -> commandLine(found).contains(mark))
                .ifPresent(ProcessHandle::destroyForcibly);
          }
        }
      }
    }

    private static String commandLine(Path process) {
      try {
        return Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      } catch (IOException gone) {
        return "";
      }
    }
  }
}
