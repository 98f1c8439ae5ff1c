package dev.isola.host.network;

import dev.isola.codec.time.Deadline;
import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The processes that carry the packets of one sandbox: slirp4netns, and a helper that waits for the
 * end of the agent. When the helper exits, the pipe between them closes and slirp4netns exits as
 * well, without any other process. Both carry the sandbox's environment variables.
 */
final class SlirpProcess {
  /** Denies slirp4netns access to host files, privileges and most system calls. */
  private static final String OPTIONS =
      "--disable-host-loopback --enable-sandbox --enable-seccomp --mtu=65520";

  /**
   * Runs everything in the background in a new session, so that the shell exits when slirp4netns is
   * ready (output 1) or has failed (no output). Each connection takes a descriptor, so their number
   * is limited.
   */
  private static final String START =
      """
      ulimit -n 4096
      exec 3>&1 >/dev/null 2>&1
      tail --pid="$1" -f /dev/null 3>&- | slirp4netns --exit-fd=0 --ready-fd=3 %s "$1" eth0 &
      """
          .formatted(OPTIONS);

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(1);
  private static final Path PROC = Path.of("/proc");

  private final Map<String, String> marks;

  SlirpProcess(InstanceId instance, SandboxId id) {
    this.marks =
        Map.of(
            "ISOLA_INSTANCE", instance.value(), "ISOLA_SANDBOX", id.value(), "ISOLA_PART", "relay");
  }

  void start(long pid) throws IOException {
    String target = Long.toString(pid);
    if (!tryStart(target)) {
      // Happens on busy hosts without an error message; a second attempt succeeds.
      stop();
      if (!tryStart(target)) {
        throw new IOException("slirp4netns did not start: " + startError(target));
      }
    }
  }

  private boolean tryStart(String target) throws IOException {
    NetworkProgram shell =
        NetworkProgram.of("sh", "-s", target)
            .startedBy(NetworkProgram.of("setsid"))
            .withEnvironment(marks);
    return shell.run(START).equals("1");
  }

  /** Starts it again to get the error message. */
  private static String startError(String target) {
    NetworkProgram again =
        NetworkProgram.of("slirp4netns").startedBy(NetworkProgram.of("timeout", "-s", "KILL", "2"));
    try {
      return again.run("", (OPTIONS + " " + target + " eth1").split(" "));
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /** Kills the processes; returns when they are gone. */
  void stop() throws IOException {
    if (!Deadline.in(TIMEOUT).awaitUninterruptibly(POLL_INTERVAL, this::killedAll)) {
      throw new IOException("slirp4netns processes do not exit: " + processes());
    }
  }

  /** Kills the processes that are left; returns whether there are none. */
  private boolean killedAll() throws IOException {
    List<AgentProcess> left = processes();
    left.forEach(AgentProcess::kill);
    return left.isEmpty();
  }

  List<AgentProcess> processes() throws IOException {
    List<AgentProcess> found = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[1-9]*")) {
      for (Path process : processes) {
        if (isMarked(process)) {
          long pid = Long.parseLong(process.getFileName().toString());
          AgentProcess.startTimeOf(pid)
              .ifPresent(start -> found.add(new AgentProcess(pid, start, false)));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return found;
  }

  private boolean isMarked(Path process) {
    try {
      String text = Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1);
      Set<String> variables = Set.of(text.split("\0"));
      return marks.entrySet().stream()
          .allMatch(mark -> variables.contains(mark.getKey() + "=" + mark.getValue()));
    } catch (IOException | IllegalArgumentException goneOrNotOurs) {
      return false;
    }
  }
}
